//! Jobs that reservations are kept for.
//!
//! Such a job does not queue: its policy is not notified of it, and plans around its reservation as around any other. It starts on the processors of the
//! reservation as soon as that has all of them, and when it leaves them, the reservation is given up. One that still runs when the reservation ends, because it
//! has overrun its estimate or its machines are slow, goes on like any other job. One that its reservation is too small or too short for queues like any other.

use super::Partition;
use super::pass::Checked;
use crate::local::{Change, LiveJob, Step};
use crate::model::{
    EventCause, EventKind, JobKey, JobRef, MachineState, Origin, Outcome, Reservation, SiteId,
};
use crate::units::Rate;

impl Reservation {
    /// The job that it is kept for, of the site's own users.
    pub(super) fn claimed_by(&self, site: SiteId) -> Option<JobRef> {
        self.job.map(|job| JobRef::new(Origin::Local, site, job))
    }
}

impl Partition {
    /// Gives up the reservation of a job that is refused.
    pub(super) fn forfeit(&mut self, job: &LiveJob, step: &mut Step<'_>) {
        let booking = self.state.book.of(self.state.job_ref(job));
        let waits = booking.filter(|booking| booking.claim.is_some_and(|claim| claim.job.is_none()));
        if let Some(name) = waits.map(|booking| booking.name.clone()) {
            self.take_out_booking(&name, step);
            // Others may start, though nobody has come.
            self.wake_at(step.now);
        }
    }

    /// Whether an arriving job gets the processors of a reservation, which must be large and long enough. One that is not is given up.
    pub(super) fn claims(&mut self, job: &LiveJob, step: &mut Step<'_>) -> bool {
        if !self.state.book.has_claims() {
            return false;
        }
        let Some(booking) = self.state.book.of(self.state.job_ref(job)) else { return false };
        if booking.claim.is_some_and(|claim| claim.job.is_some()) {
            // The number is that of another job that came before.
            return false;
        }
        let (starts, name) = (booking.start.max(step.now), booking.name.clone());
        let fits = job.procs <= booking.procs
            && starts + job.estimate <= booking.end
            && job.requested_start().is_none_or(|requested| requested <= starts);
        if !fits {
            self.take_out_booking(&name, step);
        }
        fits
    }

    /// A job is here that a reservation is kept for.
    pub(super) fn claim(&mut self, key: JobKey) {
        let Some(live) = self.state.table.get_mut(key) else { return };
        live.claims = true;
        let job = self.state.table.get(key).map(|live| self.state.job_ref(live));
        let booking = job.and_then(|job| self.state.book.of_mut(job));
        if let Some(claim) = booking.and_then(|booking| booking.claim.as_mut()) {
            claim.job = Some(key);
        }
    }

    /// Starts the jobs whose reservations have the processors that they need.
    pub(super) fn start_claimed(&mut self, step: &mut Step<'_>) -> Checked {
        let procs = |job: JobKey| self.state.table.get(job).map_or(u32::MAX, |live| live.procs);
        let ready: Vec<JobKey> = self.state.book.ready(procs).collect();
        for key in ready {
            self.start_on_reservation(key, step)?;
        }
        Ok(())
    }

    /// Ends the jobs of the grid whose reservations have begun and which could not start there. True if there were any.
    pub fn miss_starts(&mut self, step: &mut Step<'_>) -> bool {
        if !self.state.book.has_claims() {
            return false;
        }
        let missed = self.state.book.waits_since(step.now);
        for key in &missed {
            self.fail_part(*key, EventCause::Missed, step);
        }
        !missed.is_empty()
    }

    /// Ends a job of the grid, by its number at the portal, since another part of it has failed. False if there is none.
    pub fn abort(&mut self, number: u64, step: &mut Step<'_>) -> bool {
        let key = self.state.numbers.of_portal(number, &self.state.table);
        if let Some(key) = key {
            self.fail_part(key, EventCause::PartFailed, step);
        }
        key.is_some()
    }

    fn fail_part(&mut self, key: JobKey, cause: EventCause, step: &mut Step<'_>) {
        if self.state.table.get(key).is_some_and(|live| live.end <= step.now) {
            return self.end_as_due(key, step);
        }
        if let Some(job) = self.state.table.get(key) {
            let procs = job.held_or_requested();
            step.record(self.state.job_event(step.now, EventKind::Failed, cause, job, procs));
        }
        self.end_job(key, Outcome::Failed, step);
    }

    fn start_on_reservation(&mut self, key: JobKey, step: &mut Step<'_>) -> Checked {
        self.state.settle_missing(step.now);
        let Some(live) = self.state.table.get(key) else { return Ok(()) };
        let (job, procs) = (self.state.job_ref(live), live.procs);
        let estimate = live.estimate;
        let Some(booking) = self.state.book.of(job) else { return Ok(()) };
        let Some(placement) = booking.taken.lowest(procs) else { return Ok(()) };
        // It may have waited for processors, and its machines may have to wake up.
        let sleepers = self.state.sleepers.as_ref();
        let roused = sleepers.and_then(|sleepers| sleepers.roused_at(&placement, step.now));
        let begin = roused.unwrap_or(step.now);
        if begin + estimate > booking.end {
            if self.state.table.get(key).is_some_and(LiveJob::is_part) {
                self.fail_part(key, EventCause::Missed, step);
                return Ok(());
            }
            self.leave_reservation(key, step);
            self.enqueue(key, step.now);
            return Ok(());
        }
        let Some(booking) = self.state.book.of_mut(job) else { return Ok(()) };
        booking.taken.remove_all(&placement);
        // It lacks nothing that the job needs.
        booking.owed = 0;
        booking.claim.iter_mut().for_each(|claim| claim.started = true);
        // Nobody else gets them in between.
        self.state.give_free(&placement, procs, step.now);
        self.state.count_left(&placement);
        if begin > step.now {
            // It is busy when the job begins.
            self.state.machines(&placement, MachineState::Idle, step);
        }
        self.begin(key, placement, Rate::FULL, step)
    }

    /// A job leaves its reservation, because it has ended, has lost a machine or is cancelled: the reservation is given up. The job is still where it was.
    pub(super) fn leave_reservation(&mut self, key: JobKey, step: &mut Step<'_>) {
        let Some(live) = self.state.table.get_mut(key).filter(|live| live.claims) else { return };
        live.claims = false;
        let name = self.state.table.get(key).and_then(|live| {
            let booking = self.state.book.of(self.state.job_ref(live))?;
            Some(booking.name.clone())
        });
        if let Some(name) = name {
            self.take_out_booking(&name, step);
        }
    }

    /// Jobs whose reservations are over at this instant are jobs like any other from now on: those that run are made known to the policy, and those that never got
    /// their processors queue. True if there were any.
    pub(super) fn end_claims(&mut self, step: &mut Step<'_>) -> bool {
        let over = self.state.book.claims_over(step.now);
        for (key, started) in &over {
            let (key, started) = (*key, *started);
            let Some(live) = self.state.table.get(key) else { continue };
            if started && live.end <= step.now {
                self.end_as_due(key, step);
                continue;
            }
            self.go_on_without(key, started, step);
        }
        !over.is_empty()
    }

    /// A job has no reservation any more: it goes on where it runs, or queues.
    pub(super) fn go_on_without(&mut self, key: JobKey, started: bool, step: &mut Step<'_>) {
        self.leave_reservation(key, step);
        if started {
            self.notify(Change::Continued(key), step.now);
        } else {
            self.enqueue(key, step.now);
        }
    }

    /// Whether the policy has not been notified of the job, because it has a reservation.
    pub(super) fn is_hidden(&self, change: Change) -> bool {
        match change {
            Change::Ended(job)
            | Change::Moved { job, .. }
            | Change::Suspended(job)
            | Change::Continued(job) => self.state.table.get(job).is_some_and(|live| live.claims),
            _ => false,
        }
    }
}
