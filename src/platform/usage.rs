//! The account of a partition: processor time, energy and cost, exact and additive.

use serde::{Deserialize, Serialize};

use super::WeighedTime;
use crate::model::Outcome;
use crate::units::{Energy, Money, Rate, Span, Time};

/// Processor time in processors × share (2⁻²⁰) × microseconds.
pub type ProcTime = u128;

/// What the processors of a partition did between two instants.
///
/// `useful + wasted + overhead + reserved + idle + away` is the nominal capacity
/// `processors × (to − from)`, exactly.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Usage {
    /// Beginning of the account: the first submission.
    pub from: Time,
    /// End of the account: the last end.
    pub to: Time,
    /// Processors of the partition.
    pub processors: u32,
    /// Time of jobs that completed, and of lost attempts as far as checkpoints have kept what they did.
    pub useful: ProcTime,
    /// Time of jobs that were killed, failed or cancelled, or had not finished, and of attempts that were lost while
    /// their job went on.
    pub wasted: ProcTime,
    /// How the jobs ended whose time is part of `wasted`.
    pub ended: Ended,
    /// Time of suspending, resuming, checkpointing and staging, whatever became of the job.
    pub overhead: ProcTime,
    /// Time kept from the queue by reservations.
    pub reserved: ProcTime,
    /// Time away.
    pub away: ProcTime,
    /// Energy of the jobs (IT energy, without PUE).
    pub job_energy: Energy,
    /// Energy of all processors (IT energy, without PUE): jobs and idle together.
    pub meter: Energy,
    /// What the jobs paid.
    pub cost: Money,
    /// Time in use, weighed by what electricity costs at the time; nothing if that is the same at any hour.
    pub busy_weighed: WeighedTime,
    /// Time away, weighed likewise.
    pub away_weighed: WeighedTime,
    /// What the energy of the facility cost, if electricity has a price.
    pub electricity: Option<Money>,
}

/// Jobs that had been given processors and did not complete, and their time, which is part of what was wasted.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ended {
    /// Killed at their estimate.
    pub killed: (u64, ProcTime),
    /// Failed.
    pub failed: (u64, ProcTime),
    /// Cancelled.
    pub cancelled: (u64, ProcTime),
    /// Still running when the run ended.
    pub unfinished: (u64, ProcTime),
}

impl Ended {
    /// Adds up two accounts.
    pub const fn merge(&mut self, other: &Self) {
        add(&mut self.killed, other.killed);
        add(&mut self.failed, other.failed);
        add(&mut self.cancelled, other.cancelled);
        add(&mut self.unfinished, other.unfinished);
    }
}

const fn add(to: &mut (u64, ProcTime), more: (u64, ProcTime)) {
    to.0 += more.0;
    to.1 += more.1;
}

impl Usage {
    /// A job has ended that was given so much time.
    pub const fn end(&mut self, outcome: Outcome, time: ProcTime) {
        if matches!(outcome, Outcome::Completed) {
            self.useful += time;
            return;
        }
        self.wasted += time;
        let ended = &mut self.ended;
        let of = match outcome {
            Outcome::Killed => &mut ended.killed,
            Outcome::Cancelled => &mut ended.cancelled,
            Outcome::Unfinished => &mut ended.unfinished,
            Outcome::Failed | Outcome::Rejected(_) | Outcome::Completed => &mut ended.failed,
        };
        if time > 0 {
            add(of, (1, time));
        }
    }

    /// One processor for one second.
    pub const PROC_SECOND: ProcTime = Rate::FULL.units() as u128 * 1_000_000;

    /// `procs` processors at `share` for `span`.
    pub const fn proc_time(procs: u32, share: Rate, span: Span) -> ProcTime {
        procs as u128 * share.units() as u128 * span.micros() as u128
    }

    /// Time there, whether or not in use: what draws power.
    pub const fn powered(&self) -> ProcTime {
        self.nominal().saturating_sub(self.away)
    }

    /// Nominal capacity of the whole account.
    pub const fn nominal(&self) -> ProcTime {
        Self::proc_time(self.processors, Rate::FULL, self.to.since(self.from))
    }

    /// In use, for whatever reason.
    pub const fn busy(&self) -> ProcTime {
        self.useful + self.wasted + self.overhead
    }

    /// Neither in use nor reserved nor away.
    pub const fn idle(&self) -> ProcTime {
        self.nominal().saturating_sub(self.busy() + self.reserved + self.away)
    }

    /// Energy of idle processors.
    pub fn idle_energy(&self) -> Energy {
        self.meter - self.job_energy
    }

    /// Share of the nominal capacity that was in use; 0 if the account is empty.
    pub fn utilization(&self) -> f64 {
        let nominal = self.nominal();
        if nominal == 0 { 0.0 } else { self.busy() as f64 / nominal as f64 }
    }
}
