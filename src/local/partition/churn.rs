//! Churn in a partition: machines that go down, come up and slow down, and the effects on jobs.

use super::Partition;
use crate::local::error::PartitionError;
use crate::local::policy::Change;
use crate::local::table::{Exit, Phase};
use crate::model::{
    EventCause, EventKind, EventRecord, FailureAction, JobKey, MachineState, Outcome, Payer, ProcSet, Record,
    RecordSink,
};
use crate::units::{Money, Rate, Time};

impl Partition {
    /// Marks machines as down from the beginning, beside those that the description says are absent.
    pub fn absent(&mut self, machines: &ProcSet) {
        let state = &mut self.state;
        let procs = state.processors_of(&state.machines_that(machines, false));
        state.remove_processors(&procs, &mut Vec::new(), Time::ZERO);
        state.recount();
    }

    /// Machines go down, with the jobs that run on them: the [`FailureAction`] applies to these. With [`EventCause::SiteLeft`]
    /// the whole site goes down, and waiting grid jobs return to the broker if the settings say so. Exits from the partition are
    /// added to `gone`. Machines that are already down, or do not exist, change nothing.
    ///
    /// The policy is notified first of the jobs that fail ([`Change::Ended`]), then of the smaller capacity
    /// ([`Change::Left`]), then of waiting jobs that become ineligible or return, then of those that wait again.
    pub fn leave(
        &mut self,
        machines: &ProcSet,
        cause: EventCause,
        now: Time,
        sink: &mut dyn RecordSink,
        gone: &mut Vec<Exit>,
    ) {
        self.tell_away(now, sink);
        let leaving = self.state.machines_that(machines, false);
        let before = self.state.capacity;
        let mut again = Vec::new();
        if !leaving.is_empty() {
            let procs = self.state.processors_of(&leaving);
            self.end_due(&procs, now, sink, gone);
            self.state.settle_missing(now);
            self.machine_event(EventKind::Left, cause, &leaving, procs.len(), now, sink);
            let lost = self.state.remove_processors(&procs, sink, now);
            for key in self.state.running_on(&lost) {
                self.lose(key, cause, now, sink, gone, &mut again);
            }
            self.state.fill_bookings(sink, now);
            self.state.count_short(now);
            self.state.recount();
        }
        if self.state.capacity != before {
            self.tell(Change::Left, now);
        }
        if cause == EventCause::SiteLeft && self.state.settings.return_queued {
            self.return_queued(now, sink, gone);
        }
        if self.state.capacity < before {
            self.step_aside(now);
        }
        for key in again {
            self.enqueue(key, now);
        }
    }

    /// Machines come up: jobs that were stalled for them continue, and ineligible jobs that now fit join the queue again.
    /// Machines that are already up, or do not exist, change nothing.
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
        now: Time,
        sink: &mut dyn RecordSink,
    ) -> Result<(), PartitionError> {
        self.tell_away(now, sink);
        let joining = self.state.machines_that(machines, true);
        if joining.is_empty() {
            return Ok(());
        }
        let before = self.state.capacity;
        let procs = self.state.processors_of(&joining);
        self.state.settle_missing(now);
        self.machine_event(EventKind::Joined, cause, &joining, procs.len(), now, sink);
        self.state.add_processors(&procs, sink, now);
        let mut ready: Vec<(u64, JobKey)> = Vec::new();
        if self.state.halted > 0 {
            let here = &self.state.here;
            let whole = self.state.table.iter().filter(|(_, job)| job.phase == Phase::Stalled);
            let whole = whole.filter(|(_, job)| here.contains_all(&job.place));
            ready.extend(whole.map(|(key, job)| (job.seq, key)));
            ready.sort_unstable();
        }
        for (_, key) in &ready {
            self.state.unhalt(*key, sink, now);
            self.state.set_rate(*key, now)?;
            if let Some(job) = self.state.table.get(*key) {
                let event = self.state.job_event(now, EventKind::Continued, cause, job, job.held);
                sink.record(Record::Event(event));
            }
        }
        self.state.recount();
        self.state.fill_bookings(sink, now);
        if self.state.capacity != before {
            self.tell(Change::Joined, now);
        }
        for (_, key) in ready {
            self.tell(Change::Continued(key), now);
        }
        self.step_back(now);
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
        now: Time,
        sink: &mut dyn RecordSink,
    ) -> Result<(), PartitionError> {
        let state = &mut self.state;
        let factor_of = |machine: &u32| state.slow.get(machine).copied().unwrap_or(Rate::FULL);
        let others = machines.iter().filter(|machine| *machine < state.spec.machines);
        let slowed: ProcSet = others.filter(|machine| factor_of(machine) != factor).collect();
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
        self.machine_event(EventKind::Slowed, cause, &slowed, procs.len(), now, sink);
        for job in self.state.running_on(&procs) {
            let Some(live) = self.state.table.get(job) else { continue };
            let (from, rate) = (live.expected_end, self.state.rate_of(live));
            // A job that ends at this very instant has done its work.
            if live.end <= now || rate == live.rate {
                continue;
            }
            self.state.settle(job, now, sink);
            self.state.set_rate(job, now)?;
            if self.state.table.get(job).is_some_and(|live| live.expected_end != from) {
                self.tell(Change::Moved { job, from }, now);
            }
        }
        Ok(())
    }

    /// Records, once, which machines are down from the beginning.
    pub(super) fn tell_away(&mut self, now: Time, sink: &mut dyn RecordSink) {
        if !std::mem::replace(&mut self.state.told_away, true) {
            self.state.machines(&self.state.down, MachineState::Down, sink, now);
        }
    }

    fn machine_event(
        &self,
        kind: EventKind,
        cause: EventCause,
        machines: &ProcSet,
        procs: u32,
        now: Time,
        sink: &mut dyn RecordSink,
    ) {
        let machines = machines.clone();
        sink.record(Record::Event(EventRecord { machines, procs, ..self.state.event(now, kind, cause) }));
    }

    /// Ends jobs on these processors whose end is due but has not been handled yet.
    fn end_due(&mut self, procs: &ProcSet, now: Time, sink: &mut dyn RecordSink, gone: &mut Vec<Exit>) {
        for key in self.state.running_on(procs) {
            if self.state.table.get(key).is_some_and(|job| job.end <= now) {
                let outcome = self.own_end(key);
                gone.extend(self.end_job(key, outcome, now, sink));
            }
        }
    }

    /// Handles a running job whose machine goes down.
    fn lose(
        &mut self,
        key: JobKey,
        cause: EventCause,
        now: Time,
        sink: &mut dyn RecordSink,
        gone: &mut Vec<Exit>,
        again: &mut Vec<JobKey>,
    ) {
        let settings = &self.state.settings;
        let why = if cause == EventCause::SiteLeft { cause } else { EventCause::MachineLeft };
        let Some(job) = self.state.table.get(key) else { return };
        let ours = job.job.grid.is_none();
        let on_failure = match settings.on_failure {
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
        let site_pays = settings.failed_attempts == Payer::Site;
        let (place, held, share) = (job.place.clone(), job.held, job.share);
        self.state.settle(key, now, sink);
        if on_failure == FailureAction::Wait {
            self.state.halt(key, sink, now);
        } else {
            self.state.vacate(&place, held, share, sink, now);
        }
        self.state.running -= 1;
        self.tell(Change::Ended(key), now);
        let Some(job) = self.state.table.get_mut(key) else { return };
        job.expected_end = Time::NEVER;
        job.end = Time::NEVER;
        job.rate = Rate::ZERO;
        let (kind, lost) = match on_failure {
            FailureAction::Wait => {
                job.phase = Phase::Stalled;
                (EventKind::Stalled, 0)
            }
            FailureAction::Fail => {
                if site_pays {
                    job.cost = Money::ZERO;
                }
                (EventKind::Failed, job.proc_time - job.past.as_ref().map_or(0, |past| past.overhead))
            }
            FailureAction::Requeue | FailureAction::Resubmit => {
                job.phase = Phase::Ineligible;
                job.place = ProcSet::new();
                job.held = 0;
                let lost = self.state.lose_attempt(key, now);
                (
                    if on_failure == FailureAction::Requeue {
                        EventKind::Requeued
                    } else {
                        EventKind::Returned
                    },
                    lost,
                )
            }
        };
        if let Some(job) = self.state.table.get(key) {
            let event = EventRecord { lost, ..self.state.job_event(now, kind, why, job, held) };
            sink.record(Record::Event(event));
        }
        match on_failure {
            FailureAction::Wait => {}
            FailureAction::Fail => gone.extend(self.state.finish(key, Outcome::Failed, now, sink)),
            FailureAction::Requeue => again.push(key),
            FailureAction::Resubmit => gone.extend(self.state.give_up(key, why)),
        }
    }

    /// Returns grid jobs that do not run yet to the broker.
    fn return_queued(&mut self, now: Time, sink: &mut dyn RecordSink, gone: &mut Vec<Exit>) {
        let waits = |phase| matches!(phase, Phase::Waiting | Phase::Starting | Phase::Ineligible);
        let table = self.state.table.iter();
        let queued = table.filter(|(_, job)| waits(job.phase) && job.job.grid.is_some());
        let mut queued: Vec<(u64, JobKey)> = queued.map(|(key, job)| (job.seq, key)).collect();
        queued.sort_unstable();
        for (_, key) in queued {
            if let Some(job) = self.state.table.get(key) {
                let why = EventCause::SiteLeft;
                let event = self.state.job_event(now, EventKind::Returned, why, job, job.procs);
                sink.record(Record::Event(event));
                gone.extend(self.take_out(key, why, now));
            }
        }
    }

    /// Makes waiting jobs ineligible that need more processors than the capacity.
    fn step_aside(&mut self, now: Time) {
        let too_large = |phase, procs| phase == Phase::Waiting && procs > self.state.capacity;
        let waiting = self.state.table.iter().filter(|(_, job)| too_large(job.phase, job.procs));
        let mut waiting: Vec<(u64, JobKey)> = waiting.map(|(key, job)| (job.seq, key)).collect();
        waiting.sort_unstable();
        for (_, key) in &waiting {
            self.tell(Change::Withdrawn(*key), now);
            if let Some(job) = self.state.table.get_mut(*key) {
                job.phase = Phase::Ineligible;
                let area = job.area();
                self.state.leaves_queue(area);
            }
        }
        // A moldable job may fit on the remaining processors.
        for (_, key) in waiting {
            self.enqueue(key, now);
        }
    }

    /// Queues ineligible jobs again for which the capacity is large enough now.
    pub(super) fn step_back(&mut self, now: Time) {
        for key in std::mem::take(&mut self.state.aside) {
            let state = &mut self.state;
            let enough = |job: &super::LiveJob| state.spec.rounded(job.job.size.min()) <= state.capacity;
            if state.table.get(key).is_some_and(enough) {
                self.enqueue(key, now);
            } else {
                state.aside.push(key);
            }
        }
    }

    /// Puts a job that is in no queue at the end of this one, or makes it ineligible if it is larger than the capacity.
    pub(super) fn enqueue(&mut self, key: JobKey, now: Time) {
        let state = &mut self.state;
        let Some(job) = state.table.get_mut(key) else { return };
        job.seq = state.next_seq;
        state.next_seq += 1;
        job.prepare(&state.spec, &state.settings, state.capacity);
        if state.agenda.known(key).is_some() {
            state.ask_as_told(key);
        }
        let Some(job) = state.table.get_mut(key) else { return };
        if let Some(start) = job.early(state.abilities.dedicated, now) {
            job.phase = Phase::Ineligible;
            state.agenda.keep_back(start, job.seq, key);
        } else if job.procs > state.capacity {
            job.phase = Phase::Ineligible;
            state.aside.push(key);
        } else {
            job.phase = Phase::Waiting;
            let area = job.area();
            state.joins_queue(area);
            self.tell(Change::Arrived(key), now);
        }
    }
}
