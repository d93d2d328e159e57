//! Data of charts, derived from the rows of a run: the rows are streamed once and summed in integers, and only then reduced to the
//! resolution of a chart.

mod along;
mod churn;
mod distribution;
mod groups;
mod jobs;
mod places;
mod run;
mod schedule;
mod steps;
mod study;
#[cfg(test)]
mod tests;

pub(super) use distribution::{Quantity, ecdf, heat};
pub(super) use groups::ink;
pub(super) use run::RunSeries;
pub(super) use steps::Steps;
pub(super) use study::{LEVEL, Layout, curves, pareto, title as measure_title};
