//! Jobs that arrive at a partition, and those that leave without having run.

use super::Partition;
use crate::local::{Change, Exit, ExitKind, LiveJob, Phase, Step};
use crate::model::{EventCause, EventKind, Job, JobKey, Origin, Outcome, RejectReason};
use crate::units::Time;

impl Partition {
    /// Admits an arriving job: it joins the queue; or it is ineligible until enough machines are up or its requested start has
    /// come (if the policy does not support dedicated jobs); or it is refused at once: then a job of the site's own users ends as
    /// rejected, and a grid job returns to the broker. True if it was not refused.
    pub fn arrive(&mut self, job: Job, origin: Origin, step: &mut Step<'_>) -> bool {
        let (state, now) = (&mut self.state, step.now);
        let malformed = job.check().is_err();
        let mut live = LiveJob::new(job, origin, state.next_seq, now);
        let least = live.prepare(&state.spec, &state.settings, state.capacity);
        let refused = if malformed {
            Some(RejectReason::Malformed)
        } else if least > state.spec.most() {
            Some(RejectReason::TooLarge)
        } else {
            let needs = live.job.needs();
            let unfit =
                needs.filter(|needs| !state.spec.meets(live.procs, needs)).map(|_| RejectReason::Unfit);
            unfit.or_else(|| state.refused_for_limits(&live, now))
        };
        let overdue = live.job.killed_at().filter(|_| refused.is_none());
        state.next_seq += 1;
        state.tally.arrived += 1;
        state.account_from(now);
        let is_overdue = overdue.is_some_and(|deadline| deadline <= now);
        let is_refused = refused.is_some() || is_overdue;
        if is_refused {
            self.forfeit(&live, step);
        }
        let claims = !is_refused && self.claims(&live, step);
        // What was reserved for it is too small or too short, because machines are slower than they were.
        let is_lost = !is_refused && !claims && live.is_part();
        let state = &mut self.state;
        let early = live.early(state.abilities.dedicated, now).filter(|_| refused.is_none() && !claims);
        let ineligible = live.procs > state.capacity
            || refused.is_some()
            || early.is_some()
            || is_overdue
            || claims
            || is_lost;
        if ineligible {
            live.phase = Phase::Ineligible;
        } else {
            state.joins_queue(live.area());
        }
        let elastic =
            live.job.elastic.is_some() || live.job.grid.as_ref().is_some_and(|grid| grid.commands > 0);
        let id = live.job.id;
        let key = state.add(live);
        if let Some(deadline) = overdue {
            state.agenda.end_at(deadline, id, key);
        }
        if elastic {
            state.register_commands(key);
        }
        if !ineligible {
            self.notify(Change::Arrived(key), now);
        } else if is_overdue {
            // It was on its way when its deadline came.
            if let Some(job) = self.state.table.get(key) {
                step.record(self.state.job_event(now, EventKind::Overdue, EventCause::None, job, job.procs));
            }
            self.state.finish(key, Outcome::Cancelled, step);
            return false;
        } else if claims {
            self.claim(key);
        } else if is_lost {
            self.turn_away(key, EventCause::Lapsed, step);
            return false;
        } else if early.is_some() {
            state.make_ineligible(key, early);
        } else if let Some(reason) = refused {
            self.reject(key, reason, step);
            return false;
        } else {
            self.state.make_ineligible(key, None);
        }
        true
    }

    /// Refuses a job that does not run; the policy need not be notified.
    pub(super) fn reject(&mut self, key: JobKey, reason: RejectReason, step: &mut Step<'_>) {
        let Some(job) = self.state.table.get(key) else { return };
        if job.job.grid.is_none() {
            return self.state.finish(key, Outcome::Rejected(reason), step);
        }
        self.turn_away(key, EventCause::Refused(reason), step);
    }

    /// Returns a job of the grid that does not run.
    fn turn_away(&mut self, key: JobKey, why: EventCause, step: &mut Step<'_>) {
        let Some(job) = self.state.table.get(key) else { return };
        step.record(self.state.job_event(step.now, EventKind::Refused, why, job, job.procs));
        step.exits.extend(self.state.give_up(key, why));
    }

    /// Refuses jobs that need more processors than a power cap leaves that has come or changed since they arrived.
    pub(super) fn refuse_too_large(&mut self, step: &mut Step<'_>) {
        for key in self.state.ineligible.larger_than(self.state.spec.most()) {
            self.state.forget_ineligible(key);
            self.reject(key, RejectReason::TooLarge, step);
        }
    }

    /// The number of the assignment of a grid job that is here, by its number at the portal.
    pub fn assignment(&mut self, number: u64) -> Option<u32> {
        let key = self.state.numbers.of_portal(number, &self.state.table)?;
        self.state.table.get(key).map(LiveJob::assignment)
    }

    /// Returns a waiting grid job to the broker, by its number at the portal. `None` if no waiting job has it.
    pub fn withdraw(&mut self, number: u64, step: &mut Step<'_>) -> Option<Box<Job>> {
        let key = self.state.numbers.of_portal(number, &self.state.table)?;
        let phase = self.state.table.get(key)?.phase;
        if !matches!(phase, Phase::Waiting | Phase::Ineligible) {
            return None;
        }
        match self.take_out(key, EventCause::Replanned, step)?.how {
            ExitKind::Returned { job, .. } => Some(job),
            ExitKind::Ended(_) => None,
        }
    }

    /// Removes a grid job that does not run.
    pub(super) fn take_out(&mut self, key: JobKey, why: EventCause, step: &mut Step<'_>) -> Option<Exit> {
        match self.state.table.get(key)?.phase {
            Phase::Waiting => self.notify(Change::Withdrawn(key), step.now),
            Phase::Starting => {
                self.forget_start(key);
                self.notify(Change::Ended(key), step.now);
            }
            _ => self.state.forget_ineligible(key),
        }
        self.leave_reservation(key, step);
        self.state.give_up(key, why)
    }

    /// Queues the next of the jobs that were kept back and whose start has come, as an arriving job. False if there is none.
    #[inline]
    pub fn arrive_early(&mut self, now: Time) -> bool {
        self.state.agenda.early() > 0 && self.arrive_next_early(now)
    }

    fn arrive_next_early(&mut self, now: Time) -> bool {
        let Some(key) = self.state.take_due(now) else { return false };
        self.enqueue(key, now);
        true
    }

    /// True if a job is ineligible because it requests a later start.
    pub(super) fn is_early(&self, key: JobKey) -> bool {
        self.state.table.get(key).is_some_and(|job| self.state.agenda.keeps_back(key, job))
    }
}
