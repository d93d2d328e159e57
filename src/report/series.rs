//! What pictures show, derived from the rows that a run has left: streamed once, summed in integers, and only then
//! cut down to what can be seen.

mod account;
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
