//! Co-allocated jobs: whether they got their processors, how long they waited for them, and what that cost others.

use serde::{Deserialize, Serialize};

use crate::model::{CoallocationOutcome, CoallocationRecord};
use crate::units::Money;

/// The co-allocated jobs of a run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Coallocations {
    /// By [`CoallocationOutcome`].
    outcomes: [u64; CoallocationOutcome::ALL.len()],
    /// Those for which a start was agreed.
    agreed: u64,
    tries: u64,
    messages: u64,
    /// From the earliest start to the agreed one, in microseconds.
    delay: u128,
    slowdown_ppm: u128,
    charge: Money,
    harm: u128,
    /// Processors × reserved time, in processor-microseconds.
    reserved: u128,
}

/// What became of the co-allocated jobs of a run.
#[derive(Copy, Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct CoallocationSummary {
    /// Number of co-allocated jobs.
    pub jobs: u64,
    /// Those all of whose parts started at the agreed time and completed.
    pub completed: u64,
    /// Those for which no start was agreed.
    pub refused: u64,
    /// Those of which a part did not start at the agreed time.
    pub missed: u64,
    /// Those that started, and of which a part did not complete.
    pub failed: u64,
    /// Those that had not ended when the run did.
    pub unfinished: u64,
    /// Mean time from the earliest start to the agreed one; `None` if none was agreed.
    pub delay_s: Option<f64>,
    /// Mean number of starts that were tried.
    pub tries: Option<f64>,
    /// Mean number of messages to and from sites.
    pub messages: Option<f64>,
    /// Mean factor by which a job took longer because of the links between its parts.
    pub slowdown: Option<f64>,
    /// What the sites charged for reserving.
    pub charge: f64,
    /// Processor time that was reserved, in processor-seconds.
    pub reserved_proc_s: f64,
    /// Processor time that was taken from jobs which waited, in processor-seconds.
    pub harm_proc_s: f64,
}

impl Coallocations {
    /// Adds a co-allocated job.
    pub(super) fn add(&mut self, job: &CoallocationRecord) {
        self.outcomes[job.outcome as usize] += 1;
        self.tries += u64::from(job.tries);
        self.messages += u64::from(job.messages);
        let Some(start) = job.start else { return };
        self.agreed += 1;
        self.delay += u128::from(start.since(job.earliest).micros());
        self.slowdown_ppm += u128::from(job.slowdown_ppm);
        self.charge += job.charge;
        self.harm += job.harm;
        self.reserved += u128::from(job.procs) * u128::from(job.length.micros());
    }

    /// The summary; `None` if there were no such jobs.
    pub(super) fn summary(&self) -> Option<CoallocationSummary> {
        let count = |outcome: CoallocationOutcome| self.outcomes[outcome as usize];
        let jobs: u64 = self.outcomes.iter().sum();
        let of_agreed = |sum: f64| (self.agreed > 0).then(|| sum / self.agreed as f64);
        (jobs > 0).then(|| CoallocationSummary {
            jobs,
            completed: count(CoallocationOutcome::Completed),
            refused: count(CoallocationOutcome::Refused),
            missed: count(CoallocationOutcome::Missed),
            failed: count(CoallocationOutcome::Failed),
            unfinished: count(CoallocationOutcome::Unfinished),
            delay_s: of_agreed(self.delay as f64 / 1e6),
            tries: Some(self.tries as f64 / jobs as f64),
            messages: Some(self.messages as f64 / jobs as f64),
            slowdown: of_agreed(self.slowdown_ppm as f64 / 1e6).map(|more| 1.0 + more),
            charge: self.charge.as_f64(),
            reserved_proc_s: self.reserved as f64 / 1e6,
            harm_proc_s: self.harm as f64 / 1e6,
        })
    }
}
