//! Jobs that are suspended, resumed and resized, and the transitions that this takes.

use super::Partition;
use crate::local::error::{PartitionError, Violation};
use crate::local::policy::{Change, Placement, Preempted};
use crate::local::state::State;
use crate::local::{LiveJob, Phase, Step};
use crate::model::{EventCause, EventKind, EventRecord, JobKey, OnLeave, Suspension};
use crate::units::{Rate, Span, Work};

type Checked = Result<(), PartitionError>;

impl Partition {
    /// Suspends a running job: at once, or when it has written its memory. One that waits for machines to wake up has none.
    pub(super) fn suspend(&mut self, key: JobKey, why: Option<Preempted>, step: &mut Step<'_>) -> Checked {
        let declared =
            |state: &State, _: &LiveJob| State::declared(state.abilities.preempts, "suspends jobs");
        self.checked(key, "suspend", step.now, declared)?;
        self.expect(key, "suspend", step.now, &[Phase::Running])?;
        self.state.settle(key, step);
        self.state.forget_begin(key, step.now);
        self.note_suspended(key, why, EventCause::None, step);
        let Some(live) = self.state.table.get(key) else { return Ok(()) };
        let (takes, from) = (self.state.suspends_in(live, step.now), live.expected_end);
        if takes.is_zero() {
            self.state.take_suspended(key, step);
            self.state.forget_expected(key);
            return Ok(());
        }
        self.state.begin_transition(key, Phase::Suspending, takes, step.now)?;
        self.notify(Change::Moved { job: key, from }, step.now);
        Ok(())
    }

    /// Resumes a suspended job: it runs at once, or when it has read its memory.
    pub(super) fn resume(
        &mut self,
        key: JobKey,
        placement: Placement,
        share: Rate,
        step: &mut Step<'_>,
    ) -> Checked {
        self.expect(key, "resume", step.now, &[Phase::Suspended])?;
        let same = self.state.abilities.same_processors;
        let (placement, takes) = self.checked(key, "resume", step.now, |state, live| {
            state.check_share(share)?;
            let placement = state.placement(live, placement)?;
            let had = &live.allocation.procs;
            if same && !(placement.contains_all(had) && had.contains_all(&placement)) {
                return Err(Violation::OtherProcessors);
            }
            if !live.job.size.is_malleable() && placement.len() != live.given {
                return Err(Violation::BadSize(placement.len()));
            }
            let takes = state.resumes_in(live, &placement, step.now);
            Ok((placement, takes))
        })?;
        self.note_resumed(key, placement.len(), step);
        self.state.running += 1;
        self.state.suspended.remove(&key);
        self.put(key, placement, share, (Phase::Resuming, takes), step)?;
        let expected = self.state.table.get(key).map_or(Work::ZERO, |live| live.estimated);
        self.notify_if_moved(key, expected, step.now);
        Ok(())
    }

    /// Gives a running job other processors: it runs there at once, or when it has adapted to them.
    pub(super) fn resize(
        &mut self,
        key: JobKey,
        placement: Placement,
        why: EventCause,
        step: &mut Step<'_>,
    ) -> Checked {
        let declared = |state: &State, _: &LiveJob| State::declared(state.abilities.resizes, "resizes jobs");
        self.checked(key, "resize", step.now, declared)?;
        self.expect(key, "resize", step.now, &[Phase::Running])?;
        self.checked(key, "resize", step.now, |_, live| {
            if live.job.size.is_malleable() { Ok(()) } else { Err(Violation::NotMalleable) }
        })?;
        self.state.settle(key, step);
        self.state.forget_begin(key, step.now);
        let Some(live) = self.state.table.get_mut(key) else { return Ok(()) };
        let has_run = live.has_run();
        let old = std::mem::take(&mut live.allocation.procs);
        let (held, share) = (live.held, live.allocation.share);
        self.state.vacate(&old, held, share, step);
        let checked = |state: &State, live: &LiveJob| state.placement(live, placement);
        let placement = self.checked(key, "resize", step.now, checked)?;
        if let Some(live) = self.state.table.get(key) {
            step.record(self.state.job_event(step.now, EventKind::Resized, why, live, placement.len()));
        }
        let costs = &self.state.settings.preemption;
        let takes = if has_run { costs.resizes(old.len(), placement.len()) } else { Span::ZERO };
        self.put(key, placement, share, (Phase::Reconfiguring, takes), step)
    }

    /// Ends a transition that is over: the job is suspended, or runs.
    pub(super) fn end_transition(&mut self, key: JobKey, step: &mut Step<'_>) {
        self.state.settle(key, step);
        let Some(live) = self.state.table.get_mut(key) else { return };
        if live.phase == Phase::Suspending {
            return self.leave_suspended(key, step);
        }
        let from = live.expected_end;
        live.phase = Phase::Running;
        let set = self.state.set_rate(key, step.now);
        debug_assert!(
            set.is_ok(),
            "its end was on the time axis when its transition began, or its rate changed"
        );
        if self.state.table.get(key).is_some_and(|live| live.expected_end != from) {
            self.notify(Change::Moved { job: key, from }, step.now);
        }
    }

    /// A job that was to go on on its processors, but has not yet, because it reads its memory or a machine of it is not awake, loses a machine: it is
    /// suspended again, with all it has done. False if that does not apply.
    pub(super) fn suspend_again(&mut self, key: JobKey, step: &mut Step<'_>) -> bool {
        let waits = |live: &LiveJob| {
            live.phase == Phase::Resuming
                || live.phase == Phase::Running && live.since > step.now && live.has_run()
        };
        let can = self.state.abilities.preempts && self.state.settings.preemption.on_leave == OnLeave::Wait;
        if !can || !self.state.table.get(key).is_some_and(waits) {
            return false;
        }
        self.state.settle(key, step);
        self.state.forget_begin(key, step.now);
        self.note_suspended(key, None, EventCause::MachineLeft, step);
        self.leave_suspended(key, step);
        true
    }

    /// Records that a job does no work from now on, and why.
    fn note_suspended(
        &mut self,
        key: JobKey,
        why: Option<Preempted>,
        cause: EventCause,
        step: &mut Step<'_>,
    ) {
        let by = why.and_then(|why| self.state.table.get(why.by)).map(|by| self.state.job_ref(by));
        let Some(live) = self.state.table.get_mut(key) else { return };
        live.suspensions += 1;
        live.stopped = step.now;
        let factors = why.map_or((0, 0), |why| (why.ours.hundredths(), why.theirs.hundredths()));
        let suspension = Suspension { number: live.suspensions, by, factors, lasted: None };
        let cause = if by.is_some() { EventCause::Preempted } else { cause };
        if let Some(live) = self.state.table.get(key) {
            let event = self.state.job_event(step.now, EventKind::Suspended, cause, live, live.held);
            step.record(EventRecord { suspension: Some(Box::new(suspension)), ..event });
        }
    }

    /// Records that a suspended job gets so many processors, and how long it has done no work.
    fn note_resumed(&mut self, key: JobKey, procs: u32, step: &mut Step<'_>) {
        let Some(live) = self.state.table.get(key) else { return };
        let lasted = Some(step.now.since(live.stopped));
        let suspension = Suspension { number: live.suspensions, lasted, ..Suspension::default() };
        let event = self.state.job_event(step.now, EventKind::Resumed, EventCause::None, live, procs);
        step.record(EventRecord { suspension: Some(Box::new(suspension)), ..event });
    }

    /// A job leaves its processors suspended, otherwise than by the pass that suspends it.
    fn leave_suspended(&mut self, key: JobKey, step: &mut Step<'_>) {
        self.state.take_suspended(key, step);
        self.notify(Change::Suspended(key), step.now);
        self.state.forget_expected(key);
    }
}
