//! Operations on the reservation book of a partition.

use super::Partition;
use crate::agreement::Wanted;
use crate::local::{BookError, Booking, Change, Slot, SlotRequest, Step};
use crate::model::{BookingRefusal, JobRef, Origin, Reservation, ReservationRequest};
use crate::units::Time;

impl Partition {
    /// Ends the reservations that are over. Returns true if there were any.
    pub fn end_bookings(&mut self, step: &mut Step<'_>) -> bool {
        let changed = self.is_booking_due(step.now) && {
            let claims = self.end_claims(step);
            self.state.end_bookings(step) | claims
        };
        if changed {
            self.notify(Change::Reserved, step.now);
        }
        changed
    }

    /// Begins the reservations that are due; those that are over must have been ended. Returns true if there were any.
    pub fn begin_bookings(&mut self, step: &mut Step<'_>) -> bool {
        let changed = self.is_booking_due(step.now) && self.state.begin_bookings(step);
        if changed {
            self.notify(Change::Reserved, step.now);
        }
        changed
    }

    /// Ends the reservations that are over, then begins those that are due. Returns true if there were any.
    #[inline]
    pub fn follow_book(&mut self, step: &mut Step<'_>) -> bool {
        self.is_booking_due(step.now) && (self.end_bookings(step) | self.begin_bookings(step))
    }

    #[inline]
    fn is_booking_due(&self, now: Time) -> bool {
        self.state.book.next_change().is_some_and(|due| due <= now)
    }

    /// Holds processors in the book, which are planned around from now on; see [`crate::local::Book::hold`].
    ///
    /// # Errors
    /// [`BookError`] if the name belongs to another reservation or the time is past.
    pub fn hold(&mut self, wanted: &Reservation, lease: Time, now: Time) -> Result<(), BookError> {
        let procs = self.state.spec.rounded(wanted.procs);
        if procs == 0 || procs > self.state.spec.most() {
            return Err(BookError::NoRoom(wanted.name.clone()));
        }
        let by = wanted.claimed_by(self.state.settings.site);
        self.state.book.hold(wanted, procs, by, lease, now)?;
        self.notify(Change::Reserved, now);
        Ok(())
    }

    /// Up to the requested number of intervals of starts, earliest first, as the policy plans.
    pub fn offers(&self, request: &SlotRequest, now: Time) -> Vec<Slot> {
        self.policy.offers(&self.view(now), request)
    }

    /// Up to the requested number of intervals of starts at which no more than `most` processors are reserved.
    pub fn offers_under(&self, most: u32, request: &SlotRequest) -> Vec<Slot> {
        self.state.book.slots_under(most, request)
    }

    /// Whether the grid may reserve processors here: the policy keeps reservations, and no machine sleeps, which would be late.
    pub fn takes_reservations(&self) -> bool {
        self.state.abilities.keeps_reservations && self.state.settings.sleep.is_empty()
    }

    /// The most processors that are reserved at once from `from` until `to`.
    pub fn most_reserved(&self, from: Time, to: Time) -> u32 {
        self.state.book.most_reserved(from, to)
    }

    /// When the jobs that wait now would have been served, if what is reserved before then is taken from them: a policy that guarantees starts offers
    /// nothing that it has promised.
    pub fn busy_until(&self, now: Time) -> Time {
        if self.waiting() == 0 || self.state.abilities.guarantees_starts {
            return now;
        }
        let estimates = self.start_estimates(now);
        estimates.start(self.present()).map_or(now, |start| start.max(now))
    }

    /// Reserves processors for a job of the grid, which has not come yet.
    ///
    /// # Errors
    /// [`BookError`] if the job has another reservation, or the time is past.
    pub fn reserve_for(&mut self, name: &str, wanted: &Wanted, now: Time) -> Result<(), BookError> {
        let Wanted { from, to, procs, job, .. } = *wanted;
        let booked = Reservation { name: name.to_owned(), start: from, end: to, procs, job: None };
        let procs = self.state.spec.rounded(procs);
        // Who has asked sees to it that it is given up in time.
        self.state.book.hold(&booked, procs, Some(job), Time::NEVER, now)?;
        self.state.book.commit(name, now)?;
        self.notify(Change::Reserved, now);
        Ok(())
    }

    /// Reserves processors as early in their window as the policy plans room for them.
    ///
    /// # Errors
    /// Why that cannot be done; nothing changes then.
    pub fn reserve(&mut self, wanted: &ReservationRequest, now: Time) -> Result<Reservation, BookingRefusal> {
        let ReservationRequest { name, procs, length, job, .. } = wanted;
        let (from, until) = wanted.window(now);
        if !self.state.abilities.keeps_reservations {
            return Err(BookingRefusal::KeepsNone);
        }
        let procs = self.state.spec.rounded(*procs);
        let earliest = from.max(now);
        if length.is_zero() || until.since(earliest) < *length {
            return Err(BookingRefusal::TooLate);
        }
        let latest = earliest + (until.since(earliest) - *length);
        if self.state.book.query(name).is_some() {
            return Err(BookingRefusal::NameTaken);
        }
        if procs == 0 || procs > self.state.spec.most() {
            return Err(BookingRefusal::NoRoom);
        }
        let request = SlotRequest { procs, duration: *length, earliest, latest, alternatives: 1 };
        let start = self.offers(&request, now).first().ok_or(BookingRefusal::NoRoom)?.start;
        let booked = Reservation { name: name.clone(), start, end: start + *length, procs, job: *job };
        let taken = self.hold(&booked, Time::NEVER, now).and_then(|()| self.commit(name, now));
        taken.map_err(|error| match error {
            BookError::Claimed(_) => BookingRefusal::JobReserved,
            BookError::Taken(_) => BookingRefusal::NameTaken,
            _ => BookingRefusal::NoRoom,
        })?;
        Ok(booked)
    }

    /// Whether there is a reservation of this name that is not the grid's, whose books the broker keeps.
    pub fn has_own_reservation(&self, name: &str) -> bool {
        let of_grid =
            |booking: &Booking| booking.claim.is_some_and(|claim| claim.by.origin() == Origin::Grid);
        self.state.book.query(name).is_some_and(|booking| !of_grid(booking))
    }

    /// Whether a reservation is for this job.
    pub fn has_reserved_for(&self, job: JobRef) -> bool {
        self.state.book.of(job).is_some()
    }

    /// Gives up a reservation whose job has not come. False if there is none under the name.
    pub fn give_up_reservation(&mut self, name: &str, step: &mut Step<'_>) -> bool {
        let gone = self.take_out_booking(name, step);
        if gone {
            self.wake_at(step.now);
        }
        gone
    }

    /// Commits what is held; see [`crate::local::Book::commit`].
    ///
    /// # Errors
    /// [`BookError`] if nothing is held under the name.
    pub fn commit(&mut self, name: &str, now: Time) -> Result<(), BookError> {
        self.state.book.commit(name, now)
    }

    /// Releases a reservation, whether or not it has begun. A job that it was kept for goes on like any other, or queues. False if there is none under the name.
    pub fn release(&mut self, name: &str, step: &mut Step<'_>) -> bool {
        let claim = self.state.book.query(name).and_then(|booking| booking.claim);
        if let Some((key, started)) = claim.and_then(|claim| Some((claim.job?, claim.started))) {
            self.go_on_without(key, started, step);
            return true;
        }
        self.take_out_booking(name, step)
    }

    pub(super) fn take_out_booking(&mut self, name: &str, step: &mut Step<'_>) -> bool {
        self.state.settle_missing(step.now);
        let Some(gone) = self.state.book.release(name) else { return false };
        self.state.give_back(&gone.taken, step);
        self.notify(Change::Reserved, step.now);
        true
    }
}
