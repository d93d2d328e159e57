//! Machines of a partition that come, go and slow down, and what becomes of the jobs.

use super::error::PartitionError;
use super::partition::Partition;
use super::policy::Change;
use super::table::{Departed, Phase};
use crate::model::{
    EventCause, EventKind, EventRecord, Fate, JobKey, MachineState, Outcome, Payer, ProcSet, Record,
    RecordSink,
};
use crate::units::{Money, Rate, Time};

impl Partition {
    /// Machines that are away before anything has happened, beside those that the description says are absent.
    pub fn absent(&mut self, machines: &ProcSet) {
        let state = &mut self.state;
        let procs = state.processors_of(&state.machines_that(machines, false));
        state.remove_processors(&procs, &mut Vec::new(), Time::ZERO);
        state.recount();
    }

    /// Machines leave, with what runs on them: the jobs meet their [`Fate`]. With [`EventCause::SiteLeft`] the whole site
    /// leaves, and jobs of the grid that wait go back if the settings say so. What leaves the partition is told to `gone`.
    /// Machines that are away already, or that there are not, change nothing.
    ///
    /// The policy is told first of the jobs that are lost ([`Change::Ended`]), then that there is less
    /// ([`Change::Left`]), then of waiting jobs that step aside or go back, then of those that wait again.
    pub fn leave(
        &mut self,
        machines: &ProcSet,
        cause: EventCause,
        now: Time,
        sink: &mut dyn RecordSink,
        gone: &mut Vec<Departed>,
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

    /// Machines come (back): jobs that stood still for them go on, and those that stepped aside wait in the queue again. Machines
    /// that are there already, or that there are not, change nothing.
    ///
    /// The policy is told that there is more ([`Change::Joined`]), then of the jobs that go on
    /// ([`Change::Continued`]), then of those that wait again.
    ///
    /// # Errors
    /// [`PartitionError::EndOfTime`] if a job that goes on would end beyond the time axis.
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
            let whole = self.state.table.iter().filter(|(_, job)| job.phase == Phase::Halted);
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

    /// Machines go on at a fraction of their own speed, until they are told another; [`Rate::FULL`] ends it. A job runs at the
    /// pace of its slowest machine. The policy is told of every job that is expected to end at another time
    /// ([`Change::Moved`]).
    ///
    /// # Errors
    /// [`PartitionError::EndOfTime`] if a job would end beyond the time axis, as it would on a machine that stands still.
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
            // What ends at this very instant has done its work.
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

    /// Records, once, which machines are away from the beginning.
    pub(super) fn tell_away(&mut self, now: Time, sink: &mut dyn RecordSink) {
        if !std::mem::replace(&mut self.state.told_away, true) {
            self.state.machines(&self.state.away, MachineState::Away, sink, now);
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

    /// Ends jobs on these processors whose end has come but has not been handled yet.
    fn end_due(&mut self, procs: &ProcSet, now: Time, sink: &mut dyn RecordSink, gone: &mut Vec<Departed>) {
        for key in self.state.running_on(procs) {
            if self.state.table.get(key).is_some_and(|job| job.end <= now) {
                let outcome = self.own_end(key);
                gone.extend(self.end_job(key, outcome, now, sink));
            }
        }
    }

    /// A running job loses its machine.
    fn lose(
        &mut self,
        key: JobKey,
        cause: EventCause,
        now: Time,
        sink: &mut dyn RecordSink,
        gone: &mut Vec<Departed>,
        again: &mut Vec<JobKey>,
    ) {
        let settings = &self.state.settings;
        let why = if cause == EventCause::SiteLeft { cause } else { EventCause::MachineLeft };
        let Some(job) = self.state.table.get(key) else { return };
        let ours = job.job.grid.is_none();
        let fate = match settings.fate {
            Fate::GiveBack if ours => Fate::Requeue,
            // It would wait here, and those who wait go back.
            Fate::Requeue if !ours && cause == EventCause::SiteLeft && settings.return_queued => {
                Fate::GiveBack
            }
            fate => fate,
        };
        let fate = match fate {
            Fate::Requeue if settings.attempts.is_some_and(|most| job.attempts >= most) => Fate::Fail,
            fate => fate,
        };
        let site_pays = settings.lost_attempts == Payer::Site;
        let (place, held, share) = (job.place.clone(), job.held, job.share);
        self.state.settle(key, now, sink);
        if fate == Fate::Wait {
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
        let (kind, lost) = match fate {
            Fate::Wait => {
                job.phase = Phase::Halted;
                (EventKind::Halted, 0)
            }
            Fate::Fail => {
                if site_pays {
                    job.cost = Money::ZERO;
                }
                (EventKind::Failed, job.proc_time - job.past.as_ref().map_or(0, |past| past.overhead))
            }
            Fate::Requeue | Fate::GiveBack => {
                job.phase = Phase::Aside;
                job.place = ProcSet::new();
                job.held = 0;
                let lost = self.state.lose_attempt(key, now);
                (if fate == Fate::Requeue { EventKind::Requeued } else { EventKind::GivenBack }, lost)
            }
        };
        if let Some(job) = self.state.table.get(key) {
            let event = EventRecord { lost, ..self.state.job_event(now, kind, why, job, held) };
            sink.record(Record::Event(event));
        }
        match fate {
            Fate::Wait => {}
            Fate::Fail => gone.extend(self.state.finish(key, Outcome::Failed, now, sink)),
            Fate::Requeue => again.push(key),
            Fate::GiveBack => gone.extend(self.state.give_up(key, why)),
        }
    }

    /// Jobs of the grid that do not run yet go back.
    fn return_queued(&mut self, now: Time, sink: &mut dyn RecordSink, gone: &mut Vec<Departed>) {
        let waits = |phase| matches!(phase, Phase::Waiting | Phase::Starting | Phase::Aside);
        let table = self.state.table.iter();
        let queued = table.filter(|(_, job)| waits(job.phase) && job.job.grid.is_some());
        let mut queued: Vec<(u64, JobKey)> = queued.map(|(key, job)| (job.seq, key)).collect();
        queued.sort_unstable();
        for (_, key) in queued {
            if let Some(job) = self.state.table.get(key) {
                let why = EventCause::SiteLeft;
                let event = self.state.job_event(now, EventKind::GivenBack, why, job, job.procs);
                sink.record(Record::Event(event));
                gone.extend(self.take_out(key, why, now));
            }
        }
    }

    /// Waiting jobs for which there is not enough step aside.
    fn step_aside(&mut self, now: Time) {
        let too_large = |phase, procs| phase == Phase::Waiting && procs > self.state.capacity;
        let waiting = self.state.table.iter().filter(|(_, job)| too_large(job.phase, job.procs));
        let mut waiting: Vec<(u64, JobKey)> = waiting.map(|(key, job)| (job.seq, key)).collect();
        waiting.sort_unstable();
        for (_, key) in &waiting {
            self.tell(Change::Withdrawn(*key), now);
            if let Some(job) = self.state.table.get_mut(*key) {
                job.phase = Phase::Aside;
                let area = job.area();
                self.state.leaves_queue(area);
            }
        }
        // A moldable job may do with what is there.
        for (_, key) in waiting {
            self.enqueue(key, now);
        }
    }

    /// Jobs that stepped aside and for which there is enough now wait in the queue again.
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

    /// Puts a job that is in no queue at the end of this one, or aside if it is larger than what is there.
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
            job.phase = Phase::Aside;
            state.agenda.keep_back(start, job.seq, key);
        } else if job.procs > state.capacity {
            job.phase = Phase::Aside;
            state.aside.push(key);
        } else {
            job.phase = Phase::Waiting;
            let area = job.area();
            state.joins_queue(area);
            self.tell(Change::Arrived(key), now);
        }
    }
}
