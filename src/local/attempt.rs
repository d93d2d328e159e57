//! Attempts of a job: what it asks for when it joins a queue, and what it carries from one attempt to the next.

use serde::{Deserialize, Serialize};

use super::checkpoint::Checkpoints;
use super::partition::Settings;
use super::table::{Departed, Gone, LiveJob, Phase};
use crate::model::{EventCause, GridPart, Job, Origin, PartitionSpec, ProcSet};
use crate::platform::{ProcTime, Usage};
use crate::units::{Bytes, Energy, Money, Rate, Span, Time, Work};

/// What a job has behind it, and the checkpoints of its present attempt.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Past {
    /// Progress that checkpoints of earlier attempts hold.
    pub(super) kept: Work,
    /// Energy charged for earlier attempts.
    pub(super) energy: Energy,
    /// Money charged for earlier attempts.
    pub(super) cost: Money,
    /// When the last attempt was lost, if one was and no other has started since.
    pub(super) lost_at: Option<Time>,
    /// The checkpoints of the present attempt; while the job waits, as far as can be foreseen.
    pub(super) checkpoints: Option<Checkpoints>,
    /// Processor time of the present attempt that went into writing them.
    pub(super) overhead: ProcTime,
    /// The rest of its processor time up to the last one that was finished.
    pub(super) secured: ProcTime,
    /// What the present attempt was charged under other prices.
    pub(super) charged: Option<Charged>,
}

/// What an attempt was charged before prices or power changed, and for how much processor time.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Charged {
    pub(super) time: ProcTime,
    pub(super) energy: Energy,
    pub(super) cost: Money,
}

impl Past {
    /// What a job brings from other sites; `None` if that is nothing.
    fn of(grid: &GridPart) -> Option<Self> {
        let GridPart { kept, energy, cost, lost_at, .. } = *grid;
        let past = Self { kept, energy, cost, lost_at, ..Self::default() };
        (past != Self::default()).then_some(past)
    }
}

impl LiveJob {
    /// A job that comes to a partition, before it is [prepared](LiveJob::prepare) for the queue.
    pub(super) fn new(job: Job, origin: Origin, seq: u64, now: Time) -> Self {
        let grid = job.grid.as_deref();
        Self {
            origin,
            seq,
            phase: Phase::Waiting,
            procs: 0,
            estimate: Span::ZERO,
            place: ProcSet::new(),
            held: 0,
            given: 0,
            share: Rate::FULL,
            rate: Rate::ZERO,
            since: now,
            first_start: grid.and_then(|grid| grid.first_start),
            done: Work::ZERO,
            target: Work::ZERO,
            estimated: Work::ZERO,
            expected_end: Time::NEVER,
            end: Time::NEVER,
            end_seq: 0,
            attempts: grid.map_or(0, |grid| grid.attempts),
            proc_time: 0,
            charge: 0,
            energy: Energy::ZERO,
            cost: Money::ZERO,
            past: grid.and_then(Past::of).map(Box::new),
            job,
        }
    }

    /// Works out what the job asks for when it joins the queue of a partition in which `capacity` processors can be given now: a
    /// moldable job no more than these, if it can do with less than it prefers. The fewest that it can do with.
    #[inline(always)]
    pub(super) fn prepare(&mut self, spec: &PartitionSpec, settings: &Settings, capacity: u32) -> u32 {
        let size = &self.job.size;
        let least = spec.rounded(size.min());
        self.procs = spec.rounded(size.preferred()).min(capacity).max(least);
        self.foresee(spec, settings);
        least
    }

    /// Works out what the job does on the processors that it asks for.
    #[inline(always)]
    pub(super) fn foresee(&mut self, spec: &PartitionSpec, settings: &Settings) {
        let size = &self.job.size;
        let rate = size.rate_on(self.procs.min(size.max())).times(spec.speed);
        if settings.checkpoint.is_none() && self.past.is_none() {
            (self.target, self.estimated) = self.limits(settings.overrun);
        } else {
            self.plan(settings, self.procs.div_ceil(spec.cores.max(1)));
        }
        // Of whatever says that it takes no time at all: one tick, so that plans are never empty.
        self.estimate = self.estimated.span_at(rate).unwrap_or(Span::MAX).max(Span::TICK);
        self.share = Rate::FULL;
    }

    /// Work that all attempts together may do, all of it or as much as the estimate allows; and work that the estimate covers.
    #[inline]
    pub(super) fn limits(&self, overrun: bool) -> (Work, Work) {
        let (work, estimated) = (Work::of_runtime(self.job.runtime), Work::of_runtime(self.job.estimate));
        (if overrun { work } else { work.min(estimated) }, estimated)
    }

    /// Works out what the next (or just beginning) attempt does, on so many machines: what is left, with its checkpoints.
    pub(super) fn plan(&mut self, settings: &Settings, machines: u32) {
        (self.target, self.estimated) = self.limits(settings.overrun);
        let wanted = settings.checkpoint.as_ref();
        if wanted.is_some() || self.past.is_some() {
            let past = self.past.get_or_insert_default();
            past.checkpoints =
                wanted.and_then(|wanted| Checkpoints::plan(wanted, settings.mean_up, machines));
        }
        if let Some(past) = &self.past {
            (self.target, self.estimated) = (self.target - past.kept, self.estimated - past.kept);
            if let Some(checkpoints) = past.checkpoints {
                self.target = checkpoints.stretched(self.target);
                self.estimated = checkpoints.stretched(self.estimated);
            }
        }
    }

    /// Its rate on the processors and with the share that it has, where no machine is slowed down.
    pub(super) fn unhindered(&self, speed: Rate) -> Rate {
        self.job.size.rate_on(self.held.min(self.job.size.max())).times(speed).times(self.share)
    }

    /// Takes the checkpoints into account that fall into a stretch of `span` at the present rate.
    pub(super) fn settle_checkpoints(&mut self, span: Span) {
        let Some(past) = &mut self.past else { return };
        let Some(checkpoints) = past.checkpoints else { return };
        let (rate, from) = (u128::from(self.rate.units().max(1)), self.done);
        // The last microsecond may do too much, but writes nothing.
        let to = (from + Work::done(self.rate, span)).min(self.target);
        // The processor time of a part of the stretch: with the quotient first, for products that do not overflow.
        let procs = Usage::proc_time(self.held, self.share, Span::TICK);
        let time = |work: Work| work.units() / rate * procs + work.units() % rate * procs / rate;
        let writing = |work: Work| checkpoints.overhead(work);
        let last = checkpoints.last(to);
        if last > from {
            let before = self.proc_time - past.overhead;
            past.secured = before + time((last - from) - (writing(last) - writing(from)));
        }
        past.overhead += time(writing(to) - writing(from));
    }

    /// Its number at the portal, if it came through there.
    pub(super) fn number(&self) -> Option<u64> {
        self.job.grid.as_ref().map(|grid| grid.number)
    }

    /// What is told of a job of the grid that goes back.
    pub(super) fn returned(self, why: EventCause) -> Departed {
        let (number, Self { mut job, origin, past, attempts, first_start, .. }) = (self.number(), self);
        if let Some(grid) = &mut job.grid {
            (grid.attempts, grid.first_start) = (attempts, first_start);
            if let Some(past) = past {
                (grid.kept, grid.energy, grid.cost) = (past.kept, past.energy, past.cost);
                grid.lost_at = past.lost_at;
            }
        }
        let (id, job) = (job.id, Box::new(job));
        Departed { job: id, origin, number, output: Bytes::ZERO, how: Gone::Returned { job, why } }
    }
}
