//! Cumulative distributions: the share of the jobs with at most a given value.

use super::legend::{Entry, Swatch};
use super::plot::Plot;
use super::sheet::Dash;
use super::{Axis, Chart, Ink, Paint};

/// The distribution of one group.
#[derive(Clone, Debug, PartialEq)]
pub struct EcdfLine {
    /// Name in the legend.
    pub name: String,
    /// Colour of the line.
    pub ink: Ink,
    /// Whether the line is dashed.
    pub dashed: bool,
    /// Values in rising order, each with the share of the group that has at most that value.
    pub points: Vec<(f64, f64)>,
}

/// Distributions of one quantity.
#[derive(Clone, Debug, PartialEq)]
pub struct EcdfChart {
    /// Title of the chart.
    pub title: String,
    /// The axis of the quantity.
    pub x: Axis,
    /// The groups.
    pub lines: Vec<EcdfLine>,
    /// Width and height, in pixels.
    pub size: (u32, u32),
}

impl Chart for EcdfChart {
    fn svg(&self, paint: Paint) -> String {
        let swatch = |line: &EcdfLine| if line.dashed { Swatch::Dashed(Dash::EVEN) } else { Swatch::Line };
        let named = self.lines.iter().filter(|_| self.lines.len() > 1);
        let entries: Vec<Entry> = named.map(|line| (line.name.clone(), line.ink, swatch(line))).collect();
        let y = Axis::linear("share of jobs", 0.0, 1.0, false);
        let (sheet, plot) =
            Plot::under_legend((&self.title, self.size, paint), (&self.x, &y), &entries, (true, true));
        for line in &self.lines {
            plot.line(&self.steps(line), line.ink, 1.6, line.dashed.then_some(Dash::EVEN));
        }
        if self.lines.iter().all(|line| line.points.is_empty()) {
            plot.note("no job is measured");
        }
        sheet.finish()
    }
}

impl EcdfChart {
    fn steps(&self, line: &EcdfLine) -> Vec<(f64, f64)> {
        let mut steps = Vec::with_capacity(line.points.len() * 2 + 2);
        let mut share = 0.0;
        for (value, after) in &line.points {
            // Values below the axis are moved to its beginning.
            let value = value.max(self.x.from);
            if steps.is_empty() && value > self.x.from {
                steps.push((self.x.from, 0.0));
            }
            steps.extend([(value, share), (value, *after)]);
            share = *after;
        }
        if share > 0.0 {
            steps.push((self.x.to, share));
        }
        steps
    }
}
