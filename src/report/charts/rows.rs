//! Values with their intervals, a row for each name: for names that are long or many, and for differences.

use super::curves::{Curve, CurvePoint};
use super::legend::{Entry, Swatch};
use super::plot::{Frame, Plot, SMALL};
use super::sheet::{Anchor, Sheet, UNIT, fitted, polyline, text_width};
use super::{Axis, Chart, Ink, Numbers, Paint, legend};

/// Height of a row of one series, and of each further series in it, in pixels.
const ROW: i32 = 24;
const LANE: i32 = 12;
/// Width of the column at the right for points without a mean, in pixels.
const ASIDE: i32 = 20;
/// Height of the line of words above the plot, in pixels.
const WORDS: i32 = 16;

/// Rows of values over one axis.
#[derive(Clone, Debug, PartialEq)]
pub struct RowsChart {
    /// Title of the chart.
    pub title: String,
    /// What the rows are: the names of the axis of a study.
    pub of: String,
    /// Names of the rows, from the top.
    pub rows: Vec<String>,
    /// The axis of the values.
    pub x: Axis,
    /// The series; the `x` of a point is the number of its row.
    pub series: Vec<Curve>,
    /// Words on the left and on the right of zero, if zero has a meaning; a line marks it.
    pub zero: Option<(String, String)>,
    /// What a point without a mean is, in the legend.
    pub aside: String,
    /// Width, in pixels; the height follows from the rows.
    pub width: u32,
}

impl Chart for RowsChart {
    fn svg(&self, paint: Paint) -> String {
        let wide = paint.width(self.width) as i32;
        // Names take at most two fifths of the width.
        let room = wide * 2 / 5;
        let names: Vec<String> =
            self.rows.iter().map(|name| fitted(name, SMALL, room * UNIT).unwrap_or_default()).collect();
        let widest = names.iter().map(|name| text_width(name, SMALL) / UNIT).max().unwrap_or(0);
        let labels = widest + if self.of.is_empty() { 14 } else { 34 };
        let entries = self.entries();
        let left = labels.min(60);
        let beyond = self.points().any(|(_, point)| point.mean.is_none());
        let words = if self.zero.is_some() { WORDS } else { 0 };
        let top = legend::height(&entries, wide - left - 16) + 6 + words;
        let row = ROW + LANE * (self.series.len() as i32 - 1).max(0);
        let height = row * self.rows.len().max(1) as i32 + 40;
        let sheet = Sheet::new(wide as u32, (top + height + 4) as u32, paint, &self.title);
        legend::draw(&sheet, &entries, left, 2, wide - left - 16);
        let ticks = (0..).map(f64::from).zip(names.into_iter().rev()).collect();
        let y = Axis::titled(&*self.of, -0.5, self.rows.len().max(1) as f64 - 0.5, ticks, false);
        let width = wide - 22 - if beyond { ASIDE } else { 0 };
        let frame = Frame { top, width, height, labels, x_labels: true, mesh: (true, false) };
        let plot = Plot::draw(&sheet, frame, &self.x, &y);
        self.between(&plot);
        if let Some(words) = &self.zero {
            self.zero(&plot, words);
        }
        let count = self.series.len() as f64;
        for (number, series) in self.series.iter().enumerate() {
            let lane = (number as f64 - (count - 1.0) / 2.0) * f64::from(LANE) / f64::from(row);
            for point in &series.points {
                self.point(&plot, series.ink, point, (self.rows.len() - 1) as f64 - point.x - lane);
            }
        }
        if self.points().all(|(_, point)| point.mean.is_none()) {
            plot.note("there is nothing to show");
        }
        sheet.finish()
    }

    fn numbers(&self) -> Numbers {
        super::curves::numbers(&self.of, &self.x.data, &self.series, |row| {
            self.rows.get(row as usize).cloned().unwrap_or_default()
        })
    }
}

impl RowsChart {
    fn points(&self) -> impl Iterator<Item = (&Curve, &CurvePoint)> {
        self.series.iter().flat_map(|series| series.points.iter().map(move |point| (series, point)))
    }

    fn entries(&self) -> Vec<Entry> {
        let named = self.series.iter().filter(|series| self.series.len() > 1 && !series.points.is_empty());
        let mut entries: Vec<Entry> =
            named.map(|series| (series.name.clone(), series.ink, Swatch::Mark)).collect();
        if self.points().any(|(_, point)| point.mean.is_none()) {
            entries.push((self.aside.clone(), Ink::Muted, Swatch::Hollow));
        }
        entries
    }

    /// Draws thin lines between rows of several series.
    fn between(&self, plot: &Plot) {
        if self.series.len() > 1 {
            for row in 1..self.rows.len() {
                let y = row as f64 - 0.5;
                plot.line(&[(self.x.from, y), (self.x.to, y)], Ink::Mesh, 1.0, None);
            }
        }
    }

    /// Draws the line of zero, and the words on both sides of it where there is room.
    fn zero(&self, plot: &Plot, (less, more): &(String, String)) {
        let (left, top, right, bottom) = plot.bounds();
        if self.x.from > 0.0 || self.x.to < 0.0 {
            return;
        }
        let (zero, _) = plot.at(0.0, 0.0);
        let sheet = plot.sheet();
        sheet.stroke(&polyline([(zero, top), (zero, bottom)]), Ink::Text, 1.0, 1.4);
        let y = top - 5 * UNIT;
        for (text, x, anchor, room) in [
            (format!("← {less}"), zero - 6 * UNIT, Anchor::End, zero - left + 40 * UNIT),
            (format!("{more} →"), zero + 6 * UNIT, Anchor::Start, right - zero),
        ] {
            if text.chars().count() > 2 && text_width(&text, SMALL) <= room {
                sheet.text(&text, (x, y), SMALL, Ink::Muted, anchor, false);
            }
        }
    }

    fn point(&self, plot: &Plot, ink: Ink, point: &CurvePoint, y: f64) {
        let Some(mean) = point.mean else {
            let (_, _, right, _) = plot.bounds();
            let place = (right + ASIDE * UNIT * 2 / 3, plot.at(self.x.from, y).1);
            plot.mark_at(place, ink, 4.0, true, &point.title);
            return;
        };
        if let Some((low, high)) = point.interval {
            plot.line(&[(low, y), (high, y)], ink, 1.6, None);
            let sheet = plot.sheet();
            for end in [low, high].into_iter().filter(|end| (self.x.from..=self.x.to).contains(end)) {
                let (x, y) = plot.at(end, y);
                sheet.stroke(&polyline([(x, y - 3 * UNIT), (x, y + 3 * UNIT)]), ink, 1.0, 1.6);
            }
        }
        plot.mark((mean, y), ink, 4.0, false, &point.title);
    }
}
