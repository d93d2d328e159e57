//! Jobs that arrive at a partition, and those that leave without having run.

use super::Partition;
use crate::local::{Change, Exit, ExitKind, LiveJob, Phase};
use crate::model::{EventCause, EventKind, Job, JobKey, Origin, Outcome, Record, RecordSink, RejectReason};
use crate::units::Time;

/// The result of a job's arrival.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Admission {
    /// The partition has taken the job: it waits.
    Taken,
    /// The job was refused: it ended as rejected, or returns to the broker.
    ExitKind(Exit),
}

impl Partition {
    /// Admits an arriving job: it joins the queue; or it is ineligible until enough machines are up or its requested start has
    /// come (if the policy does not support dedicated jobs); or it is refused at once: then a job of the site's own users ends as
    /// rejected, and a grid job returns to the broker.
    pub fn arrive(&mut self, job: Job, origin: Origin, now: Time, sink: &mut dyn RecordSink) -> Admission {
        let state = &mut self.state;
        let malformed = job.check().is_err();
        let mut live = LiveJob::new(job, origin, state.next_seq, now);
        let least = live.prepare(&state.spec, &state.settings, state.capacity);
        let refused = if malformed {
            Some(RejectReason::Malformed)
        } else {
            (least > state.spec.usable()).then_some(RejectReason::TooLarge)
        };
        state.next_seq += 1;
        state.tally.arrived += 1;
        state.account_from(now);
        let early = live.early(state.abilities.dedicated, now).filter(|_| refused.is_none());
        let aside = live.procs > state.capacity || refused.is_some() || early.is_some();
        if aside {
            live.phase = Phase::Ineligible;
        } else {
            state.joins_queue(live.area());
        }
        let seq = live.seq;
        let elastic =
            live.job.elastic.is_some() || live.job.grid.as_ref().is_some_and(|grid| grid.commands > 0);
        let key = state.table.insert(live);
        if elastic {
            state.meet_commands(key);
        }
        if !aside {
            self.tell(Change::Arrived(key), now);
            return Admission::Taken;
        }
        if let Some(start) = early {
            state.agenda.keep_back(start, seq, key);
            return Admission::Taken;
        }
        if let Some(reason) = refused {
            return match self.reject(key, reason, now, sink) {
                Some(gone) => Admission::ExitKind(gone),
                None => Admission::Taken,
            };
        }
        self.tell_away(now, sink);
        self.state.aside.push(key);
        Admission::Taken
    }

    /// Refuses a job that does not run; the policy need not be notified.
    pub(super) fn reject(
        &mut self,
        key: JobKey,
        reason: RejectReason,
        now: Time,
        sink: &mut dyn RecordSink,
    ) -> Option<Exit> {
        let job = self.state.table.get(key)?;
        if job.job.grid.is_none() {
            return self.state.finish(key, Outcome::Rejected(reason), now, sink);
        }
        let why = EventCause::Refused(reason);
        let event = self.state.job_event(now, EventKind::Refused, why, job, job.procs);
        sink.record(Record::Event(event));
        self.state.give_up(key, why)
    }

    /// Returns a waiting grid job to the broker, by its number at the portal. `None` if no waiting job has it.
    pub fn withdraw(&mut self, number: u64, now: Time) -> Option<Box<Job>> {
        let waits = |phase| matches!(phase, Phase::Waiting | Phase::Ineligible);
        let wanted = |job: &LiveJob| waits(job.phase) && job.number() == Some(number);
        let key = self.state.table.iter().find(|(_, job)| wanted(job))?.0;
        match self.take_out(key, EventCause::Replanned, now)?.how {
            ExitKind::Returned { job, .. } => Some(job),
            ExitKind::Ended(_) => None,
        }
    }

    /// Removes a grid job that does not run.
    pub(super) fn take_out(&mut self, key: JobKey, why: EventCause, now: Time) -> Option<Exit> {
        match self.state.table.get(key)?.phase {
            Phase::Waiting => self.tell(Change::Withdrawn(key), now),
            Phase::Starting => {
                self.forget_start(key);
                self.tell(Change::Ended(key), now);
            }
            _ => self.state.stand_by(key),
        }
        self.state.give_up(key, why)
    }

    /// Queues the next of the jobs that were kept back and whose start has come, as an arriving job. False if there is none.
    #[inline]
    pub fn arrive_early(&mut self, now: Time) -> bool {
        self.state.agenda.early().len() > 0 && self.arrive_next_early(now)
    }

    fn arrive_next_early(&mut self, now: Time) -> bool {
        let Some(key) = self.state.agenda.take_due(now) else { return false };
        self.enqueue(key, now);
        true
    }

    /// True if a job is ineligible because it requests a later start.
    pub(super) fn is_early(&self, key: JobKey) -> bool {
        let kept = |job: &LiveJob| job.phase == Phase::Ineligible && !self.state.aside.contains(&key);
        self.state.table.get(key).is_some_and(kept)
    }
}
