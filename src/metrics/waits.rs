//! Emulated waits compared with those that the workload's own machine recorded.

use serde::{Deserialize, Serialize};

use super::distribution::{ClassTable, Distribution, EXACT_QUANTILES, Scale};
use super::{Definitions, Exact};
use crate::model::JobRecord;

const EMULATED: usize = 0;
const RECORDED: usize = 1;

/// Collects the waits of measured jobs that have a recorded wait.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct WaitComparison {
    definitions: Definitions,
    table: ClassTable,
}

/// Emulated and recorded waits of a group of jobs, in seconds.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct RecordedWaits {
    /// The class, or `all`.
    pub class: String,
    /// Number of jobs that have both.
    pub jobs: u64,
    /// Mean emulated wait.
    pub emulated_mean: Option<f64>,
    /// Median emulated wait.
    pub emulated_median: Option<f64>,
    /// 90th percentile of the emulated wait.
    pub emulated_p90: Option<f64>,
    /// Mean recorded wait.
    pub recorded_mean: Option<f64>,
    /// Median recorded wait.
    pub recorded_median: Option<f64>,
    /// 90th percentile of the recorded wait.
    pub recorded_p90: Option<f64>,
}

impl WaitComparison {
    /// Creates an empty comparison. Of the definitions only the classes matter here.
    pub fn new(definitions: Definitions) -> Self {
        let table = ClassTable::new(definitions.classes.count(), &[Scale::Whole; 2], EXACT_QUANTILES);
        Self { definitions, table }
    }

    /// Adds a job, if it has a recorded wait and counts in means.
    pub fn add(&mut self, record: &JobRecord) {
        let Some(recorded) = record.recorded_wait else { return };
        if Definitions::is_measured(record) {
            let row = [record.wait(), recorded].map(|wait| (wait.micros(), u128::from(wait.micros())));
            self.table.add(self.definitions.class_of(record), row);
        }
    }

    /// The comparison: all jobs first, then each class that has any; empty if no job has both waits.
    pub fn rows(&self) -> Vec<RecordedWaits> {
        let classes = &self.definitions.classes;
        let mut rows = vec![row("all".to_owned(), |column| self.table.whole(column))];
        if classes.count() > 1 {
            rows.extend((0..classes.count()).map(|at| row(classes.label(at), |of| self.table.cell(at, of))));
        }
        rows.retain(|row| row.jobs > 0);
        rows
    }
}

impl Exact for WaitComparison {
    fn exact(&mut self, each: &mut dyn FnMut(&mut Vec<u64>)) {
        self.table.exact(each);
    }
}

fn row(class: String, column: impl Fn(usize) -> Distribution) -> RecordedWaits {
    let figures = |of: usize| {
        let mut waits = column(of);
        let secs = |micros: Option<u64>| micros.map(|micros| micros as f64 / 1e6);
        let (median, p90) = (secs(waits.quantile(50)), secs(waits.quantile(90)));
        (waits.count(), waits.mean(1e6), median, p90)
    };
    let (jobs, emulated_mean, emulated_median, emulated_p90) = figures(EMULATED);
    let (_, recorded_mean, recorded_median, recorded_p90) = figures(RECORDED);
    RecordedWaits {
        class,
        jobs,
        emulated_mean,
        emulated_median,
        emulated_p90,
        recorded_mean,
        recorded_median,
        recorded_p90,
    }
}
