//! What the clock brings to a partition beside ends: the requested starts of jobs that are kept back until then.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use super::partition::Partition;
use super::table::{LiveJob, Phase};
use crate::model::JobKey;
use crate::units::Time;

/// Jobs with appointments. Empty in a run without dedicated jobs, and then nothing is looked up in it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Agenda {
    /// Dedicated jobs that their policy does not know of before their start: by start, then by arrival.
    early: BTreeSet<(Time, u64, JobKey)>,
}

impl Agenda {
    /// When something is due next.
    pub(super) fn next(&self) -> Option<Time> {
        self.early.first().map(|(start, ..)| *start)
    }

    /// Jobs that are kept back.
    pub(super) fn early(&self) -> impl ExactSizeIterator<Item = JobKey> {
        self.early.iter().map(|(.., key)| *key)
    }

    /// Keeps a job back.
    pub(super) fn keep_back(&mut self, start: Time, seq: u64, key: JobKey) {
        self.early.insert((start, seq, key));
    }

    /// A job that stands aside is kept back no more.
    pub(super) fn let_go(&mut self, key: JobKey, job: &LiveJob) {
        if let Some(start) = job.requested_start() {
            self.early.remove(&(start, job.seq(), key));
        }
    }

    /// The next job whose start has come.
    fn take_due(&mut self, now: Time) -> Option<JobKey> {
        let first = *self.early.first().filter(|(start, ..)| *start <= now)?;
        self.early.remove(&first);
        Some(first.2)
    }

    /// All that are kept back, in order, none any more.
    pub(super) fn take_all(&mut self) -> Vec<JobKey> {
        std::mem::take(&mut self.early).into_iter().map(|(.., key)| key).collect()
    }
}

impl LiveJob {
    /// The start that the job is to be kept back for under a policy that does or does not know dedicated jobs.
    pub(super) fn early(&self, dedicated: bool, now: Time) -> Option<Time> {
        self.requested_start().filter(|start| !dedicated && *start > now)
    }
}

impl Partition {
    /// The next of the jobs that were kept back and whose start has come joins the queue, as a newcomer. False if there is none.
    pub fn arrive_early(&mut self, now: Time) -> bool {
        let Some(key) = self.state.agenda.take_due(now) else { return false };
        self.enqueue(key, now);
        true
    }

    /// Whether a job stands aside because it asks for a later start.
    pub(super) fn is_early(&self, key: JobKey) -> bool {
        let kept = |job: &LiveJob| job.phase == Phase::Aside && !self.state.aside.contains(&key);
        self.state.table.get(key).is_some_and(kept)
    }
}
