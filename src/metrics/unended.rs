//! Jobs that did not run to their end, charged as if they had started at the end of the run.

use serde::{Deserialize, Serialize};

use super::Ratio;
use crate::model::JobRecord;
use crate::units::{Span, Time};

/// Sums over jobs that did not run to their end, in any order. They suffice to charge the jobs once the end is known.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Unended {
    jobs: u64,
    /// When they could have started, and how long they run, in microseconds.
    ready: u128,
    run: u128,
    /// With the bounded run time of a job as a divisor: one second, the time when it could have started, and its run time.
    per_second: u128,
    ready_ratio: u128,
    run_ratio: u128,
}

/// The means of all jobs of a group if each that did not run to its end (rejected, failed, cancelled, unfinished) counts as if it had
/// started at the end of the run. Times are in seconds.
#[derive(Copy, Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ToTheEnd {
    /// The jobs that are charged.
    pub jobs: u64,
    /// Mean wait.
    pub mean_wait: f64,
    /// Mean response time.
    pub mean_response: f64,
    /// Mean bounded slowdown.
    pub mean_bounded_slowdown: f64,
}

impl Unended {
    /// Adds a job, with the bound of the slowdown.
    pub(super) fn add(&mut self, job: &JobRecord, tau: Span) {
        let (ready, bound) = (job.ready().micros(), job.run.max(tau).micros());
        self.jobs += 1;
        self.ready += u128::from(ready);
        self.run += u128::from(job.run.micros());
        self.per_second += Ratio::of(1_000_000, bound).units();
        self.ready_ratio += Ratio::of(ready, bound).units();
        self.run_ratio += Ratio::of(job.run.micros(), bound).units();
    }

    /// Adds up two collections.
    pub(super) fn merge(&mut self, other: &Self) {
        self.jobs += other.jobs;
        self.ready += other.ready;
        self.run += other.run;
        self.per_second += other.per_second;
        self.ready_ratio += other.ready_ratio;
        self.run_ratio += other.run_ratio;
    }

    /// The means of these jobs, charged to `end`, and of `measured` others with the means `of` (wait, response, bounded slowdown);
    /// `None` if there is no such job.
    pub(super) fn means(&self, end: Time, measured: u64, of: [Option<f64>; 3]) -> Option<ToTheEnd> {
        let end = u128::from(end.micros());
        let wait = (u128::from(self.jobs) * end).saturating_sub(self.ready);
        let ratio = (self.per_second * end / 1_000_000).saturating_sub(self.ready_ratio) + self.run_ratio;
        let secs = |micros: u128| micros as f64 / 1e6;
        let sums = [secs(wait), secs(wait + self.run), ratio as f64 / Ratio::ONE.units() as f64];
        let all = (self.jobs + measured) as f64;
        let mean = |at: usize| (sums[at] + of[at].unwrap_or_default() * measured as f64) / all;
        (self.jobs > 0).then(|| ToTheEnd {
            jobs: self.jobs,
            mean_wait: mean(0),
            mean_response: mean(1),
            mean_bounded_slowdown: mean(2),
        })
    }
}
