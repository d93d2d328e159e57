//! The number of processors in use, where it is unknown which ones.

use std::collections::BTreeMap;

use super::findings::{JobName, Row};
use crate::units::Time;

/// Counts the processors of a partition that jobs hold over time.
#[derive(Debug)]
pub(super) struct Counts {
    usable: u32,
    /// Changes from the first that is not settled, and the job that starts there.
    changes: BTreeMap<Time, (i64, Option<(JobName, Row)>)>,
    /// Processors in use before these changes.
    base: i64,
}

/// More processors in use than the partition has.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Excess {
    pub(super) time: Time,
    pub(super) job: JobName,
    pub(super) row: Row,
    pub(super) in_use: i64,
}

impl Counts {
    pub(super) const fn new(usable: u32) -> Self {
        Self { usable, changes: BTreeMap::new(), base: 0 }
    }

    /// Records that a job held `procs` processors in this stretch.
    pub(super) fn used(&mut self, job: JobName, procs: u32, (from, to): (Time, Time), row: Row) {
        if from >= to {
            return;
        }
        let begin = self.changes.entry(from).or_default();
        begin.0 += i64::from(procs);
        begin.1 = begin.1.max(Some((job, row)));
        self.changes.entry(to).or_default().0 -= i64::from(procs);
    }

    /// The violations up to `time`, before which no later job starts.
    pub(super) fn settle(&mut self, time: Time) -> Vec<Excess> {
        let later = self.changes.split_off(&time);
        let mut found = Vec::new();
        for (at, (change, starts)) in std::mem::replace(&mut self.changes, later) {
            self.base += change;
            if let (true, Some((job, row))) = (self.base > i64::from(self.usable), starts) {
                found.push(Excess { time: at, job, row, in_use: self.base });
            }
        }
        found
    }
}
