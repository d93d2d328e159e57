//! Operations on the reservation book of a partition.

use super::Partition;
use crate::local::{BookError, Change};
use crate::model::{RecordSink, Reservation};
use crate::units::Time;

impl Partition {
    /// Ends the reservations that are over at `now`. Returns true if there were any.
    pub fn end_bookings(&mut self, now: Time, sink: &mut dyn RecordSink) -> bool {
        let due = self.state.book.next_change().is_some_and(|due| due <= now);
        let changed = due && self.state.end_bookings(now, sink);
        if changed {
            self.tell(Change::Reserved, now);
        }
        changed
    }

    /// Begins the reservations that are due at `now`; those that are over must have been ended. Returns true if there were any.
    pub fn begin_bookings(&mut self, now: Time, sink: &mut dyn RecordSink) -> bool {
        let due = self.state.book.next_change().is_some_and(|due| due <= now);
        let changed = due && self.state.begin_bookings(now, sink);
        if changed {
            self.tell(Change::Reserved, now);
        }
        changed
    }

    /// Ends the reservations that are over at `now`, then begins those that are due. Returns true if there were any.
    #[inline]
    pub fn follow_book(&mut self, now: Time, sink: &mut dyn RecordSink) -> bool {
        let due = self.state.book.next_change().is_some_and(|due| due <= now);
        due && (self.end_bookings(now, sink) | self.begin_bookings(now, sink))
    }

    /// Holds processors in the book, which are planned around from now on; see [`crate::local::Book::hold`].
    ///
    /// # Errors
    /// [`BookError`] if the name belongs to another reservation or the time is past.
    pub fn hold(&mut self, wanted: &Reservation, lease: Time, now: Time) -> Result<(), BookError> {
        let procs = self.state.spec.rounded(wanted.procs);
        if procs == 0 || procs > self.state.spec.usable() {
            return Err(BookError::NoRoom(wanted.name.clone()));
        }
        self.state.book.hold(wanted, procs, lease, now)?;
        self.tell(Change::Reserved, now);
        Ok(())
    }

    /// Commits what is held; see [`crate::local::Book::commit`].
    ///
    /// # Errors
    /// [`BookError`] if nothing is held under the name.
    pub fn commit(&mut self, name: &str, now: Time) -> Result<(), BookError> {
        self.state.book.commit(name, now)
    }

    /// Releases a reservation, whether or not it has begun. False if there is none under the name.
    pub fn release(&mut self, name: &str, now: Time, sink: &mut dyn RecordSink) -> bool {
        self.state.settle_missing(now);
        let Some(gone) = self.state.book.release(name) else { return false };
        self.state.give_back(&gone.taken, sink, now);
        self.tell(Change::Reserved, now);
        true
    }
}
