//! The number of processors in use, where it is unknown which ones.

use std::collections::BTreeMap;

use super::findings::{Row, Rule, Subject, Verdict};
use super::platform::Platform;
use crate::model::{JobRef, PartitionId, SiteId};
use crate::units::Time;

/// Counts the processors of a partition that jobs hold over time.
#[derive(Debug)]
pub(super) struct Counts {
    usable: u32,
    /// Changes from the first that is not settled, and the job that starts there.
    changes: BTreeMap<Time, (i64, Option<(JobRef, Row)>)>,
    /// Processors in use before these changes.
    base: i64,
}

impl Counts {
    pub(super) const fn new(usable: u32) -> Self {
        Self { usable, changes: BTreeMap::new(), base: 0 }
    }

    /// Records that a job held `procs` processors in this stretch.
    pub(super) fn used(&mut self, job: JobRef, procs: u32, (from, to): (Time, Time), row: Row) {
        if from >= to {
            return;
        }
        let begin = self.changes.entry(from).or_default();
        begin.0 += i64::from(procs);
        begin.1 = begin.1.max(Some((job, row)));
        self.changes.entry(to).or_default().0 -= i64::from(procs);
    }

    /// Reports the violations up to `time`, before which no later job starts, in the given partition.
    pub(super) fn settle(
        &mut self,
        time: Time,
        (site, partition): (SiteId, PartitionId),
        platform: &Platform,
        verdict: &mut Verdict,
    ) {
        let later = self.changes.split_off(&time);
        for (at, (change, starts)) in std::mem::replace(&mut self.changes, later) {
            self.base += change;
            if let Some((name, row)) = starts.filter(|_| self.base > i64::from(self.usable)) {
                let (job, place) = (platform.job(name), platform.place(site, partition));
                let message = format!(
                    "{job} starts, and {} processors of {place} are in use, which has {}",
                    self.base, self.usable
                );
                verdict.fault(Subject { name, row }, Rule::Capacity, at, message);
            }
        }
    }
}
