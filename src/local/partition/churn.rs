//! Churn in a partition: machines that go down, come up and slow down, and the effects on jobs.

use std::sync::Arc;

use super::Partition;
use crate::local::error::PartitionError;
use crate::local::policy::Change;
use crate::local::{LiveJob, Phase, Step};
use crate::model::{
    EventCause, EventKind, EventRecord, FailureAction, JobKey, MachineState, Outcome, Payer, ProcSet, Record,
};
use crate::platform::SiteFaults;
use crate::units::{Money, Rate, Time};

impl Partition {
    /// Marks machines as down from the beginning, beside those that the description says are absent.
    pub fn absent(&mut self, machines: &ProcSet) {
        let state = &mut self.state;
        let procs = state.processors_of(&state.machines_that(machines, false));
        let (mut unrecorded, mut exits) = (Vec::<Record>::new(), Vec::new());
        state.remove_processors(&procs, &mut Step::new(Time::ZERO, &mut unrecorded, &mut exits));
        state.recount();
        // They are recorded when the run begins.
        if state.settings.record_machines && !state.down.is_empty() {
            self.wake = Some(Time::ZERO);
        }
    }

    /// Records which machines are down from the beginning: once, before anything else happens.
    pub fn record_absent(&mut self, step: &mut Step<'_>) {
        let down = self.state.down.clone();
        self.state.machines(&down, MachineState::Down, step);
    }

    /// Machines go down, with the jobs that run on them: the [`FailureAction`] applies to these. With [`EventCause::SiteLeft`]
    /// the whole site goes down, and waiting grid jobs return to the broker if the settings say so. Machines that are already down,
    /// or do not exist, change nothing.
    ///
    /// The policy is notified first of the jobs that fail ([`Change::Ended`]), then of the smaller capacity
    /// ([`Change::Left`]), then of waiting jobs that become ineligible or return, then of those that wait again.
    pub fn leave(&mut self, machines: &ProcSet, cause: EventCause, step: &mut Step<'_>) {
        // What a power cap kept off is down itself now.
        self.state.kept_off.remove_all(machines);
        let leaving = self.state.machines_that(machines, false);
        let before = self.state.capacity;
        let mut again = Vec::new();
        if !leaving.is_empty() {
            let procs = self.state.processors_of(&leaving);
            self.end_due(&procs, step);
            self.state.settle_missing(step.now);
            step.record(self.machine_event(EventKind::Left, cause, &leaving, step.now));
            let lost = self.state.remove_processors(&procs, step);
            for key in self.state.running_on(&lost).into_iter().chain(self.state.losing_memory(&lost)) {
                self.handle_failure(key, cause, step, &mut again);
            }
            self.state.recount();
            self.state.fill_bookings(step);
            self.state.count_short();
        }
        if self.state.capacity != before {
            self.notify(Change::Left, step.now);
        }
        if cause == EventCause::SiteLeft && self.state.settings.return_queued {
            self.return_queued(EventCause::SiteLeft, step);
        }
        if self.state.capacity < before {
            self.withdraw_too_large(step.now);
        }
        for key in again {
            self.enqueue(key, step.now);
        }
    }

    /// Machines drain, because they will leave: they get no new job, and the jobs that run there go on. A job that waits for one of them to wake up
    /// waits in the queue again; a reservation takes others. Machines that drain already change nothing, and those that are down are not recorded.
    ///
    /// The policy is notified of jobs that wait again ([`Change::Ended`]), then of the smaller capacity ([`Change::Left`]), then of each job that now
    /// releases fewer processors ([`Change::Moved`]), then of waiting jobs that become ineligible.
    pub fn drain(&mut self, machines: &ProcSet, cause: EventCause, step: &mut Step<'_>) {
        let up = self.state.machines_that(machines, false);
        if !up.is_empty() {
            step.record(self.machine_event(EventKind::Draining, cause, &up, step.now));
        }
        let mut procs = self.state.processors_of(machines);
        procs.remove_all(&self.state.draining);
        if procs.is_empty() {
            return;
        }
        let before = self.state.capacity;
        self.state.settle_missing(step.now);
        let lost = self.state.drain_processors(&procs, step);
        let (mut again, mut moved, mut outside) = (Vec::new(), Vec::new(), Vec::new());
        for key in self.state.running_on(&lost) {
            let Some(job) = self.state.table.get(key) else { continue };
            if job.since > step.now {
                self.handle_failure(key, EventCause::MachineLeft, step, &mut again);
                continue;
            }
            let (less, is_free) =
                (job.allocation.procs.common(&lost), self.state.counts_as_free(job, step.now));
            if is_free {
                self.state.ending -= less.min(self.state.ending);
            }
            let claims = job.claims;
            if let Some(job) = self.state.table.get_mut(key) {
                job.leaving += less;
                moved.push((key, job.expected_end));
            }
            if claims {
                outside.push(key);
            }
        }
        self.state.recount();
        // The reservation cannot have what leaves: the job goes on like any other.
        for key in outside {
            moved.retain(|(other, _)| *other != key);
            self.go_on_without(key, true, step);
        }
        self.state.fill_bookings(step);
        self.state.count_short();
        if self.state.capacity != before || !moved.is_empty() {
            self.notify(Change::Left, step.now);
        }
        for (job, from) in moved {
            self.notify(Change::Moved { job, from }, step.now);
        }
        if self.state.capacity < before {
            self.withdraw_too_large(step.now);
        }
        for key in again {
            self.enqueue(key, step.now);
        }
    }

    /// Machines drain no longer, because they stay, or because they have left. Those that do not drain change nothing, and those that are down are not recorded.
    ///
    /// The policy is notified of the larger capacity ([`Change::Joined`]), then of each job that now releases more processors
    /// ([`Change::Moved`]), then of those that wait again.
    pub fn stay(&mut self, machines: &ProcSet, cause: EventCause, step: &mut Step<'_>) {
        let procs = self.state.processors_of(machines).intersection(&self.state.draining);
        if procs.is_empty() {
            return;
        }
        let up = self.state.machines_that(machines, false);
        if !up.is_empty() {
            step.record(self.machine_event(EventKind::Undrained, cause, &up, step.now));
        }
        let before = self.state.capacity;
        self.state.settle_missing(step.now);
        self.state.keep_processors(&procs, step.now);
        let mut moved = Vec::new();
        for key in self.state.running_on(&self.state.blocks(&procs)) {
            let Some(job) = self.state.table.get(key) else { continue };
            let (leaving, is_free) =
                (self.state.leaving_of(&job.allocation.procs), self.state.counts_as_free(job, step.now));
            let more = job.leaving.saturating_sub(leaving);
            if more == 0 {
                continue;
            }
            if is_free {
                self.state.ending += more;
            }
            if let Some(job) = self.state.table.get_mut(key) {
                job.leaving = leaving;
                moved.push((key, job.expected_end));
            }
        }
        self.state.recount();
        self.state.fill_bookings(step);
        if self.state.capacity != before || !moved.is_empty() {
            self.notify(Change::Joined, step.now);
        }
        for (job, from) in moved {
            self.notify(Change::Moved { job, from }, step.now);
        }
        self.requeue_fitting(step.now);
    }

    /// The machines that drain.
    pub fn draining(&self) -> ProcSet {
        self.state.machines_of(&self.state.draining).collect()
    }

    /// Lets a pass follow at this instant.
    pub fn wake_at(&mut self, now: Time) {
        self.wake = Some(now);
    }

    /// Machines come up: jobs that were stalled for them continue, and ineligible jobs that now fit join the queue again.
    /// Machines that are already up, or do not exist, change nothing. Those that would exceed a power cap in watts stay off until they do not
    /// ([`Partition::settle_power`]).
    ///
    /// The policy is notified of the larger capacity ([`Change::Joined`]), then of the jobs that continue
    /// ([`Change::Continued`]), then of those that wait again.
    ///
    /// # Errors
    /// [`PartitionError::EndOfTime`] if a job that continues would end beyond the time axis.
    pub fn join(
        &mut self,
        machines: &ProcSet,
        cause: EventCause,
        step: &mut Step<'_>,
    ) -> Result<(), PartitionError> {
        let mut joining = self.state.machines_that(machines, true);
        if let Some(watts) = &self.state.watts {
            let come = watts.may_return(&joining);
            self.state.kept_off.insert_all(&joining.difference(&come));
            joining = come;
        }
        if joining.is_empty() {
            return Ok(());
        }
        self.state.kept_off.remove_all(&joining);
        let before = self.state.capacity;
        let procs = self.state.processors_of(&joining);
        self.state.settle_missing(step.now);
        step.record(self.machine_event(EventKind::Joined, cause, &joining, step.now));
        self.state.add_processors(&procs, step);
        let mut ready = Vec::new();
        if self.state.stalled > 0 {
            // Where its machines drain it may go on too.
            let mut here = self.state.here.clone();
            here.insert_all(&self.state.drained());
            ready = self
                .state
                .keys(|job| job.phase == Phase::Stalled && here.contains_all(&job.allocation.procs));
        }
        for key in &ready {
            self.state.unstall(*key, step);
            self.state.set_rate(*key, step.now)?;
            if let Some(job) = self.state.table.get(*key) {
                step.record(self.state.job_event(step.now, EventKind::Continued, cause, job, job.held));
            }
        }
        self.state.recount();
        self.state.fill_bookings(step);
        if self.state.capacity != before {
            self.notify(Change::Joined, step.now);
        }
        for key in ready {
            self.notify(Change::Continued(key), step.now);
        }
        self.requeue_fitting(step.now);
        Ok(())
    }

    /// Machines run at a fraction of their own speed until the next such change; [`Rate::FULL`] restores it. A job runs at the
    /// speed of its slowest machine. The policy is notified of every job that is expected to end at another time
    /// ([`Change::Moved`]).
    ///
    /// # Errors
    /// [`PartitionError::EndOfTime`] if a job would end beyond the time axis, as it would on a machine with speed zero.
    pub fn slow(
        &mut self,
        machines: &ProcSet,
        factor: Rate,
        cause: EventCause,
        step: &mut Step<'_>,
    ) -> Result<(), PartitionError> {
        let state = &mut self.state;
        let others = machines.iter().filter(|machine| *machine < state.spec.machines());
        let slowed: ProcSet = others.filter(|machine| state.factor(*machine) != factor).collect();
        if slowed.is_empty() {
            return Ok(());
        }
        let procs = state.processors_of(&slowed);
        for machine in slowed.iter() {
            if factor == Rate::FULL {
                state.slow.remove(&machine);
            } else {
                state.slow.insert(machine, factor);
            }
        }
        step.record(self.machine_event(EventKind::Slowed, cause, &slowed, step.now));
        for job in self.state.running_on(&procs) {
            let Some(live) = self.state.table.get(job) else { continue };
            let (from, rate) = (live.expected_end, self.state.rate_of(live));
            // A job that ends at this very instant has done its work.
            if live.end <= step.now || rate == live.rate {
                continue;
            }
            self.state.settle(job, step);
            self.state.set_rate(job, step.now)?;
            if self.state.table.get(job).is_some_and(|live| live.expected_end != from) {
                self.notify(Change::Moved { job, from }, step.now);
            }
        }
        Ok(())
    }

    /// Lets the partition know the faults between its site and the grid.
    pub fn meet(&mut self, faults: Option<Arc<SiteFaults>>) {
        self.state.faults = faults;
    }

    /// Ends the assignments of all jobs of the grid, in any phase: they return, and nobody hears of it. False if there are none.
    pub fn lose_grid_jobs(&mut self, step: &mut Step<'_>) -> bool {
        let lost = self.state.keys(|job| job.job.grid.is_some());
        for key in &lost {
            // One whose end has come has ended.
            if self.state.table.get(*key).is_some_and(|job| job.end <= step.now) {
                self.end_as_due(*key, step);
            }
        }
        self.state.losing = true;
        for key in &lost {
            self.end_job(*key, Outcome::Failed, step);
        }
        self.state.losing = false;
        !lost.is_empty()
    }

    /// The event of machines with these processors.
    pub(super) fn machine_event(
        &self,
        kind: EventKind,
        cause: EventCause,
        machines: &ProcSet,
        now: Time,
    ) -> EventRecord {
        let (procs, machines) = (self.state.processors_of(machines).len(), machines.clone());
        EventRecord { machines, procs, ..self.state.event(now, kind, cause) }
    }

    /// Ends jobs on these processors whose end is due but has not been handled yet.
    fn end_due(&mut self, procs: &ProcSet, step: &mut Step<'_>) {
        for key in self.state.running_on(procs) {
            if self.state.table.get(key).is_some_and(|job| job.end <= step.now) {
                self.end_as_due(key, step);
            }
        }
    }

    /// Handles a running job whose machine goes down, or a suspended one that loses what it has written there, or one whose attempt fails by itself. Jobs that are to be queued again are added to `again`.
    pub(super) fn handle_failure(
        &mut self,
        key: JobKey,
        cause: EventCause,
        step: &mut Step<'_>,
        again: &mut Vec<JobKey>,
    ) {
        if cause != EventCause::TaskFailed && self.suspend_again(key, step) {
            return;
        }
        let settings = &self.state.settings;
        let by_itself = cause == EventCause::TaskFailed;
        let why = if by_itself || cause == EventCause::SiteLeft { cause } else { EventCause::MachineLeft };
        let Some(job) = self.state.table.get_mut(key) else { return };
        let ours = job.job.grid.is_none();
        let is_part = job.is_part();
        let on_failure = match settings.on_failure {
            // Its other parts cannot wait for it.
            _ if is_part => FailureAction::Fail,
            _ if by_itself && job.fail_by_itself() => FailureAction::Fail,
            _ if by_itself => FailureAction::Resubmit,
            FailureAction::Resubmit if ours => FailureAction::Requeue,
            // It would be requeued here, and waiting grid jobs return to the broker.
            FailureAction::Requeue if !ours && cause == EventCause::SiteLeft && settings.return_queued => {
                FailureAction::Resubmit
            }
            on_failure => on_failure,
        };
        let on_failure = match on_failure {
            FailureAction::Requeue if settings.attempts.is_some_and(|most| job.attempts >= most) => {
                FailureAction::Fail
            }
            on_failure => on_failure,
        };
        // One that has not begun, because it waits for machines to wake up, has lost nothing: it waits again.
        let on_failure = match on_failure {
            FailureAction::Wait | FailureAction::Fail if job.since > step.now && !is_part => {
                FailureAction::Requeue
            }
            // There is nothing on processors that could stand still.
            FailureAction::Wait if job.phase == Phase::Suspended => FailureAction::Requeue,
            // Its reservation would not wait for the machine.
            FailureAction::Wait if job.claims => FailureAction::Requeue,
            on_failure => on_failure,
        };
        let is_suspended = job.phase == Phase::Suspended;
        let site_pays = settings.failed_attempts == Payer::Site && !by_itself;
        let (placement, share) = (job.allocation.procs.clone(), job.allocation.share);
        let held = if is_suspended { job.given } else { job.held };
        self.state.settle(key, step);
        let has_run = self.state.table.get(key).is_some_and(LiveJob::has_run);
        let has_begun = !self.state.forget_begin(key, step.now) || has_run;
        if !has_begun {
            self.state.forget_attempt(key);
        }
        if on_failure == FailureAction::Wait {
            self.state.stall(key, step);
        } else if !is_suspended {
            self.state.vacate(&placement, held, share, step);
        }
        if !self.state.suspended.remove(&key) {
            self.state.running -= 1;
        }
        self.notify(Change::Ended(key), step.now);
        self.leave_reservation(key, step);
        let Some(job) = self.state.table.get_mut(key) else { return };
        (job.expected_end, job.end, job.rate) = (Time::NEVER, Time::NEVER, Rate::ZERO);
        if site_pays && on_failure != FailureAction::Wait {
            job.cost = Money::ZERO;
        }
        let mut wasted = 0;
        let kind = match on_failure {
            FailureAction::Wait => {
                job.phase = Phase::Stalled;
                EventKind::Stalled
            }
            FailureAction::Fail => {
                wasted = job.proc_time - job.past.as_ref().map_or(0, |past| past.overhead);
                EventKind::Failed
            }
            FailureAction::Requeue | FailureAction::Resubmit => {
                job.phase = Phase::Ineligible;
                job.allocation.procs = ProcSet::new();
                (job.held, job.leaving) = (0, 0);
                if has_begun {
                    wasted = self.state.close_attempt(key, false, step.now);
                }
                self.state.account_until(step.now);
                let requeued = on_failure == FailureAction::Requeue;
                if requeued { EventKind::Requeued } else { EventKind::Returned }
            }
        };
        if let Some(job) = self.state.table.get(key).filter(|_| has_begun || kind == EventKind::Returned) {
            let event = self.state.job_event(step.now, kind, why, job, held);
            step.record(EventRecord { wasted, ..event });
        }
        match on_failure {
            FailureAction::Wait => {}
            FailureAction::Fail => self.state.finish(key, Outcome::Failed, step),
            FailureAction::Requeue => again.push(key),
            FailureAction::Resubmit => step.exits.extend(self.state.give_up(key, why)),
        }
    }

    /// The whole site drains: waiting jobs of the grid return to the broker, if they would when it leaves.
    pub fn return_waiting(&mut self, step: &mut Step<'_>) {
        if self.state.settings.return_queued {
            self.return_queued(EventCause::SiteDrains, step);
        }
    }

    /// Returns grid jobs that do not run yet to the broker.
    fn return_queued(&mut self, why: EventCause, step: &mut Step<'_>) {
        let waits = |phase| matches!(phase, Phase::Waiting | Phase::Starting | Phase::Ineligible);
        for key in self.state.keys(|job| waits(job.phase) && job.job.grid.is_some()) {
            if let Some(job) = self.state.table.get(key) {
                step.record(self.state.job_event(step.now, EventKind::Returned, why, job, job.procs));
                let exit = self.take_out(key, why, step);
                step.exits.extend(exit);
            }
        }
    }

    /// Makes waiting jobs ineligible that need more processors than the capacity.
    pub(super) fn withdraw_too_large(&mut self, now: Time) {
        let capacity = self.state.capacity;
        let waiting = self.state.keys(|job| job.phase == Phase::Waiting && job.procs > capacity);
        for key in &waiting {
            self.notify(Change::Withdrawn(*key), now);
            if let Some(job) = self.state.table.get_mut(*key) {
                job.phase = Phase::Ineligible;
                let area = job.area();
                self.state.leaves_queue(area);
            }
        }
        // A moldable job may fit on the remaining processors.
        for key in waiting {
            self.enqueue(key, now);
        }
    }

    /// Queues ineligible jobs again for which the capacity is large enough now.
    pub(super) fn requeue_fitting(&mut self, now: Time) {
        for key in self.state.take_fitting() {
            self.enqueue(key, now);
        }
    }

    /// Puts a job that is in no queue at the end of this one, or makes it ineligible if it is larger than the capacity.
    pub(super) fn enqueue(&mut self, key: JobKey, now: Time) {
        let state = &mut self.state;
        let Some(job) = state.table.get_mut(key) else { return };
        job.seq = state.next_seq;
        state.next_seq += 1;
        if state.rejoin_queue(key, now) {
            self.notify(Change::Arrived(key), now);
        }
    }
}
