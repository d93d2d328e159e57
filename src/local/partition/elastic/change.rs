//! The effect of an elastic command on a job, and the limits of commands.

use super::{CommandError, Executed};
use crate::local::agenda::Known;
use crate::local::error::PartitionError;
use crate::local::policy::Change;
use crate::local::state::State;
use crate::local::table::{LiveJob, Phase};
use crate::local::{Partition, Step};
use crate::model::{CommandRefusal, JobKey, Outcome};
use crate::units::{Rate, Span, Time, Work};

/// The longest run time that a command may give a job, here and alone on its machines: some 570 years. So hundreds of such jobs
/// may run one after the other, or one at a place that is as much slower, before the end of the time axis.
const LONGEST: Span = Span::from_micros(u64::MAX / 1_024);

/// When such a job must have ended, if it starts as early as it can: the middle of the time axis.
const LATEST: Time = Time::from_micros(u64::MAX / 2);

/// What a job requests.
struct Request {
    procs: u32,
    estimate: Span,
    area: u128,
}

impl Request {
    fn of(live: &LiveJob) -> Self {
        Self { procs: live.procs, estimate: live.estimate, area: live.area() }
    }
}

impl Partition {
    /// ET (with `more`): estimate and run time grow by the same amount. RT: the estimate shrinks, and the run time to no more
    /// than that. The kill limit is always the estimate. A job that has already run longer than its new estimate ends now.
    pub(super) fn change_time(
        &mut self,
        key: JobKey,
        more: Option<Span>,
        less: Span,
        step: &mut Step<'_>,
    ) -> Executed {
        let Some(live) = self.state.table.get_mut(key) else { return Ok(false) };
        if live.claims {
            return Err(CommandRefusal::Reserved.into());
        }
        let (runtime, estimate) = live.job.reference_times();
        let (runtime, estimate) = match more {
            Some(by) => (plus(runtime, by)?, plus(estimate, by)?),
            None if less >= estimate => return Err(CommandRefusal::BelowZero.into()),
            None => {
                let left = Span::from_micros(estimate.micros() - less.micros());
                (runtime.min(left), left)
            }
        };
        let (before, from, phase) = (Request::of(live), live.expected_end, live.phase);
        let mut changed = live.copy();
        changed.job.set_times(runtime, estimate);
        self.state.replan(&mut changed);
        if more.is_some() && !self.state.ends_in_time(&changed, step.now) {
            return Err(CommandRefusal::TooLong.into());
        }
        if matches!(phase, Phase::Running | Phase::Resuming | Phase::Reconfiguring) {
            let rate = self.state.rate_of(&changed);
            let left = (changed.estimated - changed.done).span_at(rate).unwrap_or(Span::MAX);
            let until = changed.works_from().checked_add(left).unwrap_or(Time::NEVER);
            if more.is_some() && self.is_booked(from, until, changed.held, step.now) {
                return Err(CommandRefusal::NoRoom.into());
            }
            self.state.settle(key, step);
        }
        let machines =
            self.state.table.get(key).map_or(0, |live| self.state.machines_under(&live.allocation.procs));
        let Some(live) = self.state.table.get_mut(key) else { return Ok(false) };
        live.job.set_times(runtime, estimate);
        match phase {
            Phase::Waiting | Phase::Starting | Phase::Ineligible => {
                self.change_request(key, before, None, step.now)
            }
            Phase::Running
            | Phase::Suspending
            | Phase::Suspended
            | Phase::Resuming
            | Phase::Reconfiguring
            | Phase::Stalled => {
                live.plan(&self.state.settings, machines);
                // One that waits for machines to wake up ends when it has begun.
                if live.done >= live.target && live.since <= step.now {
                    live.has_run_enough();
                    self.end_job(key, Outcome::Completed, step);
                    return Ok(true);
                }
                self.reset_end(key, from, step.now)?;
            }
        }
        Ok(false)
    }

    /// EP and RP, in whole blocks: for a malleable job, within its limits; for a running job, if enough processors are free and
    /// not reserved.
    pub(super) fn change_procs(&mut self, key: JobKey, by: i64, step: &mut Step<'_>) -> Executed {
        let Some(live) = self.state.table.get_mut(key) else { return Ok(false) };
        if live.claims {
            return Err(CommandRefusal::Reserved.into());
        }
        let size = &live.job.size;
        if !size.is_malleable() {
            return Err(CommandRefusal::NotMalleable.into());
        }
        let has = live.held_or_requested();
        let wanted = i64::from(has) + by;
        if wanted <= 0 {
            return Err(CommandRefusal::BelowZero.into());
        }
        let wanted = u32::try_from(wanted).map_err(|_| CommandRefusal::OutOfRange)?;
        let procs = self.state.spec.rounded(wanted);
        // A change of less than a block has no effect.
        if wanted < size.min() || wanted > size.max() || procs > self.state.spec.most() || procs == has {
            return Err(CommandRefusal::OutOfRange.into());
        }
        match live.phase {
            Phase::Waiting if procs > self.state.capacity => Err(CommandRefusal::NoRoom.into()),
            Phase::Waiting | Phase::Ineligible => {
                let before = Request::of(live);
                let mut changed = LiveJob { procs, ..live.copy() };
                self.state.replan(&mut changed);
                if !self.state.ends_in_time(&changed, step.now) {
                    return Err(CommandRefusal::TooLong.into());
                }
                self.change_request(key, before, Some(procs), step.now);
                Ok(false)
            }
            Phase::Running if self.state.multiprogramming_level == 1 => {
                let from = live.expected_end;
                if procs > has {
                    self.grow(key, procs - has, step)?;
                } else {
                    self.shrink(key, has - procs, step)?;
                }
                self.reset_end(key, from, step.now)?;
                Ok(false)
            }
            Phase::Running
            | Phase::Starting
            | Phase::Suspending
            | Phase::Suspended
            | Phase::Resuming
            | Phase::Reconfiguring
            | Phase::Stalled => Err(CommandRefusal::NotNow.into()),
        }
    }

    /// Changes the request of a job that does not run: its processors, or its estimate.
    fn change_request(&mut self, key: JobKey, before: Request, procs: Option<u32>, now: Time) {
        if let Some(procs) = procs {
            self.state.agenda.know(key).procs = Some(procs);
        }
        let early = self.is_early(key);
        let state = &mut self.state;
        let Some(live) = state.table.get_mut(key) else { return };
        live.procs = procs.unwrap_or(live.procs);
        live.foresee(&state.spec, &state.settings);
        let (after, fits) = (live.area(), live.procs <= state.capacity);
        let Request { procs: had, estimate, area } = before;
        match live.phase {
            Phase::Waiting => {
                state.backlog = state.backlog - area + after;
                self.notify(Change::Altered { job: key, procs: had, estimate }, now);
            }
            Phase::Ineligible => {
                state.ineligible_backlog = state.ineligible_backlog - area + after;
                // There may be enough machines for it now.
                if fits && procs.is_some() && !early {
                    state.forget_ineligible(key);
                    self.enqueue(key, now);
                }
            }
            _ => {}
        }
    }

    /// True if a job that was expected to end at `from` cannot keep so many processors until `to`, because the book has reserved
    /// them.
    fn is_booked(&self, from: Time, to: Time, procs: u32, now: Time) -> bool {
        let view = self.view(now);
        let from = from.max(now + Span::TICK);
        !view.bookings().is_empty() && from < to && !view.profile_ahead().fits(from, to.since(from), procs)
    }

    /// Gives a running job free processors, if they stay free for as long as it needs them.
    fn grow(&mut self, key: JobKey, by: u32, step: &mut Step<'_>) -> Result<(), CommandError> {
        // A running job does not wait for machines to wake up.
        if by > self.state.awake() {
            return Err(CommandRefusal::NoRoom.into());
        }
        let more = self.state.pick(by).ok_or(CommandRefusal::NoRoom)?;
        let Some(live) = self.state.table.get_mut(key) else { return Ok(()) };
        let (share, from, held) = (live.allocation.share, live.expected_end, live.held);
        if self.state.groups.several() {
            // On machines of a slower group it may end later.
            let mut larger = live.copy();
            larger.allocation.procs.insert_all(&more);
            larger.held = held + by;
            if !self.state.ends_in_time(&larger, step.now) {
                return Err(CommandRefusal::TooLong.into());
            }
            let until = self.state.would_end(&larger, step.now);
            if self.is_booked(from, until, held + by, step.now) {
                return Err(CommandRefusal::NoRoom.into());
            }
        }
        let until = from.max(step.now + Span::TICK);
        if !self.view(step.now).profile_ahead().fits(step.now, until.since(step.now), by) {
            return Err(CommandRefusal::NoRoom.into());
        }
        self.state.settle(key, step);
        // One that waits for machines to wake up begins on all of its processors at once.
        let begun = self.state.table.get(key).is_some_and(|live| live.since <= step.now);
        let waits = !begun || !self.state.is_awake(&more);
        self.state.occupy(&more, by, share, waits, step);
        let Some(live) = self.state.table.get(key) else { return Ok(()) };
        let mut placement = live.allocation.procs.clone();
        placement.insert_all(&more);
        self.state.set_placement(key, placement, held + by, step.now);
        Ok(())
    }

    /// Takes the highest processors from a running job, if it still ends on the time axis without them.
    fn shrink(&mut self, key: JobKey, by: u32, step: &mut Step<'_>) -> Result<(), CommandError> {
        let Some(live) = self.state.table.get_mut(key) else { return Ok(()) };
        let (kept, share) = (
            live.allocation.procs.lowest(live.held - by).ok_or(CommandRefusal::NotNow)?,
            live.allocation.share,
        );
        let mut smaller = live.copy();
        (smaller.allocation.procs, smaller.held) = (kept.clone(), kept.len());
        if !self.state.ends_in_time(&smaller, step.now) {
            return Err(CommandRefusal::TooLong.into());
        }
        let until = self.state.would_end(&smaller, step.now);
        if self.is_booked(smaller.expected_end, until, kept.len(), step.now) {
            return Err(CommandRefusal::NoRoom.into());
        }
        self.state.settle(key, step);
        let Some(live) = self.state.table.get(key) else { return Ok(()) };
        let mut less = live.allocation.procs.clone();
        less.remove_all(&kept);
        let held = live.held - by;
        self.state.set_placement(key, kept, held, step.now);
        self.state.vacate(&less, by, share, step);
        Ok(())
    }

    /// Sets a new end for a running job with another end or other processors; its segment has been settled.
    fn reset_end(&mut self, key: JobKey, from: Time, now: Time) -> Result<(), PartitionError> {
        if self.state.table.get(key).is_some_and(|live| live.phase.is_active()) {
            self.state.set_rate(key, now)?;
            self.notify(Change::Moved { job: key, from }, now);
        }
        Ok(())
    }
}

/// The sum of two spans, if the time axis can hold it.
fn plus(span: Span, by: Span) -> Result<Span, CommandRefusal> {
    let sum = span.micros().checked_add(by.micros()).map(Span::from_micros);
    sum.filter(|sum| *sum < Span::MAX).ok_or(CommandRefusal::TooLong)
}

impl State {
    /// Plans a job anew after a change of its run time, its estimate or its request.
    fn replan(&self, changed: &mut LiveJob) {
        match changed.phase {
            Phase::Waiting | Phase::Starting | Phase::Ineligible => {
                changed.foresee(&self.spec, &self.settings)
            }
            Phase::Running
            | Phase::Suspending
            | Phase::Suspended
            | Phase::Resuming
            | Phase::Reconfiguring
            | Phase::Stalled => {
                changed.plan(&self.settings, self.machines_under(&changed.allocation.procs));
            }
        }
    }

    /// True if a job, as a command would change it, ends far enough before the end of the time axis: with all the work that it
    /// may still do, from now or from its requested start, and at its present rate if it runs. A command that would exceed the
    /// axis must not end the run.
    fn ends_in_time(&self, changed: &LiveJob, now: Time) -> bool {
        let size = &changed.job.size;
        let procs = if changed.phase.is_active() { changed.held } else { changed.procs };
        let alone = size.rate_on(procs.min(size.max())).times(self.spec.speed());
        let work = changed.target.max(changed.estimated);
        let Some(span) = work.span_at(alone).filter(|span| *span <= LONGEST) else { return false };
        let span = match changed.phase {
            phase if phase.is_active() => work.span_at(self.rate_of(changed)),
            _ => Some(span),
        };
        let ends = span.and_then(|span| now.max(changed.ready()).checked_add(span));
        ends.is_some_and(|end| end <= LATEST)
    }

    /// When a running job, as a command would change it now, is expected to end.
    fn would_end(&self, changed: &LiveJob, now: Time) -> Time {
        let done = changed.done + Work::done(changed.rate, now.since(changed.since));
        let left = (changed.estimated - done).span_at(self.rate_of(changed)).unwrap_or(Span::MAX);
        now.max(changed.works_from()).checked_add(left).unwrap_or(Time::NEVER)
    }

    /// Makes a job that joins a queue anew request the processors that a command has set.
    pub(in crate::local) fn request_as_commanded(&mut self, key: JobKey) {
        let Some(Known { procs: Some(procs), .. }) = self.agenda.known(key) else { return };
        let capacity = self.capacity;
        if let Some(live) = self.table.get_mut(key) {
            let least = self.spec.rounded(live.job.size.min());
            live.procs = procs.min(capacity).max(least);
            live.foresee(&self.spec, &self.settings);
        }
    }
}

impl LiveJob {
    /// Sets run time and estimate to the time that the job has run, because it has reached its limit.
    fn has_run_enough(&mut self) {
        let (mut work, mut done) = (Work::ZERO, self.done);
        if let Some(past) = &self.past {
            work = past.kept;
            done -= past.checkpoints.map_or(Work::ZERO, |checkpoints| checkpoints.overhead(done));
        }
        let ran = Work::from_units(work.units() + done.units()).span_at(Rate::FULL).unwrap_or(Span::MAX);
        self.job.set_times(ran, ran);
        (self.target, self.estimated) = (self.done, self.done);
    }
}
