//! Two measures against each other, with their Pareto front.

use super::labels::Labels;
use super::legend::{Entry, Swatch};
use super::marks::Dash;
use super::numbers::cell;
use super::plot::Plot;
use super::sheet::UNIT;
use super::{Axis, Chart, Ink, Numbers, Paint};

/// A point: one variant of a study.
#[derive(Clone, Debug, PartialEq)]
pub struct ParetoPoint {
    /// Value of the first measure.
    pub x: f64,
    /// Value of the second measure.
    pub y: f64,
    /// The confidence interval of the first, if there is one.
    pub x_interval: Option<(f64, f64)>,
    /// The confidence interval of the second, if there is one.
    pub y_interval: Option<(f64, f64)>,
    /// Name in the legend, shared by points of the same kind.
    pub kind: String,
    /// Colour and mark of the point.
    pub ink: Ink,
    /// Whether the point is on the front: no other point dominates it.
    pub front: bool,
    /// Whether it is the knee of the front: with both measures scaled to the range of the front, the point that is farthest from the
    /// chord between its ends, on the better side.
    pub knee: bool,
    /// The labels of the points of the front that dominate it.
    pub dominated_by: Vec<String>,
    /// Name beside the point.
    pub label: String,
    /// Tooltip of the point.
    pub title: String,
}

/// Points and their Pareto front.
#[derive(Clone, Debug, PartialEq)]
pub struct ParetoChart {
    /// Title of the chart.
    pub title: String,
    /// Axis of the first measure.
    pub x: Axis,
    /// Axis of the second measure.
    pub y: Axis,
    /// For each measure, whether less is better.
    pub less_is_better: (bool, bool),
    /// The points.
    pub points: Vec<ParetoPoint>,
    /// Variants that have no point, each with the reason.
    pub aside: Vec<(String, String)>,
    /// Width and height, in pixels.
    pub size: (u32, u32),
}

/// Maximum number of points that all have a name; with more, only those of the front do.
const NAMED: usize = 30;

impl Chart for ParetoChart {
    fn svg(&self, paint: Paint) -> String {
        let mut entries: Vec<Entry> = Vec::new();
        for point in &self.points {
            if !entries.iter().any(|(name, _, _)| *name == point.kind) {
                entries.push((point.kind.clone(), point.ink, Swatch::Mark));
            }
        }
        let mut front: Vec<(f64, f64)> =
            self.points.iter().filter(|point| point.front).map(|point| (point.x, point.y)).collect();
        front.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.total_cmp(&b.1)));
        if !front.is_empty() {
            entries.push(("Pareto front".to_owned(), Ink::Text, Swatch::Dashed(Dash::EVEN)));
        }
        if self.points.iter().any(|point| point.knee) {
            entries.push(("knee".to_owned(), Ink::Text, Swatch::Ring));
        }
        if !self.aside.is_empty() {
            let variants = if self.aside.len() == 1 { "variant" } else { "variants" };
            let text = format!("not drawn: {} {variants} without a mean", self.aside.len());
            entries.push((text, Ink::Muted, Swatch::Hollow));
        }
        let heading = (self.title.as_str(), paint.size(self.size), paint);
        let (sheet, plot) = Plot::under_legend(heading, (&self.x, &self.y), &entries, (true, true), 0);
        // Dominated points are lighter. The front is drawn last, and named first.
        let (front_points, dominated): (Vec<&ParetoPoint>, Vec<&ParetoPoint>) =
            self.points.iter().partition(|point| point.front);
        let crosses = |points: &[&ParetoPoint]| {
            for ParetoPoint { x, y, x_interval, y_interval, ink, .. } in points {
                let across = x_interval.map(|(low, high)| [(low, *y), (high, *y)]);
                let up = y_interval.map(|(low, high)| [(*x, low), (*x, high)]);
                for arm in [across, up].into_iter().flatten() {
                    plot.faint(arm, *ink);
                }
            }
        };
        let radius = |point: &ParetoPoint| if point.front { 5.0 } else { 3.8 };
        let marks = |points: &[&ParetoPoint]| {
            for point in points {
                plot.mark((point.x, point.y), point.ink, radius(point), false, &point.title);
            }
        };
        if !dominated.is_empty() {
            plot.sheet().lighter(|| {
                crosses(&dominated);
                marks(&dominated);
            });
        }
        crosses(&front_points);
        plot.line(&self.stairs(&front), Ink::Text, 1.2, Some(Dash::EVEN));
        marks(&front_points);
        let at = |point: &ParetoPoint| plot.at(point.x, point.y);
        for knee in front_points.iter().filter(|point| point.knee) {
            plot.sheet().ring(at(knee), 10 * UNIT, Ink::Text);
        }
        let order: Vec<&ParetoPoint> = dominated.into_iter().chain(front_points).collect();
        let mut labels = Labels::beside(&plot, order.iter().map(|point| (at(point), radius(point))));
        for point in order.iter().rev().filter(|point| point.front || self.points.len() <= NAMED) {
            labels.write(&point.label, at(point));
        }
        if self.points.is_empty() {
            plot.note(if self.aside.is_empty() {
                "no variant has both measures"
            } else {
                "no variant has a mean"
            });
        }
        sheet.finish()
    }

    fn numbers(&self) -> Numbers {
        let (x, y) = (self.x.data.as_str(), self.y.data.as_str());
        let ends = |of: &str| [format!("{of}, low"), format!("{of}, high")];
        let ([x_low, x_high], [y_low, y_high]) = (ends(x), ends(y));
        let mut numbers = Numbers::new([
            "kind",
            "variant",
            x,
            &x_low,
            &x_high,
            y,
            &y_low,
            &y_high,
            "Pareto-optimal",
            "knee",
            "dominated by",
            "note",
        ]);
        for point in &self.points {
            let ((x_low, x_high), (y_low, y_high)) = (point.x_interval.unzip(), point.y_interval.unzip());
            let variant = point.title.lines().next().unwrap_or_default().to_owned();
            let mut row = vec![point.kind.clone(), variant];
            row.extend([Some(point.x), x_low, x_high, Some(point.y), y_low, y_high].map(cell));
            row.extend([point.front, point.knee].map(|is| if is { "yes" } else { "no" }.to_owned()));
            row.extend([point.dominated_by.join("; "), String::new()]);
            numbers.rows.push(row);
        }
        for (variant, why) in &self.aside {
            let mut row = vec![String::new(); 12];
            (row[1], row[11]) = (variant.clone(), why.clone());
            numbers.rows.push(row);
        }
        numbers
    }
}

impl ParetoChart {
    /// The border of the region that the front dominates: between two neighbouring points it includes the corner that both
    /// dominate.
    pub(super) fn stairs(&self, front: &[(f64, f64)]) -> Vec<(f64, f64)> {
        let mut stairs: Vec<(f64, f64)> = Vec::new();
        for (x, y) in front.iter().copied() {
            if let Some((before_x, before_y)) = stairs.last().copied() {
                // The corner has the worse of the two values in each measure.
                let worse = |less_is_better| if less_is_better { f64::max } else { f64::min };
                let (worse_x, worse_y) = (worse(self.less_is_better.0), worse(self.less_is_better.1));
                stairs.push((worse_x(before_x, x), worse_y(before_y, y)));
            }
            stairs.push((x, y));
        }
        stairs
    }
}
