//! Dedicated jobs: how many started at the requested time.

use serde::{Deserialize, Serialize};

use super::Ages;
use crate::model::JobRecord;
use crate::units::Span;

/// Counts dedicated jobs, one at a time, in any order.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Dedicated {
    jobs: u64,
    on_time: u64,
    /// The delays of the jobs that started later.
    delays: Ages,
}

/// Measures of jobs that requested a start (Kumar, Shae and Jamjoom 2012, section III-B). A delay is the time from
/// the requested start (the submission, if that was later) to the first start. Times are in seconds.
#[derive(Copy, Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct DedicatedMeasures {
    /// Number of dedicated jobs, whatever their outcome.
    pub jobs: u64,
    /// Jobs that started at the requested time.
    pub on_time: u64,
    /// Jobs that started later. The others never started.
    pub delayed: u64,
    /// Mean delay of the jobs that started; `None` if none did.
    pub mean_delay: Option<f64>,
    /// Longest delay of the jobs that started; `None` if none did.
    pub max_delay: Option<f64>,
}

impl Dedicated {
    /// Adds a dedicated job.
    pub(super) fn add(&mut self, job: &JobRecord) {
        self.jobs += 1;
        let Some(start) = job.start else { return };
        match start.since(job.ready()) {
            Span::ZERO => self.on_time += 1,
            delay => self.delays.add(delay),
        }
    }

    /// Adds up two counts.
    pub(super) fn merge(&mut self, other: &Self) {
        self.jobs += other.jobs;
        self.on_time += other.on_time;
        self.delays.merge(&other.delays);
    }

    /// The measures; `None` if there was no dedicated job.
    pub(super) fn measures(&self) -> Option<DedicatedMeasures> {
        let Ages { count: delayed, sum, max } = self.delays;
        let started = self.on_time + delayed;
        (self.jobs > 0).then(|| DedicatedMeasures {
            jobs: self.jobs,
            on_time: self.on_time,
            delayed,
            mean_delay: (started > 0).then(|| sum as f64 / started as f64 / 1e6),
            max_delay: (started > 0).then(|| max.as_secs_f64()),
        })
    }
}
