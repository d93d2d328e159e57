//! Dedicated jobs: how many started at the requested time.

use serde::{Deserialize, Serialize};

use super::Definition;
use crate::model::JobRecord;

/// Counts dedicated jobs, one at a time, in any order.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Dedicated {
    jobs: u64,
    on_time: u64,
    delayed: u64,
    /// Sum of the delays in microseconds, and the longest delay.
    delay: u128,
    longest: u64,
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
        let delay = start.since(job.ready()).micros();
        if delay == 0 {
            self.on_time += 1;
        } else {
            self.delayed += 1;
        }
        self.delay += u128::from(delay);
        self.longest = self.longest.max(delay);
    }

    /// Adds up two counts.
    pub(super) fn merge(&mut self, other: &Self) {
        self.jobs += other.jobs;
        self.on_time += other.on_time;
        self.delayed += other.delayed;
        self.delay += other.delay;
        self.longest = self.longest.max(other.longest);
    }

    /// The measures; `None` if there was no dedicated job.
    pub(super) fn measures(&self) -> Option<DedicatedMeasures> {
        const MICROS: f64 = 1e6;
        let started = self.on_time + self.delayed;
        let secs = |micros: f64| (started > 0).then_some(micros / MICROS);
        (self.jobs > 0).then(|| DedicatedMeasures {
            jobs: self.jobs,
            on_time: self.on_time,
            delayed: self.delayed,
            mean_delay: secs(self.delay as f64 / started.max(1) as f64),
            max_delay: secs(self.longest as f64),
        })
    }
}

/// The definition of a delay, if there are dedicated jobs.
pub(super) fn definition(any: bool) -> Option<Definition> {
    any.then(|| Definition {
        id: "submission".to_owned(),
        meaning:
            "of a dedicated job the requested start, if that is later: wait and response count from there"
                .to_owned(),
    })
}
