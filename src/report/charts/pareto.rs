//! Two measures against each other, with their Pareto front.

use super::legend::{Entry, Swatch};
use super::plot::Plot;
use super::sheet::Dash;
use super::{Axis, Chart, Ink, Paint};

/// A point: one variant of a study.
#[derive(Clone, Debug, PartialEq)]
pub struct ParetoPoint {
    /// Value of the first measure.
    pub x: f64,
    /// Value of the second measure.
    pub y: f64,
    /// Name in the legend, shared by points of the same kind.
    pub kind: String,
    /// Colour of the point.
    pub ink: Ink,
    /// Whether the point is on the front: no other point dominates it.
    pub front: bool,
    /// Whether the point is drawn hollow, as the value of an unstable run.
    pub hollow: bool,
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
    /// Width and height, in pixels.
    pub size: (u32, u32),
}

impl Chart for ParetoChart {
    fn svg(&self, paint: Paint) -> String {
        let mut entries: Vec<Entry> = Vec::new();
        for point in &self.points {
            if !entries.iter().any(|(name, _, _)| *name == point.kind) {
                entries.push((point.kind.clone(), point.ink, Swatch::Dot));
            }
        }
        let mut front: Vec<(f64, f64)> =
            self.points.iter().filter(|point| point.front).map(|point| (point.x, point.y)).collect();
        front.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.total_cmp(&b.1)));
        if !front.is_empty() {
            entries.push(("Pareto-optimal".to_owned(), Ink::Text, Swatch::Dashed(Dash::EVEN)));
        }
        if self.points.iter().any(|point| point.hollow) {
            entries.push(("unstable".to_owned(), Ink::Muted, Swatch::Hollow));
        }
        let (sheet, plot) =
            Plot::under_legend((&self.title, self.size, paint), (&self.x, &self.y), &entries, (true, true));
        plot.line(&self.stairs(&front), Ink::Text, 1.2, Some(Dash::EVEN));
        for point in &self.points {
            let radius = if point.front { 4.6 } else { 3.4 };
            plot.mark((point.x, point.y), point.ink, radius, point.hollow, &point.title);
        }
        if self.points.is_empty() {
            plot.note("no variant has both measures");
        }
        sheet.finish()
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
