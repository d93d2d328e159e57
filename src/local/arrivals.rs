//! The waiting queue in order of arrival.

use std::collections::VecDeque;

use super::{Phase, View};
use crate::model::JobKey;

/// Waiting jobs in order of arrival. A job that leaves the queue from the middle, because it started or was withdrawn, stays
/// until it comes to the front, where it is passed over: so it is never searched for.
#[derive(Debug, Default)]
pub struct Arrivals {
    jobs: VecDeque<(u64, JobKey)>,
}

impl Arrivals {
    /// The jobs that wait now.
    pub fn of(view: &View<'_>) -> Self {
        let jobs = view.jobs_in(Phase::Waiting).into_iter();
        Self { jobs: jobs.map(|job| (view.job(job).seq(), job)).collect() }
    }

    /// Adds a job with its place in the order of arrival, which is behind all others.
    pub fn push(&mut self, seq: u64, job: JobKey) {
        self.jobs.push_back((seq, job));
    }

    /// The first waiting job.
    pub fn first(&mut self, view: &View<'_>) -> Option<JobKey> {
        while let Some((seq, job)) = self.jobs.front().copied() {
            // A key may have been reused; a place in the order of arrival is never reused.
            if view.get(job).is_some_and(|live| live.seq() == seq && live.phase() == Phase::Waiting) {
                return Some(job);
            }
            self.jobs.pop_front();
        }
        None
    }

    /// Removes the job at the front.
    pub fn pop(&mut self) {
        self.jobs.pop_front();
    }
}
