//! The reservation book of a partition.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};
use thiserror::Error;

use super::profile::slots;
use super::{Profile, Slot, SlotRequest};
use crate::model::{JobKey, JobRef, Origin, ProcSet, Reservation};
use crate::units::{Span, Time};

/// The state of a reservation.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub enum BookingState {
    /// Held until the lease expires.
    Held {
        /// First instant at which the hold has expired.
        lease: Time,
    },
    /// Committed: it stays without a lease.
    Committed,
    /// It has begun.
    Active,
}

/// A reservation in the book.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Booking {
    /// Name, unique among the reservations of the partition that have not ended.
    pub name: String,
    /// First instant of the reservation.
    pub start: Time,
    /// First instant after it.
    pub end: Time,
    /// Processors reserved, in whole blocks.
    pub procs: u32,
    /// Its state.
    pub state: BookingState,
    /// Processors that it holds, once begun.
    pub taken: ProcSet,
    /// Processors that it should hold by now and does not, because a job overran or machines went down.
    pub owed: u32,
    /// Whether it has ever lacked processors.
    pub short: bool,
    /// The job that it is for, if it is for one.
    pub claim: Option<Claim>,
}

/// The claim of a job on a reservation: no other gets its processors, and it runs on them and on no others.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Claim {
    /// The job.
    pub by: JobRef,
    /// The same, once it is here.
    pub(super) job: Option<JobKey>,
    /// Whether it has started on the processors of the reservation.
    pub started: bool,
}

/// Why the book refuses a request.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum BookError {
    /// The name belongs to another reservation.
    #[error("the name `{0}` belongs to another reservation")]
    Taken(String),
    /// Nothing is held under the name, or its lease has expired.
    #[error("there is no reservation `{0}`; its lease may have expired")]
    NotHeld(String),
    /// It requests no processors, or more than there are.
    #[error("`{0}` requests no processors, or more than there are")]
    NoRoom(String),
    /// Another reservation is for the same job.
    #[error("`{0}` is for a job that has another reservation")]
    Claimed(String),
    /// It ends before it begins, or it is over.
    #[error("`{0}` is not in the future")]
    NotInFuture(String),
}

/// All reservations of a partition that have not ended, with the operations hold (under a lease), commit and release, each
/// idempotent by name, so that a repeated message does no harm (two-phase, as in GARA). Whether enough processors are free is
/// asked before, through the policy's offers.
///
/// Names and what is due next are found in a logarithm of their number; one more or less moves the later steps of what is reserved. It is saved as the list of
/// bookings.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(from = "Vec<Booking>", into = "Vec<Booking>")]
pub struct Book {
    /// In order of start, then name.
    bookings: BTreeMap<Key, Booking>,
    /// The start of the booking of each name.
    starts: BTreeMap<String, Time>,
    /// The booking of each job that has one.
    claims: BTreeMap<JobRef, Key>,
    /// When each booking next expires, begins or ends.
    due: BTreeSet<(Time, Key)>,
    /// How often a booking has been added, or taken out before its end.
    changes: u64,
    /// The latest start of one that has begun.
    begun: Time,
    /// Processors that are reserved, by time.
    reserved: Reserved,
}

/// A step function of processors that are reserved.
#[derive(Clone, Debug)]
struct Reserved(Profile);

impl Default for Reserved {
    fn default() -> Self {
        Self(Profile::new(Time::ZERO, 0))
    }
}

/// Start and name of a booking.
type Key = (Time, String);

impl Booking {
    fn key(&self) -> Key {
        (self.start, self.name.clone())
    }

    /// When it next expires, begins or ends.
    fn due(&self) -> Time {
        match self.state {
            BookingState::Held { lease } => lease.min(self.start),
            BookingState::Committed => self.start,
            BookingState::Active => self.end,
        }
    }

    /// True if it is over at `now`: it has ended, or was held and not committed in time.
    fn is_over(&self, now: Time) -> bool {
        match self.state {
            BookingState::Held { lease } => lease.min(self.start) <= now,
            BookingState::Committed | BookingState::Active => self.end <= now,
        }
    }
}

impl PartialEq for Book {
    fn eq(&self, other: &Self) -> bool {
        self.bookings == other.bookings
    }
}

impl Eq for Book {}

impl From<Vec<Booking>> for Book {
    fn from(bookings: Vec<Booking>) -> Self {
        let mut book = Self::default();
        bookings.into_iter().for_each(|booking| book.insert(booking));
        book.changes = 0;
        let active = book.iter().filter(|booking| booking.state == BookingState::Active);
        book.begun = active.map(|booking| booking.start).max().unwrap_or_default();
        book
    }
}

impl From<Book> for Vec<Booking> {
    fn from(book: Book) -> Self {
        book.bookings.into_values().collect()
    }
}

impl Book {
    /// Holds processors, for a job if one is named, until `lease` expires. Holding the same reservation again renews the lease.
    ///
    /// # Errors
    /// [`BookError`] if the name belongs to another reservation, the job has another, or the time is past.
    pub fn hold(
        &mut self,
        wanted: &Reservation,
        procs: u32,
        by: Option<JobRef>,
        lease: Time,
        now: Time,
    ) -> Result<(), BookError> {
        if wanted.end <= wanted.start || wanted.start < now || lease <= now {
            return Err(BookError::NotInFuture(wanted.name.clone()));
        }
        if let Some(booking) = self.query(&wanted.name) {
            let same = (booking.start, booking.end, booking.procs) == (wanted.start, wanted.end, procs);
            if !same || booking.claim.map(|claim| claim.by) != by {
                return Err(BookError::Taken(wanted.name.clone()));
            }
            if matches!(booking.state, BookingState::Held { .. }) {
                self.set_state(booking.key(), BookingState::Held { lease });
            }
            return Ok(());
        }
        if by.is_some_and(|job| self.claims.contains_key(&job)) {
            return Err(BookError::Claimed(wanted.name.clone()));
        }
        self.insert(Booking {
            name: wanted.name.clone(),
            start: wanted.start,
            end: wanted.end,
            procs,
            state: BookingState::Held { lease },
            taken: ProcSet::new(),
            owed: 0,
            short: false,
            claim: by.map(|by| Claim { by, job: None, started: false }),
        });
        Ok(())
    }

    /// Commits what is held. Committing twice has the effect of committing once.
    ///
    /// # Errors
    /// [`BookError::NotHeld`] if nothing is held under the name at `now`; a lease that expires at `now` has expired.
    pub fn commit(&mut self, name: &str, now: Time) -> Result<(), BookError> {
        let not_held = || BookError::NotHeld(name.to_owned());
        let booking = self.query(name).ok_or_else(not_held)?;
        match booking.state {
            BookingState::Held { lease } if lease <= now => Err(not_held()),
            BookingState::Held { .. } => {
                self.set_state(booking.key(), BookingState::Committed);
                Ok(())
            }
            BookingState::Committed | BookingState::Active => Ok(()),
        }
    }

    /// Removes a reservation in any state; `None` if there is none under the name.
    pub fn release(&mut self, name: &str) -> Option<Booking> {
        let start = *self.starts.get(name)?;
        self.changes += 1;
        self.remove(&(start, name.to_owned()))
    }

    /// The reservation under a name.
    pub fn query(&self, name: &str) -> Option<&Booking> {
        let start = *self.starts.get(name)?;
        self.bookings.get(&(start, name.to_owned()))
    }

    /// The reservation that is for a job.
    pub fn of(&self, job: JobRef) -> Option<&Booking> {
        self.bookings.get(self.claims.get(&job)?)
    }

    /// All reservations that have not ended, in order of start.
    pub fn iter(&self) -> impl Iterator<Item = &Booking> {
        self.bookings.values()
    }

    /// Those that begin before `to`, in order of start.
    pub fn before(&self, to: Time) -> impl Iterator<Item = &Booking> {
        self.bookings.range(..(to, String::new())).map(|(_, booking)| booking)
    }

    /// Processors that are reserved, by time.
    pub(super) fn reserved(&self) -> &Profile {
        &self.reserved.0
    }

    /// The most processors that are reserved at once from `from` until `to`.
    pub fn most_reserved(&self, from: Time, to: Time) -> u32 {
        let during = self.reserved.0.steps_from(from).take_while(|(time, _)| *time < to);
        during.map(|(_, reserved)| u32::try_from(reserved).unwrap_or(0)).max().unwrap_or(0)
    }

    /// Up to the requested number of intervals of starts at which no more than `most` processors are reserved.
    pub(super) fn slots_under(&self, most: u32, request: &SlotRequest) -> Vec<Slot> {
        let reserved = self.reserved.0.steps_from(request.earliest);
        slots(reserved.map(|(time, reserved)| (time, i64::from(most) - i64::from(reserved))), request)
    }

    /// Jobs of the grid that are here, and whose reservations have begun by `now` without them.
    pub(super) fn waits_since(&self, now: Time) -> Vec<JobKey> {
        let waits = |booking: &Booking| {
            let claim = booking.claim.filter(|claim| !claim.started && claim.by.origin() == Origin::Grid)?;
            claim.job.filter(|_| booking.start <= now)
        };
        self.active().filter_map(waits).collect()
    }

    /// True if there is none.
    pub fn is_empty(&self) -> bool {
        self.bookings.is_empty()
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.bookings.len()
    }

    /// Changes whenever a reservation is added, or taken out before its end: a plan that was made around the book is valid as long as it stays
    /// the same. It is not saved.
    pub fn changes(&self) -> u64 {
        self.changes
    }

    /// The next instant at which a lease expires or a reservation begins or ends.
    #[inline]
    pub fn next_change(&self) -> Option<Time> {
        self.due.first().map(|(due, _)| *due)
    }

    /// Removes what is over at `now`: reservations that have ended, and holds that were not committed in time. In order of start.
    pub(super) fn expire(&mut self, now: Time) -> Vec<Booking> {
        let due = self.due.iter().take_while(|(due, _)| *due <= now).map(|(_, key)| key);
        let is_over = |key: &&Key| self.bookings.get(*key).is_some_and(|booking| booking.is_over(now));
        let mut keys: Vec<Key> = due.filter(is_over).cloned().collect();
        keys.sort_unstable();
        let over: Vec<Booking> = keys.iter().filter_map(|key| self.remove(key)).collect();
        self.changes += over.iter().filter(|booking| booking.end > now).count() as u64;
        over
    }

    /// Begins what is committed and due at `now`: it is owed its processors. True if there was any.
    pub(super) fn begin(&mut self, now: Time) -> bool {
        let due = self.due.iter().take_while(|(due, _)| *due <= now).map(|(_, key)| key);
        let begins = |key: &&Key| {
            self.bookings.get(*key).is_some_and(|booking| booking.state == BookingState::Committed)
        };
        let keys: Vec<Key> = due.filter(begins).cloned().collect();
        let any = !keys.is_empty();
        for key in keys {
            self.begun = self.begun.max(key.0);
            if let Some(booking) = self.bookings.get_mut(&key) {
                booking.owed = booking.procs;
            }
            self.set_state(key, BookingState::Active);
        }
        any
    }

    /// The reservation that is for a job, to claim it or to take its processors.
    pub(super) fn of_mut(&mut self, job: JobRef) -> Option<&mut Booking> {
        self.bookings.get_mut(self.claims.get(&job)?)
    }

    /// True if a reservation is for a job.
    #[inline]
    pub fn has_claims(&self) -> bool {
        !self.claims.is_empty()
    }

    /// The jobs that are here and whose reservations are over at `now`, in order of start, and whether they have started there.
    pub(super) fn claims_over(&self, now: Time) -> Vec<(JobKey, bool)> {
        if !self.has_claims() {
            return Vec::new();
        }
        let due = self.due.iter().take_while(|(due, _)| *due <= now).map(|(_, key)| key);
        let over = due.filter_map(|key| self.bookings.get(key)).filter(|booking| booking.is_over(now));
        let mut claims: Vec<(&Booking, JobKey, bool)> =
            over.filter_map(|booking| Some((booking, booking.claim?.job?, booking.claim?.started))).collect();
        claims.sort_unstable_by_key(|(booking, ..)| (booking.start, &booking.name));
        claims.into_iter().map(|(_, job, started)| (job, started)).collect()
    }

    /// Jobs that are here and whose reservations have as many processors as they need, but which have not started on them.
    pub(super) fn ready(&self, needs: impl Fn(JobKey) -> u32) -> impl Iterator<Item = JobKey> {
        let waits = |booking: &Booking| booking.claim.filter(|claim| !claim.started)?.job;
        let waiting = self.active().filter_map(move |booking| Some((booking, waits(booking)?)));
        waiting.filter(move |(booking, job)| needs(*job) <= booking.taken.len()).map(|(_, job)| job)
    }

    /// Reservations that have begun, in order of start.
    pub(super) fn active(&self) -> impl Iterator<Item = &Booking> {
        let so_far = self.before(self.begun + Span::TICK);
        so_far.filter(|booking| booking.state == BookingState::Active)
    }

    /// The same, to give them processors or take them.
    pub(super) fn active_mut(&mut self) -> impl Iterator<Item = &mut Booking> {
        let so_far = self.bookings.range_mut(..(self.begun + Span::TICK, String::new()));
        so_far.map(|(_, booking)| booking).filter(|booking| booking.state == BookingState::Active)
    }

    /// True if a reservation that has begun lacks processors.
    #[inline]
    pub(super) fn owes(&self) -> bool {
        !self.bookings.is_empty() && self.active().any(|booking| booking.owed > 0)
    }

    fn insert(&mut self, booking: Booking) {
        self.changes += 1;
        self.starts.insert(booking.name.clone(), booking.start);
        if let Some(claim) = booking.claim {
            self.claims.insert(claim.by, booking.key());
        }
        self.due.insert((booking.due(), booking.key()));
        self.reserved.0.release(booking.start, booking.end, booking.procs);
        self.bookings.insert(booking.key(), booking);
    }

    fn remove(&mut self, key: &Key) -> Option<Booking> {
        let gone = self.bookings.remove(key)?;
        self.reserved.0.reserve(gone.start, gone.end, gone.procs);
        self.starts.remove(&gone.name);
        if let Some(claim) = gone.claim {
            self.claims.remove(&claim.by);
        }
        self.due.remove(&(gone.due(), gone.key()));
        Some(gone)
    }

    fn set_state(&mut self, key: Key, state: BookingState) {
        let Some(booking) = self.bookings.get_mut(&key) else { return };
        let before = booking.due();
        booking.state = state;
        let after = booking.due();
        let mut entry = (before, key);
        self.due.remove(&entry);
        entry.0 = after;
        self.due.insert(entry);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wanted(name: &str, start: u64, end: u64) -> Reservation {
        Reservation {
            name: name.to_owned(),
            start: Time::from_secs(start),
            end: Time::from_secs(end),
            procs: 4,
            job: None,
        }
    }

    #[test]
    fn a_lease_that_expires_at_t_is_gone_before_a_commit_at_t() {
        let mut book = Book::default();
        book.hold(&wanted("a", 100, 200), 4, None, Time::from_secs(10), Time::ZERO).unwrap();
        assert_eq!(book.next_change(), Some(Time::from_secs(10)));
        assert_eq!(book.commit("a", Time::from_secs(10)), Err(BookError::NotHeld("a".to_owned())));
        assert_eq!(book.expire(Time::from_secs(10)).len(), 1);
        assert!(book.query("a").is_none());
    }

    #[test]
    fn every_step_is_idempotent_by_name() {
        let mut book = Book::default();
        let a = wanted("a", 100, 200);
        book.hold(&a, 4, None, Time::from_secs(10), Time::ZERO).unwrap();
        book.hold(&a, 4, None, Time::from_secs(20), Time::from_secs(5)).unwrap();
        book.commit("a", Time::from_secs(15)).unwrap();
        book.commit("a", Time::from_secs(16)).unwrap();
        assert_eq!(book.len(), 1);
        assert_eq!(book.next_change(), Some(Time::from_secs(100)));
        let other = wanted("a", 100, 300);
        assert_eq!(
            book.hold(&other, 4, None, Time::from_secs(20), Time::from_secs(5)),
            Err(BookError::Taken("a".to_owned()))
        );
        assert!(book.release("a").is_some());
        assert!(book.release("a").is_none());
    }

    #[test]
    fn the_past_is_not_booked() {
        let mut book = Book::default();
        let late = book.hold(&wanted("a", 5, 9), 4, None, Time::from_secs(20), Time::from_secs(6));
        assert_eq!(late, Err(BookError::NotInFuture("a".to_owned())));
    }
}
