//! Charts of a measure of a study along one of its axes.

use super::legend::{Entry, Swatch};
use super::plot::Plot;
use super::sheet::Dash;
use super::{Axis, Chart, Ink, Paint};

/// A point of a curve.
#[derive(Clone, Debug, PartialEq)]
pub struct CurvePoint {
    /// Position on the axis.
    pub x: f64,
    /// The mean of the runs; `None` if there is no meaningful mean.
    pub mean: Option<f64>,
    /// The confidence interval of the mean, with two runs or more.
    pub interval: Option<(f64, f64)>,
    /// If there is no mean: the values of the stable runs.
    pub single: Vec<f64>,
    /// The values of unstable runs (their backlog grows).
    pub hollow: Vec<f64>,
    /// Tooltip of the point.
    pub title: String,
}

/// A curve.
#[derive(Clone, Debug, PartialEq)]
pub struct Curve {
    /// Name in the legend.
    pub name: String,
    /// Colour of the curve.
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

impl Chart for CurvesChart {
    fn svg(&self, paint: Paint) -> String {
        let mut levels = 0..;
        let dashes: Vec<Option<Dash>> = self
            .curves
            .iter()
            .map(|curve| if curve.level { levels.next().map(Dash::numbered) } else { None })
            .collect();
        let curves = || self.curves.iter().zip(&dashes);
        // A single curve needs no legend beside the title of the axis.
        let named = curves().filter(|_| self.curves.len() != 1);
        let mut entries: Vec<Entry> = named.map(|(curve, dash)| self.entry(curve, *dash)).collect();
        let points = || self.curves.iter().flat_map(|curve| &curve.points);
        if points().any(|point| !point.hollow.is_empty()) {
            entries.push(("an unstable run".to_owned(), Ink::Muted, Swatch::Hollow));
        }
        let (sheet, plot) =
            Plot::under_legend((&self.title, self.size, paint), (&self.x, &self.y), &entries, (false, true));
        // Level lines are drawn below the curves.
        for (curve, dash) in curves().filter_map(|(curve, dash)| Some((curve, (*dash)?))) {
            self.level(&plot, curve, dash);
        }
        let count = self.curves.len() as f64;
        for (number, curve) in self.curves.iter().enumerate().filter(|(_, curve)| !curve.level) {
            // Positions without an order leave space to draw the points of several curves beside each other.
            let aside = (number as f64 - (count - 1.0) / 2.0) * (0.7 / count).min(0.12);
            self.curve(&plot, curve, if self.apart { aside } else { 0.0 });
        }
        if points().all(|point| point.mean.is_none() && point.hollow.is_empty() && point.single.is_empty()) {
            plot.note("no run gave this measure");
        }
        sheet.finish()
    }
}

impl CurvesChart {
    fn entry(&self, curve: &Curve, dash: Option<Dash>) -> Entry {
        let Some(dash) = dash else {
            let swatch = if self.apart { Swatch::Dot } else { Swatch::Line };
            return (curve.name.clone(), curve.ink, swatch);
        };
        // A level line without a mean is not drawn: unstable runs have values, but no level.
        let unstable = curve.points.iter().any(|point| point.mean.is_none());
        let name = if unstable { format!("{} (no mean: unstable)", curve.name) } else { curve.name.clone() };
        (name, curve.ink, Swatch::Dashed(dash))
    }

    fn level(&self, plot: &Plot, curve: &Curve, dash: Dash) {
        let (from, to) = (self.x.from, self.x.to);
        for point in &curve.points {
            if let Some((low, high)) = point.interval {
                plot.polygon(&[(from, low), (to, low), (to, high), (from, high)], curve.ink, 0.08);
            }
            if let Some(mean) = point.mean {
                plot.line(&[(from, mean), (to, mean)], curve.ink, 1.8, Some(dash));
            }
        }
    }

    fn curve(&self, plot: &Plot, curve: &Curve, aside: f64) {
        // A curve has a gap where there is no mean.
        for stretch in curve.points.split(|point| point.mean.is_none()).filter(|_| !self.apart) {
            let band = |side: fn((f64, f64)) -> f64| {
                stretch.iter().filter_map(move |point| Some((point.x, side(point.interval?))))
            };
            let mut shape: Vec<_> = band(|interval| interval.0).collect();
            if shape.len() > 1 {
                shape.extend(band(|interval| interval.1).rev());
                plot.polygon(&shape, curve.ink, 0.18);
            }
            let line: Vec<_> = stretch.iter().filter_map(|point| Some((point.x, point.mean?))).collect();
            plot.line(&line, curve.ink, 1.8, None);
        }
        for point in &curve.points {
            let x = point.x + aside;
            if let (Some((low, high)), true) = (point.interval, self.apart || curve.points.len() == 1) {
                plot.line(&[(x, low), (x, high)], curve.ink, 1.4, None);
            }
            if let Some(mean) = point.mean {
                plot.mark((x, mean), curve.ink, 3.4, false, &point.title);
            }
            for value in &point.single {
                plot.mark((x, *value), curve.ink, 1.8, false, &point.title);
            }
            // Many marks are drawn smaller, so that they remain distinguishable.
            let radius = if point.hollow.len() > 8 { 2.2 } else { 3.4 };
            for value in &point.hollow {
                plot.mark((x, *value), curve.ink, radius, true, &point.title);
            }
        }
    }
}
