//! Dedicated jobs: who started when it asked to.

use serde::{Deserialize, Serialize};

use super::Definition;
use crate::model::JobRecord;

/// Counts dedicated jobs, one at a time, in any order.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Dedicated {
    jobs: u64,
    on_time: u64,
    delayed: u64,
    /// Sum in microseconds, and the longest.
    delay: u128,
    longest: u64,
}

/// What became of jobs that asked for a start (Kumar, Shae and Jamjoom 2012, section III-B). A delay is from the start that a job asked
/// for (its submission, if that was later) to its first start. Times in seconds.
#[derive(Copy, Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct DedicatedMeasures {
    /// Dedicated jobs, however they ended.
    pub jobs: u64,
    /// Those that started when they asked to.
    pub on_time: u64,
    /// Those that started later. The others never started.
    pub delayed: u64,
    /// Mean delay of those that started; `None` if none did.
    pub mean_delay: Option<f64>,
    /// Longest delay of those that started; `None` if none did.
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

    /// What was counted; `None` if there was no dedicated job.
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

/// What is said of times where there are dedicated jobs.
pub(super) fn definition(any: bool) -> Option<Definition> {
    any.then(|| Definition {
        id: "submission".to_owned(),
        meaning: "of a dedicated job the start that it asks for, if that is later: it waits and responds from there".to_owned(),
    })
}
