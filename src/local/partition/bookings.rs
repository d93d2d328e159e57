//! Operations on the reservation book of a partition.

use super::Partition;
use crate::local::{BookError, Change, Step};
use crate::model::Reservation;
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
