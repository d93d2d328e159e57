//! A measure of a study along one of its axes.

use super::legend::{Entry, Swatch};
use super::plot::Plot;
use super::{Axis, Chart, ChartError, Ink, Paint};

/// A point of a curve.
#[derive(Clone, Debug, PartialEq)]
pub struct CurvePoint {
    /// Its place on the axis.
    pub x: f64,
    /// The mean of the runs there; `None` if there is none to be told.
    pub mean: Option<f64>,
    /// The confidence interval of the mean, with two runs or more.
    pub interval: Option<(f64, f64)>,
    /// Where there is no mean: its runs that came to an end.
    pub single: Vec<f64>,
    /// Runs whose backlog still grew.
    pub hollow: Vec<f64>,
    /// What is told when it is pointed at.
    pub title: String,
}

/// A curve.
#[derive(Clone, Debug, PartialEq)]
pub struct Curve {
    /// Its name in the legend.
    pub name: String,
    /// Its colour.
    pub ink: Ink,
    /// Its points, along the axis.
    pub points: Vec<CurvePoint>,
}

/// Curves with bands.
#[derive(Clone, Debug, PartialEq)]
pub struct CurvesChart {
    /// What it is.
    pub title: String,
    /// The axis of the study.
    pub x: Axis,
    /// The measure.
    pub y: Axis,
    /// The curves.
    pub curves: Vec<Curve>,
    /// Whether points are places without an order, which no line joins.
    pub apart: bool,
    /// Size in pixels.
    pub size: (u32, u32),
}

impl Chart for CurvesChart {
    fn svg(&self, paint: Paint) -> Result<String, ChartError> {
        let swatch = if self.apart { Swatch::Dot } else { Swatch::Line };
        let mut entries: Vec<Entry> =
            self.curves.iter().map(|curve| (curve.name.clone(), curve.ink, swatch)).collect();
        // One curve is what the axis says.
        if let [_] = &self.curves[..] {
            entries.clear();
        }
        if self.curves.iter().flat_map(|curve| &curve.points).any(|point| !point.hollow.is_empty()) {
            entries.push(("a run whose backlog still grew".to_owned(), Ink::Muted, Swatch::Hollow));
        }
        let (sheet, plot) =
            Plot::under_legend((&self.title, self.size, paint), (&self.x, &self.y), &entries, (false, true))?;
        for (number, curve) in self.curves.iter().enumerate() {
            // Places without an order have room beside each other.
            let aside = if self.apart {
                (number as f64 - (self.curves.len() as f64 - 1.0) / 2.0)
                    * (0.7 / self.curves.len() as f64).min(0.12)
            } else {
                0.0
            };
            self.curve(&plot, curve, aside)?;
        }
        if self
            .curves
            .iter()
            .flat_map(|curve| &curve.points)
            .all(|point| point.mean.is_none() && point.hollow.is_empty() && point.single.is_empty())
        {
            plot.note("no run gave this measure");
        }
        Ok(sheet.finish())
    }
}

impl CurvesChart {
    fn curve(&self, plot: &Plot, curve: &Curve, aside: f64) -> Result<(), ChartError> {
        // A gap where there is no mean: nothing is drawn across it.
        for stretch in curve.points.split(|point| point.mean.is_none()) {
            if !self.apart {
                let band = |side: fn((f64, f64)) -> f64| {
                    stretch
                        .iter()
                        .filter_map(move |point| Some((point.x, side(point.interval?))))
                        .collect::<Vec<_>>()
                };
                let mut shape = band(|interval| interval.0);
                if shape.len() > 1 {
                    shape.extend(band(|interval| interval.1).into_iter().rev());
                    plot.polygon(&shape, curve.ink, 0.18)?;
                }
                let line: Vec<_> = stretch.iter().filter_map(|point| Some((point.x, point.mean?))).collect();
                plot.line(&line, curve.ink, 1.8, false)?;
            }
        }
        for point in &curve.points {
            let x = point.x + aside;
            if let (Some((low, high)), true) = (point.interval, self.apart || curve.points.len() == 1) {
                plot.line(&[(x, low), (x, high)], curve.ink, 1.4, false)?;
            }
            if let Some(mean) = point.mean {
                plot.mark((x, mean), curve.ink, 3.4, false, &point.title);
            }
            for value in &point.single {
                plot.mark((x, *value), curve.ink, 1.8, false, &point.title);
            }
            // Many of them are smaller, to stay apart.
            let radius = if point.hollow.len() > 8 { 2.2 } else { 3.4 };
            for value in &point.hollow {
                plot.mark((x, *value), curve.ink, radius, true, &point.title);
            }
        }
        Ok(())
    }
}
