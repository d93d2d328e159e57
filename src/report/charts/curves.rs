//! Charts of a measure of a study along one of its axes.

use super::legend::{Entry, Swatch};
use super::numbers::cell;
use super::plot::{Plot, label_space};
use super::rows::RowsChart;
use super::sheet::UNIT;
use super::{Axis, Chart, Ink, Numbers, Paint};

/// A point of a curve.
#[derive(Clone, Debug, PartialEq)]
pub struct CurvePoint {
    /// Position on the axis.
    pub x: f64,
    /// The mean of the runs; `None` if there is no meaningful mean.
    pub mean: Option<f64>,
    /// The confidence interval of the mean, with two runs or more.
    pub interval: Option<(f64, f64)>,
    /// If there is no mean: the values of the stable runs. They are among the [numbers](Chart::numbers) and not drawn.
    pub single: Vec<f64>,
    /// The values of unstable runs (their backlog grows), which are not drawn either.
    pub unstable: Vec<f64>,
    /// Tooltip of the point.
    pub title: String,
}

/// A curve.
#[derive(Clone, Debug, PartialEq)]
pub struct Curve {
    /// Name in the legend.
    pub name: String,
    /// Colour, dashes and marks of the curve.
    pub ink: Ink,
    /// The points in order of the axis.
    pub points: Vec<CurvePoint>,
    /// Whether the curve has no position on the axis: the mean of its only point is then a line across the whole width.
    pub level: bool,
}

/// Curves with confidence bands.
#[derive(Clone, Debug, PartialEq)]
pub struct CurvesChart {
    /// Title of the chart.
    pub title: String,
    /// The axis of the study.
    pub x: Axis,
    /// The axis of the measure.
    pub y: Axis,
    /// The curves.
    pub curves: Vec<Curve>,
    /// Whether the positions have no order, so that no line joins the points.
    pub apart: bool,
    /// Width and height, in pixels.
    pub size: (u32, u32),
}

/// Height of the strip above the plot for points without a mean, in pixels.
const ASIDE: i32 = 18;

/// What a point without a mean is, in the legend.
const NO_MEAN: &str = "aside: no mean (unstable or failed runs)";

/// The numbers of curves: a row for each point, at a place that `place` names.
pub(super) fn numbers(
    along: &str,
    measure: &str,
    curves: &[Curve],
    place: impl Fn(f64) -> String,
) -> Numbers {
    let (low, high) = (format!("{measure}, low"), format!("{measure}, high"));
    let heads = ["series", along, measure, &low, &high, "stable runs without a mean", "unstable runs"];
    let mut numbers = Numbers::new(heads);
    let list = |values: &[f64]| values.iter().map(|value| cell(*value)).collect::<Vec<_>>().join(" ");
    for (curve, point) in curves.iter().flat_map(|curve| curve.points.iter().map(move |point| (curve, point)))
    {
        let (low, high) = point.interval.unzip();
        let place = if curve.level { String::new() } else { place(point.x) };
        let mut row = vec![curve.name.clone(), place];
        row.extend([point.mean, low, high].map(cell));
        row.extend([list(&point.single), list(&point.unstable)]);
        numbers.rows.push(row);
    }
    numbers
}

impl Chart for CurvesChart {
    fn svg(&self, paint: Paint) -> String {
        let size = paint.size(self.size);
        let width = size.0 as i32 - label_space(&self.y) - 22;
        if self.apart && !(Plot::has_room(&self.x, width) && self.fits(width)) {
            return self.rows().svg(paint);
        }
        // A single curve needs no legend beside the title of the axis.
        let named = self.curves.iter().filter(|_| self.curves.len() != 1);
        let mut entries: Vec<Entry> = named.map(|curve| self.entry(curve)).collect();
        let placed = || self.curves.iter().filter(|curve| !curve.level);
        let aside = placed().flat_map(|curve| &curve.points).any(|point| point.mean.is_none());
        if aside {
            entries.push((NO_MEAN.to_owned(), Ink::Muted, Swatch::Hollow));
        }
        let strip = if aside { ASIDE } else { 0 };
        let heading = (self.title.as_str(), size, paint);
        let (sheet, plot) = Plot::under_legend(heading, (&self.x, &self.y), &entries, (false, true), strip);
        // Level lines are drawn below the curves.
        for curve in self.curves.iter().filter(|curve| curve.level) {
            self.level(&plot, curve);
        }
        let count = placed().count() as f64;
        for (number, curve) in placed().enumerate() {
            // Positions without an order leave space to draw the points of several curves beside each other.
            let place = number as f64 - (count - 1.0) / 2.0;
            self.curve(&plot, curve, if self.apart { place * (0.7 / count).min(0.12) } else { 0.0 });
        }
        self.aside(&plot);
        if self.curves.iter().flat_map(|curve| &curve.points).all(|point| point.mean.is_none()) {
            plot.note("there is no mean to show");
        }
        sheet.finish()
    }

    fn numbers(&self) -> Numbers {
        numbers(&self.x.data, &self.y.data, &self.curves, |x| self.x.label(x))
    }
}

impl CurvesChart {
    /// Whether the points of all curves fit beside each other at each position, on a width in pixels.
    fn fits(&self, width: i32) -> bool {
        let slot = width / self.x.ticks.len().max(1) as i32;
        slot >= 8 * self.curves.len() as i32
    }

    /// The same points with a row for each position.
    fn rows(&self) -> RowsChart {
        RowsChart {
            title: self.title.clone(),
            of: self.x.title.clone(),
            rows: self.x.ticks.iter().map(|(_, name)| name.clone()).collect(),
            x: self.y.clone(),
            series: self.curves.clone(),
            zero: None,
            aside: NO_MEAN.to_owned(),
            width: self.size.0,
        }
    }

    fn entry(&self, curve: &Curve) -> Entry {
        if !curve.level {
            let swatch = if self.apart { Swatch::Mark } else { Swatch::Joined };
            return (curve.name.clone(), curve.ink, swatch);
        }
        // A level line without a mean is not drawn: unstable runs have values, but no level.
        let none = curve.points.iter().any(|point| point.mean.is_none());
        let name = if none { format!("{} (no mean)", curve.name) } else { curve.name.clone() };
        (name, curve.ink, Swatch::Line)
    }

    fn level(&self, plot: &Plot, curve: &Curve) {
        let (from, to) = (self.x.from, self.x.to);
        for point in &curve.points {
            if let Some((low, high)) = point.interval {
                plot.polygon(&[(from, low), (to, low), (to, high), (from, high)], curve.ink, 0.08);
            }
            if let Some(mean) = point.mean {
                plot.line(&[(from, mean), (to, mean)], curve.ink, 1.8, curve.ink.dash());
            }
        }
    }

    fn curve(&self, plot: &Plot, curve: &Curve, beside: f64) {
        let whisker = |point: &CurvePoint| {
            if let Some((low, high)) = point.interval {
                let x = point.x + beside;
                plot.line(&[(x, low), (x, high)], curve.ink, 1.4, None);
            }
        };
        // A curve has a gap where there is no mean.
        for stretch in curve.points.split(|point| point.mean.is_none()) {
            // Points that nothing joins have a line for the interval instead of a band.
            if self.apart || stretch.len() == 1 {
                stretch.iter().for_each(whisker);
                continue;
            }
            let band = |side: fn((f64, f64)) -> f64| {
                stretch.iter().filter_map(move |point| Some((point.x, side(point.interval?))))
            };
            let mut shape: Vec<_> = band(|interval| interval.0).collect();
            shape.extend(band(|interval| interval.1).rev());
            plot.polygon(&shape, curve.ink, 0.14);
            let line: Vec<_> = stretch.iter().filter_map(|point| Some((point.x, point.mean?))).collect();
            plot.line(&line, curve.ink, 1.8, curve.ink.dash());
        }
        for point in &curve.points {
            if let Some(mean) = point.mean {
                plot.mark((point.x + beside, mean), curve.ink, 4.0, false, &point.title);
            }
        }
    }

    /// Draws a mark above the plot for each point without a mean; those of one position are beside each other.
    fn aside(&self, plot: &Plot) {
        let (left, top, right, _) = plot.bounds();
        let mut positions: Vec<(f64, Vec<(Ink, &CurvePoint)>)> = Vec::new();
        for curve in self.curves.iter().filter(|curve| !curve.level) {
            for point in curve.points.iter().filter(|point| point.mean.is_none()) {
                match positions.iter_mut().find(|(x, _)| *x == point.x) {
                    Some((_, marks)) => marks.push((curve.ink, point)),
                    None => positions.push((point.x, vec![(curve.ink, point)])),
                }
            }
        }
        // As close as neighbouring positions make necessary.
        let slot = (right - left) / positions.len().max(1) as i32;
        for (x, marks) in positions {
            let step = (slot / marks.len() as i32).min(9 * UNIT);
            let width = step * (marks.len() as i32 - 1);
            let first = (plot.at(x, self.y.to).0 - width / 2).clamp(left, (right - width).max(left));
            for (number, (ink, point)) in (0..).zip(marks) {
                let at = (first + number * step, top - ASIDE * UNIT / 2);
                plot.mark_at(at, ink, 3.4, true, &point.title);
            }
        }
    }
}
