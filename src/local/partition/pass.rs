//! The scheduling pass: asks the policy for actions, checks each of them, and carries it out.

use super::Partition;
use crate::local::error::{PartitionError, Violation};
use crate::local::policy::{Action, Change, Place};
use crate::local::table::Phase;
use crate::local::{Exit, View};
use crate::model::{
    EventCause, EventKind, EventRecord, InstantOrder, JobKey, Outcome, ProcSet, Record, RecordSink,
    RejectReason,
};
use crate::units::{Rate, Span, Time, Work};

impl Partition {
    /// One scheduling pass. Exits of jobs that the policy killed or rejected are added to `ended`.
    ///
    /// # Errors
    /// [`PartitionError`] if the policy requests an action that cannot be carried out.
    pub fn pass(
        &mut self,
        now: Time,
        sink: &mut dyn RecordSink,
        ended: &mut Vec<Exit>,
    ) -> Result<(), PartitionError> {
        let mut actions = std::mem::take(&mut self.actions);
        actions.begin(now);
        self.policy.schedule(&View { state: &self.state, now }, &mut actions);
        self.state.tally.passes += 1;
        self.wake = actions.wake;
        if self.wake.is_some_and(|wake| wake <= now) {
            return Err(self.blame(now, "wake".to_owned(), Violation::WakeNotLater));
        }
        let mut shared = std::mem::take(&mut self.state.resumed);
        for action in actions.list.drain(..) {
            self.apply(action, now, sink, ended, &mut shared)?;
        }
        self.check_shares(&shared, now)?;
        self.is_decided = actions.trace.is_some();
        self.actions = actions;
        self.state.tally.longest_queue = self.state.tally.longest_queue.max(self.state.waiting);
        Ok(())
    }

    /// Under one pass per event: carries out the starts decided in the passes of this instant. A start for which processors are
    /// lacking by now, because machines have gone down since or a reservation is owed some, is cancelled: the job joins the queue
    /// anew, and there is a pass for it in the next round.
    ///
    /// # Errors
    /// [`PartitionError`] if the policy requested an action that cannot be carried out.
    pub fn end_instant(&mut self, now: Time, sink: &mut dyn RecordSink) -> Result<(), PartitionError> {
        self.state.ending = 0;
        let mut shared = ProcSet::new();
        let mut again = Vec::new();
        for action in std::mem::take(&mut self.late) {
            let Action::Start { job, place, share } = action else { continue };
            let Some(live) = self.state.table.get_mut(job).filter(|live| live.phase == Phase::Starting)
            else {
                continue;
            };
            let held = live.held;
            self.state.deferred -= held;
            if held > self.state.unused {
                self.tell(Change::Ended(job), now);
                again.push(job);
                continue;
            }
            live.phase = Phase::Waiting;
            let area = live.area();
            self.state.joins_queue(area);
            self.start(job, place, share, now, sink, &mut shared)?;
        }
        for key in again {
            if let Some(live) = self.state.table.get_mut(key) {
                live.held = 0;
            }
            self.enqueue(key, now);
            self.wake = Some(now);
        }
        Ok(())
    }

    fn apply(
        &mut self,
        action: Action,
        now: Time,
        sink: &mut dyn RecordSink,
        ended: &mut Vec<Exit>,
        shared: &mut ProcSet,
    ) -> Result<(), PartitionError> {
        match action {
            Action::Start { job, place, share } if self.state.settings.order == InstantOrder::Event => {
                self.defer(job, place, share, now)
            }
            Action::Start { job, place, share } => self.start(job, place, share, now, sink, shared),
            Action::Suspend { job } => self.suspend(job, now, sink),
            Action::Resume { job, place, share } => self.resume(job, place, share, now, sink, shared),
            Action::Resize { job, place } => self.resize(job, place, now, sink, shared),
            Action::SetShare { job, share } => self.set_share(job, share, now, sink, shared),
            Action::Kill { job } => {
                self.expect(job, "kill", now, &[Phase::Running, Phase::Suspended])?;
                ended.extend(self.end_job(job, Outcome::Failed, now, sink));
                Ok(())
            }
            Action::Reject { job } => {
                self.expect(job, "reject", now, &[Phase::Waiting])?;
                ended.extend(self.reject(job, RejectReason::Policy, now, sink));
                Ok(())
            }
        }
    }

    fn start(
        &mut self,
        key: JobKey,
        place: Place,
        share: Rate,
        now: Time,
        sink: &mut dyn RecordSink,
        shared: &mut ProcSet,
    ) -> Result<(), PartitionError> {
        self.expect(key, "start", now, &[Phase::Waiting])?;
        let place = self.checked(key, "start", now, |state, live| {
            state.check_share(share)?;
            state.place(live, place)
        })?;
        let Some(live) = self.state.table.get_mut(key) else { return Ok(()) };
        live.first_start.get_or_insert(now);
        live.attempts += 1;
        let (area, expected, has_past) = (live.area(), live.estimated, live.past.is_some());
        self.state.leaves_queue(area);
        self.state.running += 1;
        if has_past {
            self.begin_attempt(key, &place, now, sink);
        }
        self.put(key, place, share, now, sink, shared)?;
        if has_past || !self.state.slow.is_empty() {
            self.tell_moved(key, expected, now);
        }
        Ok(())
    }

    /// For a job with earlier attempts: plans its checkpoints for the machines that it really has, and records how long it has
    /// not run since its last attempt failed.
    fn begin_attempt(&mut self, key: JobKey, place: &ProcSet, now: Time, sink: &mut dyn RecordSink) {
        let machines = self.state.machines_under(place);
        let Some(live) = self.state.table.get_mut(key) else { return };
        live.plan(&self.state.settings, machines);
        let lost_at = live.past.as_mut().and_then(|past| past.lost_at.take());
        if let (Some(lost_at), Some(live)) = (lost_at, self.state.table.get(key)) {
            let (procs, since_lost) = (place.len(), Some(now.since(lost_at)));
            let event = self.state.job_event(now, EventKind::Continued, EventCause::None, live, procs);
            sink.record(Record::Event(EventRecord { since_lost, ..event }));
        }
    }

    /// Notifies the policy if a job that it has just put on processors is expected to end at another time than work up to
    /// `expected` takes on machines that are not slowed down.
    fn tell_moved(&mut self, key: JobKey, expected: Work, now: Time) {
        let Some(live) = self.state.table.get(key) else { return };
        let span = (expected - live.done).span_at(live.unhindered(self.state.spec.speed));
        let end = span.and_then(|span| now.checked_add(span)).unwrap_or(Time::NEVER);
        let from = end.max(now + Span::TICK);
        if from != live.expected_end {
            self.tell(Change::Moved { job: key, from }, now);
        }
    }

    /// Decides a start that takes effect at the end of the instant.
    fn defer(&mut self, key: JobKey, place: Place, share: Rate, now: Time) -> Result<(), PartitionError> {
        self.expect(key, "start", now, &[Phase::Waiting])?;
        let count = self.checked(key, "start", now, |state, live| {
            // It is not known yet which processors will be free at the end of the instant.
            let Place::Any(count) = place else {
                return Err(Violation::NotDeclared("chooses processors by number"));
            };
            state.check_size(live, count)?;
            let free = state.free_count();
            if count > free { Err(Violation::NotEnough { needed: count, free }) } else { Ok(count) }
        })?;
        if let Some(live) = self.state.table.get_mut(key) {
            live.phase = Phase::Starting;
            live.held = count;
            let area = live.area();
            self.state.leaves_queue(area);
        }
        self.state.deferred += count;
        self.late.push(Action::Start { job: key, place, share });
        Ok(())
    }

    fn suspend(&mut self, key: JobKey, now: Time, sink: &mut dyn RecordSink) -> Result<(), PartitionError> {
        self.declared(key, "suspend", now, self.state.abilities.preempts, "suspends jobs")?;
        self.expect(key, "suspend", now, &[Phase::Running])?;
        self.state.settle(key, now, sink);
        if let Some(live) = self.state.table.get_mut(key) {
            live.phase = Phase::Suspended;
            live.expected_end = Time::NEVER;
            self.state.running -= 1;
            let (place, held, share) = (live.place.clone(), live.held, live.share);
            live.held = 0;
            self.state.vacate(&place, held, share, sink, now);
        }
        Ok(())
    }

    fn resume(
        &mut self,
        key: JobKey,
        place: Place,
        share: Rate,
        now: Time,
        sink: &mut dyn RecordSink,
        shared: &mut ProcSet,
    ) -> Result<(), PartitionError> {
        self.expect(key, "resume", now, &[Phase::Suspended])?;
        let same = self.state.abilities.same_processors;
        let place = self.checked(key, "resume", now, |state, live| {
            state.check_share(share)?;
            let place = state.place(live, place)?;
            if same && !(place.contains_all(&live.place) && live.place.contains_all(&place)) {
                return Err(Violation::OtherProcessors);
            }
            if !live.job.size.is_malleable() && place.len() != live.given {
                return Err(Violation::BadSize(place.len()));
            }
            Ok(place)
        })?;
        self.state.running += 1;
        self.put(key, place, share, now, sink, shared)?;
        let expected = self.state.table.get(key).map_or(Work::ZERO, |live| live.estimated);
        self.tell_moved(key, expected, now);
        Ok(())
    }

    fn resize(
        &mut self,
        key: JobKey,
        place: Place,
        now: Time,
        sink: &mut dyn RecordSink,
        shared: &mut ProcSet,
    ) -> Result<(), PartitionError> {
        self.declared(key, "resize", now, self.state.abilities.resizes, "resizes jobs")?;
        self.expect(key, "resize", now, &[Phase::Running])?;
        self.checked(key, "resize", now, |_, live| {
            if live.job.size.is_malleable() { Ok(()) } else { Err(Violation::NotMalleable) }
        })?;
        self.state.settle(key, now, sink);
        let Some(live) = self.state.table.get_mut(key) else { return Ok(()) };
        let (old, held, share) = (std::mem::take(&mut live.place), live.held, live.share);
        self.state.vacate(&old, held, share, sink, now);
        let place = self.checked(key, "resize", now, |state, live| state.place(live, place))?;
        self.put(key, place, share, now, sink, shared)
    }

    fn set_share(
        &mut self,
        key: JobKey,
        share: Rate,
        now: Time,
        sink: &mut dyn RecordSink,
        shared: &mut ProcSet,
    ) -> Result<(), PartitionError> {
        self.expect(key, "set the share of", now, &[Phase::Running])?;
        self.checked(key, "set the share of", now, |state, _| state.check_share(share))?;
        self.state.settle(key, now, sink);
        let Some(live) = self.state.table.get_mut(key) else { return Ok(()) };
        let old = std::mem::replace(&mut live.share, share);
        for proc in live.place.iter() {
            if let Some(load) = self.state.load.get_mut(proc as usize) {
                load.share = load.share + share.units() as u32 - old.units() as u32;
            }
        }
        shared.insert_all(&live.place);
        self.state.set_rate(key, now)
    }

    /// Puts a job on free processors with a share.
    fn put(
        &mut self,
        key: JobKey,
        place: ProcSet,
        share: Rate,
        now: Time,
        sink: &mut dyn RecordSink,
        shared: &mut ProcSet,
    ) -> Result<(), PartitionError> {
        let count = place.len();
        self.state.occupy(&place, count, share, sink, now);
        if self.state.multiprogramming_level > 1 {
            shared.insert_all(&place);
        }
        if let Some(live) = self.state.table.get_mut(key) {
            live.phase = Phase::Running;
            live.place = place;
            live.held = count;
            live.given = count;
            live.share = share;
        }
        self.state.set_rate(key, now)
    }
}
