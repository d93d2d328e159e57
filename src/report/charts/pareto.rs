//! Two measures against each other, and what no other point beats in both.

use super::legend::{Entry, Swatch};
use super::plot::Plot;
use super::sheet::Dash;
use super::{Axis, Chart, ChartError, Ink, Paint};

/// A point: one variant of a study.
#[derive(Clone, Debug, PartialEq)]
pub struct ParetoPoint {
    /// The first measure.
    pub x: f64,
    /// The second.
    pub y: f64,
    /// Its name in the legend, the same for points of a kind.
    pub kind: String,
    /// Its colour.
    pub ink: Ink,
    /// Whether no other point beats it.
    pub front: bool,
    /// Whether it is told apart as not stationary.
    pub hollow: bool,
    /// What is told when it is pointed at.
    pub title: String,
}

/// Points and their front.
#[derive(Clone, Debug, PartialEq)]
pub struct ParetoChart {
    /// What it is.
    pub title: String,
    /// The first measure.
    pub x: Axis,
    /// The second.
    pub y: Axis,
    /// Whether less of the first measure is better, and of the second.
    pub less_is_better: (bool, bool),
    /// The points.
    pub points: Vec<ParetoPoint>,
    /// Size in pixels.
    pub size: (u32, u32),
}

impl Chart for ParetoChart {
    fn svg(&self, paint: Paint) -> Result<String, ChartError> {
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
            entries.push(("not dominated".to_owned(), Ink::Text, Swatch::Dashed(Dash::EVEN)));
        }
        if self.points.iter().any(|point| point.hollow) {
            entries.push(("backlog still grew".to_owned(), Ink::Muted, Swatch::Hollow));
        }
        let (sheet, plot) =
            Plot::under_legend((&self.title, self.size, paint), (&self.x, &self.y), &entries, (true, true))?;
        plot.line(&self.stairs(&front), Ink::Text, 1.2, Some(Dash::EVEN))?;
        for point in &self.points {
            plot.mark(
                (point.x, point.y),
                point.ink,
                if point.front { 4.6 } else { 3.4 },
                point.hollow,
                &point.title,
            );
        }
        if self.points.is_empty() {
            plot.note("no variant has both measures");
        }
        Ok(sheet.finish())
    }
}

impl ParetoChart {
    /// The border of what the front dominates: between two of its points, the corner that both beat.
    pub(super) fn stairs(&self, front: &[(f64, f64)]) -> Vec<(f64, f64)> {
        let mut stairs: Vec<(f64, f64)> = Vec::new();
        for (x, y) in front.iter().copied() {
            if let Some((before_x, before_y)) = stairs.last().copied() {
                // What both beat has the worse of the two in each measure.
                let worse_x =
                    if self.less_is_better.0 { f64::max(before_x, x) } else { f64::min(before_x, x) };
                let worse_y =
                    if self.less_is_better.1 { f64::max(before_y, y) } else { f64::min(before_y, y) };
                stairs.push((worse_x, worse_y));
            }
            stairs.push((x, y));
        }
        stairs
    }
}
