//! Cumulative distributions: the share of the jobs with at most a given value.

use super::legend::{Entry, Swatch};
use super::numbers::cell;
use super::plot::Plot;
use super::{Axis, Chart, Ink, Numbers, Paint};

/// The distribution of one group.
#[derive(Clone, Debug, PartialEq)]
pub struct EcdfLine {
    /// Name in the legend.
    pub name: String,
    /// Colour and dashes of the line; that of [`Ink::Text`] is wider.
    pub ink: Ink,
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
        let named = self.lines.iter().filter(|_| self.lines.len() > 1);
        let entries: Vec<Entry> = named.map(|line| (line.name.clone(), line.ink, Swatch::Line)).collect();
        let y = Axis::linear("share of jobs", 0.0, 1.0, false);
        let heading = (self.title.as_str(), paint.size(self.size), paint);
        let (sheet, plot) = Plot::under_legend(heading, (&self.x, &y), &entries, (true, true), 0);
        // The wide line of all jobs is below those of its parts.
        let (all, parts): (Vec<_>, Vec<_>) = self.lines.iter().partition(|line| line.ink == Ink::Text);
        for line in all.into_iter().chain(parts) {
            let width = if line.ink == Ink::Text { 2.4 } else { 1.6 };
            let dash = line.ink.dash().filter(|_| self.lines.len() > 1);
            plot.line(&self.steps(line), line.ink, width, dash);
        }
        if self.lines.iter().all(|line| line.points.is_empty()) {
            plot.note("no job is measured");
        }
        sheet.finish()
    }

    fn numbers(&self) -> Numbers {
        let mut numbers = Numbers::new(["series", &self.x.data, "share of jobs"]);
        for line in &self.lines {
            let row = |(value, share): &(f64, f64)| vec![line.name.clone(), cell(*value), cell(*share)];
            numbers.rows.extend(line.points.iter().map(row));
        }
        numbers
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
