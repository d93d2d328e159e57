//! A measure of a study along one of its axes.

use super::legend::{Entry, Swatch};
use super::plot::Plot;
use super::sheet::Dash;
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
    /// Whether it has no place on the axis: the mean of its one point is a line across the whole width.
    pub level: bool,
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
        let mut levels = 0..;
        let dashes: Vec<Option<Dash>> = self
            .curves
            .iter()
            .map(|curve| if curve.level { levels.next().map(Dash::numbered) } else { None })
            .collect();
        let mut entries: Vec<Entry> =
            self.curves.iter().zip(&dashes).map(|(curve, dash)| self.entry(curve, *dash)).collect();
        // One curve is what the axis says.
        if let [_] = &self.curves[..] {
            entries.clear();
        }
        if self.curves.iter().flat_map(|curve| &curve.points).any(|point| !point.hollow.is_empty()) {
            entries.push(("a run whose backlog still grew".to_owned(), Ink::Muted, Swatch::Hollow));
        }
        let (sheet, plot) =
            Plot::under_legend((&self.title, self.size, paint), (&self.x, &self.y), &entries, (false, true))?;
        // What is all across lies below the curves.
        for (curve, dash) in self.curves.iter().zip(&dashes) {
            if let Some(dash) = dash {
                self.level(&plot, curve, *dash)?;
            }
        }
        for (number, curve) in self.curves.iter().enumerate() {
            // Places without an order have room beside each other.
            if curve.level {
                continue;
            }
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
    fn entry(&self, curve: &Curve, dash: Option<Dash>) -> Entry {
        let Some(dash) = dash else {
            let swatch = if self.apart { Swatch::Dot } else { Swatch::Line };
            return (curve.name.clone(), curve.ink, swatch);
        };
        // Where it would be is known of no run: runs that grow have values, but no level.
        let grows = curve.points.iter().any(|point| point.mean.is_none());
        let name =
            if grows { format!("{} (no mean: a backlog grew)", curve.name) } else { curve.name.clone() };
        (name, curve.ink, Swatch::Dashed(dash))
    }

    fn level(&self, plot: &Plot, curve: &Curve, dash: Dash) -> Result<(), ChartError> {
        let (from, to) = (self.x.from, self.x.to);
        for point in &curve.points {
            if let Some((low, high)) = point.interval {
                plot.polygon(&[(from, low), (to, low), (to, high), (from, high)], curve.ink, 0.08)?;
            }
            if let Some(mean) = point.mean {
                plot.line(&[(from, mean), (to, mean)], curve.ink, 1.8, Some(dash))?;
            }
        }
        Ok(())
    }

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
                plot.line(&line, curve.ink, 1.8, None)?;
            }
        }
        for point in &curve.points {
            let x = point.x + aside;
            if let (Some((low, high)), true) = (point.interval, self.apart || curve.points.len() == 1) {
                plot.line(&[(x, low), (x, high)], curve.ink, 1.4, None)?;
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
