//! Two futures of one run, side by side.

use serde::Serialize;

use crate::metrics::{GridSummary, Measures};
use crate::units::Span;

/// The point at which two futures part.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Branch {
    /// The title of the run.
    pub title: String,
    /// The instant of the fork, in seconds.
    pub at_s: f64,
    /// The number of the last snapshot that is not later.
    pub snapshot: u64,
    /// The instant of that snapshot, in seconds: the run was run on from there to the fork.
    pub snapshot_at_s: f64,
    /// Jobs that had ended by the fork.
    pub jobs: u64,
    /// What differs from the fork on, one sentence each.
    pub changes: Vec<String>,
}

impl Branch {
    /// Where the state at the fork is from, in words: a snapshot then, or one before.
    pub fn from(&self) -> String {
        let Self { at_s, snapshot, snapshot_at_s, .. } = self;
        match snapshot_at_s < at_s {
            true => {
                let at = Span::from_secs_f64(*snapshot_at_s).unwrap_or_default().told();
                format!("run on from snapshot {snapshot} at {at}")
            }
            false => format!("from snapshot {snapshot}"),
        }
    }
}

/// The first record that differs between the futures.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Difference {
    /// The time of the record, in the future in which it comes first, in seconds.
    pub at_s: f64,
    /// The record of the changed future, in words.
    pub record: String,
}

/// Two futures of one run.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Futures {
    /// The fork.
    pub branch: Branch,
    /// The summary of the unchanged future.
    pub as_it_was: GridSummary,
    /// The summary of the changed future.
    pub changed: GridSummary,
    /// The measures of the jobs that ended after the fork: of the unchanged future, then of the changed one.
    pub after: [Measures; 2],
    /// The first difference; `None` if the records are equal.
    pub difference: Option<Difference>,
}
