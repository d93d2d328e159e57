//! Attempts of a job: what it requests when it joins a queue, and what it carries from one attempt to the next.

use super::checkpoint::Checkpoints;
use super::settings::Settings;
use super::table::{Allocation, Exit, ExitKind, LiveJob, Past, Phase};
use crate::model::{EventCause, GridContext, Job, JobRef, Origin, PartitionSpec, WorkloadId};
use crate::platform::Usage;
use crate::units::{Bytes, Energy, Money, Rate, Span, Time, Work};

impl Past {
    /// What a job carries over from other sites; `None` if there is nothing.
    fn of(grid: &GridContext) -> Option<Self> {
        let GridContext { kept, energy, dynamic, cost, failed_at, .. } = *grid;
        let has_marks = grid.task.as_ref().is_some_and(|task| task.marks.is_some());
        let past = Self { kept, energy, dynamic, cost, failed_at, has_marks, ..Self::default() };
        (past != Self::default() || grid.faults().is_some()).then_some(past)
    }
}

impl LiveJob {
    /// A job that comes to a partition, before it is [prepared](LiveJob::prepare) for the queue.
    #[inline]
    pub(super) fn new(job: Job, origin: Origin, seq: u64, now: Time) -> Self {
        let grid = job.grid.as_deref();
        Self {
            origin,
            seq,
            phase: Phase::Waiting,
            procs: 0,
            estimate: Span::ZERO,
            allocation: Allocation::none(),
            held: 0,
            leaving: 0,
            given: 0,
            rate: Rate::ZERO,
            since: now,
            until: now,
            rest: None,
            claims: false,
            suspensions: 0,
            stopped: now,
            ran: Span::ZERO,
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
            drawn: None,
            base: None,
            energy: Energy::ZERO,
            dynamic: 0,
            cost: Money::ZERO,
            taken: 0,
            past: grid.and_then(Past::of).map(Box::new),
            job,
        }
    }

    /// Computes what the job requests when it joins the queue of a partition in which `capacity` processors can be given now: a
    /// moldable job requests no more than these, if it can run on fewer than it prefers. Returns the fewest that it can run on.
    #[inline(always)]
    pub(super) fn prepare(&mut self, spec: &PartitionSpec, settings: &Settings, capacity: u32) -> u32 {
        let size = &self.job.size;
        let least = spec.rounded(size.min());
        self.procs = spec.rounded(size.preferred()).min(capacity).max(least);
        self.foresee(spec, settings);
        least
    }

    /// Computes the job's work and estimate on the processors that it requests.
    #[inline(always)]
    pub(super) fn foresee(&mut self, spec: &PartitionSpec, settings: &Settings) {
        let size = &self.job.size;
        let rate = size.rate_on(self.procs.min(size.max())).times(spec.speed());
        if settings.checkpoint.is_none() && self.past.is_none() {
            (self.target, self.estimated) = self.limits(settings.overrun);
        } else {
            self.plan(settings, self.procs.div_ceil(spec.cores.max(1)));
        }
        // Even a job that is estimated to take no time counts as one tick, so that plans are never empty.
        self.estimate = self.estimated.span_at(rate).unwrap_or(Span::MAX).max(Span::TICK);
        self.allocation.share = Rate::FULL;
    }

    /// Work that all attempts together may do (all of it, or as much as the estimate allows), and work that the estimate covers.
    #[inline]
    pub(super) fn limits(&self, overrun: bool) -> (Work, Work) {
        let (work, estimated) = self.job.works();
        (if overrun || self.job.may_overrun() { work } else { work.min(estimated) }, estimated)
    }

    /// Whether it is a part of a co-allocated job.
    pub fn is_part(&self) -> bool {
        self.job.grid.as_ref().is_some_and(|grid| grid.part.is_some())
    }

    /// Plans the next (or just beginning) attempt on so many machines: the remaining work, with its checkpoints.
    pub(super) fn plan(&mut self, settings: &Settings, machines: u32) {
        (self.target, self.estimated) = self.limits(settings.overrun);
        // A part is not tried again.
        let wanted = settings.checkpoint.as_ref().filter(|_| !self.is_part());
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

    /// Its rate on its present processors with its present share, if no machine is slowed down.
    pub(super) fn unhindered(&self, speed: Rate) -> Rate {
        self.job
            .size
            .rate_on(self.held.min(self.job.size.max()))
            .times(speed)
            .times(self.allocation.efficiency)
            .times(self.allocation.share)
    }

    /// Accounts for the checkpoints that fall into a stretch of `span` at the present rate.
    pub(super) fn settle_checkpoints(&mut self, span: Span) {
        let Some(past) = &mut self.past else { return };
        let Some(checkpoints) = past.checkpoints else { return };
        let (rate, from) = (u128::from(self.rate.units().max(1)), self.done);
        // The last microsecond may do too much work, but it writes no checkpoint.
        let to = (from + Work::done(self.rate, span)).min(self.target);
        // The processor time of a part of the stretch: the quotient comes first, so that products do not overflow.
        let procs = Usage::proc_time(self.held, self.allocation.share, Span::TICK);
        let time = |work: Work| work.units() / rate * procs + work.units() % rate * procs / rate;
        let writing = |work: Work| checkpoints.overhead(work);
        let last = checkpoints.last(to);
        if last > from {
            let before = self.proc_time - past.overhead;
            past.secured = before + time((last - from) - (writing(last) - writing(from)));
        }
        past.overhead += time(writing(to) - writing(from));
    }

    /// Its number at the portal, if it was submitted there.
    pub(super) fn number(&self) -> Option<u64> {
        self.job.grid.as_ref().map(|grid| grid.number)
    }

    /// The number of its assignment, if it was submitted at the portal; otherwise 0.
    pub(super) fn assignment(&self) -> u32 {
        self.job.grid.as_ref().map_or(0, |grid| grid.assignment)
    }

    /// The exit of a grid job that returns to the broker.
    pub(super) fn returned(mut self, why: EventCause) -> Exit {
        self.drop_taken_commands();
        let last_start = self.last_start();
        let assignment = self.assignment();
        let (number, Self { mut job, past, attempts, first_start, .. }) = (self.number(), self);
        if let Some(grid) = &mut job.grid {
            (grid.attempts, grid.first_start) = (attempts, first_start);
            if let Some(past) = past {
                (grid.kept, grid.energy, grid.cost) = (past.kept, past.energy, past.cost);
                (grid.dynamic, grid.failed_at) = (past.dynamic, past.failed_at);
            }
        }
        let named = JobRef { workload: WorkloadId::GRID, number: job.id };
        let how = ExitKind::Returned { job: Box::new(job), why };
        let (output, energy, cost, passed) = (Bytes::ZERO, Energy::ZERO, Money::ZERO, Box::default());
        Exit {
            job: named,
            number,
            assignment,
            output,
            start: first_start,
            last_start,
            attempts,
            energy,
            cost,
            passed,
            how,
        }
    }
}
