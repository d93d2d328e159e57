//! Data of charts, derived from the rows of a run: the rows are streamed once and summed in integers, and only then reduced to the
//! resolution of a chart.

mod along;
mod bands;
mod churn;
mod differences;
mod distribution;
mod front;
mod groups;
mod heat;
#[cfg(test)]
mod heat_tests;
mod jobs;
mod links;
mod marks;
mod pareto;
mod places;
mod plannings;
mod run;
mod schedule;
#[cfg(test)]
mod schedule_tests;
mod steps;
mod study;
#[cfg(test)]
mod study_tests;
#[cfg(test)]
mod tests;
mod traffic;
mod workflows;

pub(super) use differences::{run_differences, study_differences};
pub(super) use distribution::{Quantity, Statistic, ecdf};
pub(super) use groups::{Groups, ink};
pub(super) use heat::{Form, Shades, Subject, change, changes, charts as heat_charts, values};
pub(super) use links::LinkUse;
pub(super) use pareto::pareto;
pub(super) use plannings::Plannings;
pub(super) use run::RunSeries;
pub(super) use steps::Steps;
pub(super) use study::{LEVEL, Layout, curves, title as measure_title};
pub(super) use traffic::{TRAFFIC_BINS, Traffic};
pub(super) use workflows::Workflows;
