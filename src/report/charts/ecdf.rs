//! Distributions: which share of the jobs had at most a value.

use super::legend::{Entry, Swatch};
use super::plot::Plot;
use super::sheet::Dash;
use super::{Axis, Chart, ChartError, Ink, Paint};

/// The distribution of one group.
#[derive(Clone, Debug, PartialEq)]
pub struct EcdfLine {
    /// Its name in the legend.
    pub name: String,
    /// Its colour.
    pub ink: Ink,
    /// Whether it is dashed.
    pub dashed: bool,
    /// Values in rising order, with the share of the group that has at most that value.
    pub points: Vec<(f64, f64)>,
}

/// Distributions of one quantity.
#[derive(Clone, Debug, PartialEq)]
pub struct EcdfChart {
    /// What it is.
    pub title: String,
    /// The quantity.
    pub x: Axis,
    /// The groups.
    pub lines: Vec<EcdfLine>,
    /// Size in pixels.
    pub size: (u32, u32),
}

impl Chart for EcdfChart {
    fn svg(&self, paint: Paint) -> Result<String, ChartError> {
        let entries = self.lines.iter();
        let swatch = |line: &EcdfLine| if line.dashed { Swatch::Dashed(Dash::EVEN) } else { Swatch::Line };
        let entries: Vec<Entry> = entries.map(|line| (line.name.clone(), line.ink, swatch(line))).collect();
        let entries = if entries.len() > 1 { entries } else { Vec::new() };
        let y = Axis::linear("share of jobs", 0.0, 1.0, false);
        let (sheet, plot) =
            Plot::under_legend((&self.title, self.size, paint), (&self.x, &y), &entries, (true, true))?;
        for line in &self.lines {
            plot.line(&self.steps(line), line.ink, 1.6, line.dashed.then_some(Dash::EVEN))?;
        }
        if self.lines.iter().all(|line| line.points.is_empty()) {
            plot.note("no job is measured");
        }
        Ok(sheet.finish())
    }
}

impl EcdfChart {
    fn steps(&self, line: &EcdfLine) -> Vec<(f64, f64)> {
        let mut steps = Vec::with_capacity(line.points.len() * 2 + 2);
        let mut share = 0.0;
        for (value, after) in &line.points {
            // What lies below the axis is where the line begins.
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
