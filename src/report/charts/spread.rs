//! Spreads of values, a row each, with a reference value in each row.

use super::legend::{Entry, Swatch};
use super::marks::Shape;
use super::numbers::cell;
use super::plot::{NORMAL, Plot, SMALL};
use super::sheet::{Anchor, UNIT, fitted, polyline, rectangle};
use super::{Axis, Chart, Ink, Numbers, Paint};

/// Height of a row, in pixels.
const ROW: u32 = 40;
/// Height of everything but the rows (the axis, its title and margins), in pixels.
const AROUND: u32 = 60;
/// Half the height of a box (`BOX`), and the distance of single values below the middle of a row (`STRIP`), in pixels.
const BOX: i32 = 7;
const STRIP: i32 = 14;
/// Maximum width of the name of a row, in pixels.
const NAME: i32 = 300;
/// Diameter of the dot of a value, in pixels.
const DOT: f64 = 2.8;
/// Maximum number of values in a row that are drawn as dots.
const DOTS: usize = 400;

/// A row of the chart.
#[derive(Clone, Debug, PartialEq)]
pub struct SpreadRow {
    /// Name of the row.
    pub name: String,
    /// The values, in any order.
    pub values: Vec<f64>,
    /// The reference value to compare the values with.
    pub mark: Option<f64>,
    /// Text that replaces the values if there are none.
    pub note: String,
    /// Tooltip of the box.
    pub title: String,
}

/// The quantiles that a box and its whiskers show.
#[derive(Copy, Clone, Debug, PartialEq)]
pub struct Spread {
    /// The 2.5th percentile.
    pub low: f64,
    /// The lower quartile.
    pub lower: f64,
    /// The median.
    pub median: f64,
    /// The upper quartile.
    pub upper: f64,
    /// The 97.5th percentile.
    pub high: f64,
}

impl Spread {
    /// The quantiles of some values; each is one of the values (nearest rank). `None` if there are no values.
    pub fn of(values: &[f64]) -> Option<Self> {
        let mut sorted: Vec<f64> = values.iter().copied().filter(|value| value.is_finite()).collect();
        sorted.sort_by(f64::total_cmp);
        let last = sorted.len().checked_sub(1)?;
        let at = |share: f64| sorted[libm::round(share * last as f64) as usize];
        Some(Self { low: at(0.025), lower: at(0.25), median: at(0.5), upper: at(0.75), high: at(0.975) })
    }
}

/// Rows of spreads over one axis.
#[derive(Clone, Debug, PartialEq)]
pub struct SpreadChart {
    /// Title of the chart.
    pub title: String,
    /// The axis of the values.
    pub x: Axis,
    /// The rows, from the top.
    pub rows: Vec<SpreadRow>,
    /// Name of a single value in the legend, such as `seed`, in the singular.
    pub value: String,
    /// Name of the reference value in the legend.
    pub mark: String,
    /// Width in pixels; the height follows from the rows.
    pub width: u32,
}

impl Chart for SpreadChart {
    fn svg(&self, paint: Paint) -> String {
        let width = paint.width(self.width);
        let room = NAME.min(width as i32 * 2 / 5);
        let name = |row: &SpreadRow| fitted(&row.name, SMALL, room * UNIT).unwrap_or_default();
        let places = Axis::places("", self.rows.iter().rev().map(name));
        // The axis needs space for the dots of the last row.
        let y = Axis { from: places.from - 0.15, ..places };
        let height = AROUND + ROW * self.rows.len().max(1) as u32;
        let heading = (self.title.as_str(), (width, height), paint);
        let entries = self.entries();
        let (sheet, plot) = Plot::under_legend(heading, (&self.x, &y), &entries, (true, false), 0);
        if self.x.from < 0.0 && self.x.to > 0.0 {
            plot.line(&[(0.0, y.from), (0.0, y.to)], Ink::Muted, 1.4, None);
        }
        for (from_top, row) in self.rows.iter().enumerate() {
            let place = (self.rows.len() - 1 - from_top) as f64;
            let at = |value: f64| plot.at(value, place);
            if let Some(spread) = Spread::of(&row.values) {
                let line = |data: &str, width: f64| sheet.stroke(data, Ink::Series(0), 1.0, width);
                let (left, middle) = at(spread.low);
                let (from, to, right) = (at(spread.lower).0, at(spread.upper).0, at(spread.high).0);
                let box_ = BOX * UNIT;
                for (end, side) in [(left, from), (right, to)] {
                    line(&polyline([(end, middle), (side, middle)]), 1.6);
                    line(&polyline([(end, middle - box_ / 2), (end, middle + box_ / 2)]), 1.6);
                }
                let mut data = String::new();
                rectangle(&mut data, from, middle - box_, (to - from).max(UNIT), 2 * box_);
                sheet.fill(&data, Ink::Paper, 1.0, None);
                sheet.fill(&data, Ink::Series(0), 0.3, Some(&row.title));
                line(&data, 1.2);
                let median = at(spread.median).0;
                line(&polyline([(median, middle - box_), (median, middle + box_)]), 2.6);
                if row.values.len() <= DOTS {
                    // An evenly distributed pattern, so that close values do not hide each other.
                    let aside = |number: usize| (STRIP + number as i32 * 5 % 7 - 3) * UNIT;
                    let dot = |(number, value): (usize, &f64)| (at(*value).0, middle + aside(number));
                    sheet.dots(row.values.iter().enumerate().map(dot), Ink::Muted, 0.6, DOT);
                }
            } else {
                // The note is below the mark, which may be at any x position.
                let (left, _, right, _) = plot.bounds();
                let place = ((left + right) / 2, at(self.x.from).1 + (STRIP + 6) * UNIT);
                let note = fitted(&row.note, NORMAL, right - left - 40 * UNIT).unwrap_or_default();
                sheet.text(&note, place, NORMAL, Ink::Muted, Anchor::Middle, false);
            }
            if let Some(mark) = row.mark {
                let centre = at(mark);
                sheet.shape(centre, 7 * UNIT, Ink::Paper, Shape::Diamond, true, None);
                sheet.shape(centre, 5 * UNIT, Ink::Series(1), Shape::Diamond, true, None);
            }
        }
        if self.rows.is_empty() {
            plot.note("there is nothing to show");
        }
        sheet.finish()
    }

    fn numbers(&self) -> Numbers {
        let mut numbers = Numbers::new(["row", "what", &self.x.data]);
        for row in &self.rows {
            let marked = row.mark.map(|mark| (self.mark.as_str(), mark));
            let values = row.values.iter().map(|value| (self.value.as_str(), *value));
            let line = |(what, value): (&str, f64)| vec![row.name.clone(), what.to_owned(), cell(value)];
            numbers.rows.extend(marked.into_iter().chain(values).map(line));
        }
        numbers
    }
}

impl SpreadChart {
    fn entries(&self) -> Vec<Entry> {
        let mut entries: Vec<Entry> = Vec::new();
        if self.rows.iter().any(|row| row.mark.is_some()) {
            entries.push((self.mark.clone(), Ink::Series(1), Swatch::Diamond));
        }
        if self.rows.iter().any(|row| !row.values.is_empty()) {
            let value = &self.value;
            entries.push((format!("half of the {value}s, and the median"), Ink::Series(0), Swatch::Spread));
            entries.push((format!("95 of 100 {value}s"), Ink::Series(0), Swatch::Line));
        }
        if self.rows.iter().any(|row| (1..=DOTS).contains(&row.values.len())) {
            entries.push((format!("one {}", self.value), Ink::Muted, Swatch::Point));
        }
        entries
    }
}
