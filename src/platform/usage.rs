//! The account of a partition: processor time, energy and cost, exact and additive.

use serde::{Deserialize, Serialize};

use super::bill::Bill;
use crate::model::Outcome;
use crate::units::{Carbon, Energy, Money, Rate, Span, Time};

/// Processor time in processors × share (2⁻²⁰) × microseconds.
pub type ProcTime = u128;

/// The use of a partition's processors between two instants.
///
/// `useful + wasted + overhead + reserved + idle + down` is the nominal capacity
/// `processors × (to − from)`, exactly.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Usage {
    /// The beginning of the account: of a single site its first submission, otherwise that of the run.
    pub from: Time,
    /// The end of the account: of a single site its last end, otherwise that of the run.
    pub to: Time,
    /// The number of processors of the partition.
    pub processors: u32,
    /// Time of jobs that completed, and of failed attempts as far as checkpoints have kept their work.
    pub useful: ProcTime,
    /// Time of jobs that were killed, failed, were cancelled, or had not finished, and of failed attempts whose
    /// job went on.
    pub wasted: ProcTime,
    /// The outcomes of jobs whose time is part of `wasted`.
    pub ended: Ended,
    /// Time of suspending, resuming, checkpointing and staging, whatever the outcome of the job.
    pub overhead: ProcTime,
    /// Time that reservations kept from the queue.
    pub reserved: ProcTime,
    /// Time during which processors were down.
    pub down: ProcTime,
    /// Work of jobs that completed, and what checkpoints have kept of failed attempts: processors × work at the reference speed.
    pub work: u128,
    /// What its meter read, by purpose (without PUE).
    pub bill: Bill,
    /// Of the idle time, that of machines that were not awake.
    pub dormant: ProcTime,
    /// The cost of the jobs.
    pub cost: Money,
    /// The cost of the facility's energy, if electricity has a price.
    pub electricity: Option<Money>,
    /// The carbon that it caused, if the intensity is known.
    pub carbon: Option<Carbon>,
    /// The part of the carbon of making its machines that falls to this time, whether they were up or not, if it is known of any.
    pub embodied: Option<Carbon>,
}

/// The number and the time of jobs that got processors and did not complete; their time is part of the wasted time.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ended {
    /// Jobs that were killed at their estimate.
    pub killed: (u64, ProcTime),
    /// Jobs that failed.
    pub failed: (u64, ProcTime),
    /// Jobs that were cancelled.
    pub cancelled: (u64, ProcTime),
    /// Jobs that were still running when the run ended.
    pub unfinished: (u64, ProcTime),
}

impl Ended {
    /// Adds another account.
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
    /// Counts a job that has ended, with its time.
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

    /// The time of one processor over one second.
    pub const PROC_SECOND: ProcTime = Rate::FULL.units() as u128 * 1_000_000;

    /// The work of one processor at the reference speed over one hour.
    pub const CORE_HOUR: u128 = Self::PROC_SECOND * 3_600;

    /// `procs` processors at `share` for `span`.
    pub const fn proc_time(procs: u32, share: Rate, span: Span) -> ProcTime {
        procs as u128 * share.units() as u128 * span.micros() as u128
    }

    /// The time during which processors were present, in use or not, and drew power.
    pub const fn powered(&self) -> ProcTime {
        self.nominal().saturating_sub(self.down)
    }

    /// The nominal capacity of the whole account.
    pub const fn nominal(&self) -> ProcTime {
        Self::proc_time(self.processors, Rate::FULL, self.to.since(self.from))
    }

    /// The time in use, for whatever reason.
    pub const fn busy(&self) -> ProcTime {
        self.useful + self.wasted + self.overhead
    }

    /// The IT energy of all processors (without PUE): jobs and idle together.
    pub const fn meter(&self) -> Energy {
        self.bill.meter.energy
    }

    /// The IT energy of the jobs (without PUE).
    pub fn job_energy(&self) -> Energy {
        self.bill.jobs().energy
    }

    /// The time neither in use nor reserved nor down.
    pub const fn idle(&self) -> ProcTime {
        self.nominal().saturating_sub(self.busy() + self.reserved + self.down)
    }

    /// The share of the nominal capacity that was in use; 0 if the account is empty.
    pub fn utilization(&self) -> f64 {
        let nominal = self.nominal();
        if nominal == 0 { 0.0 } else { self.busy() as f64 / nominal as f64 }
    }
}
