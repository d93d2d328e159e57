//! The reservation book of a partition.

use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::model::{ProcSet, Reservation};
use crate::units::Time;

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
    /// It ends before it begins, or it is over.
    #[error("`{0}` is not in the future")]
    NotInFuture(String),
}

/// All reservations of a partition that have not ended, with the operations hold (under a lease), commit and release, each
/// idempotent by name, so that a repeated message does no harm (two-phase, as in GARA). Whether enough processors are free is
/// asked before, through the policy's offers.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Book {
    /// Reservations that have not ended, in order of start, then name.
    pending: Vec<Booking>,
}

impl Book {
    /// Holds processors until `lease` expires. Holding the same reservation again renews the lease.
    ///
    /// # Errors
    /// [`BookError`] if the name belongs to another reservation or the time is past.
    pub fn hold(
        &mut self,
        wanted: &Reservation,
        procs: u32,
        lease: Time,
        now: Time,
    ) -> Result<(), BookError> {
        if wanted.end <= wanted.start || wanted.start < now || lease <= now {
            return Err(BookError::NotInFuture(wanted.name.clone()));
        }
        if let Some(booking) = self.find(&wanted.name) {
            let same = (booking.start, booking.end, booking.procs) == (wanted.start, wanted.end, procs);
            if !same {
                return Err(BookError::Taken(wanted.name.clone()));
            }
            if let BookingState::Held { lease: old } = &mut booking.state {
                *old = lease;
            }
            return Ok(());
        }
        let booking = Booking {
            name: wanted.name.clone(),
            start: wanted.start,
            end: wanted.end,
            procs,
            state: BookingState::Held { lease },
            taken: ProcSet::new(),
            owed: 0,
            short: false,
        };
        let at =
            self.pending.partition_point(|other| (other.start, &other.name) < (booking.start, &booking.name));
        self.pending.insert(at, booking);
        Ok(())
    }

    /// Commits what is held. Committing twice has the effect of committing once.
    ///
    /// # Errors
    /// [`BookError::NotHeld`] if nothing is held under the name at `now`; a lease that expires at `now` has expired.
    pub fn commit(&mut self, name: &str, now: Time) -> Result<(), BookError> {
        let not_held = || BookError::NotHeld(name.to_owned());
        let booking = self.find(name).ok_or_else(not_held)?;
        match booking.state {
            BookingState::Held { lease } if lease <= now => Err(not_held()),
            BookingState::Held { .. } => {
                booking.state = BookingState::Committed;
                Ok(())
            }
            BookingState::Committed | BookingState::Active => Ok(()),
        }
    }

    /// Removes a reservation in any state; `None` if there is none under the name.
    pub fn release(&mut self, name: &str) -> Option<Booking> {
        let at = self.pending.iter().position(|booking| booking.name == name)?;
        Some(self.pending.remove(at))
    }

    /// The reservation under a name.
    pub fn query(&self, name: &str) -> Option<&Booking> {
        self.pending.iter().find(|booking| booking.name == name)
    }

    /// All reservations that have not ended, in order of start.
    pub fn pending(&self) -> &[Booking] {
        &self.pending
    }

    /// The next instant at which a lease expires or a reservation begins or ends.
    pub fn next_change(&self) -> Option<Time> {
        self.pending
            .iter()
            .map(|booking| match booking.state {
                BookingState::Held { lease } => lease.min(booking.start),
                BookingState::Committed => booking.start,
                BookingState::Active => booking.end,
            })
            .min()
    }

    /// Removes what is over at `now`: reservations that have ended, and holds that were not committed in time.
    pub(super) fn expire(&mut self, now: Time) -> Vec<Booking> {
        let over = |booking: &mut Booking| match booking.state {
            BookingState::Held { lease } => lease.min(booking.start) <= now,
            BookingState::Committed | BookingState::Active => booking.end <= now,
        };
        self.pending.extract_if(.., over).collect()
    }

    /// Reservations that should have processors at `now`.
    pub(super) fn begun(&mut self, now: Time) -> impl Iterator<Item = &mut Booking> {
        self.pending.iter_mut().filter(move |booking| {
            !matches!(booking.state, BookingState::Held { .. }) && booking.start <= now
        })
    }

    fn find(&mut self, name: &str) -> Option<&mut Booking> {
        self.pending.iter_mut().find(|booking| booking.name == name)
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
        }
    }

    #[test]
    fn a_lease_that_expires_at_t_is_gone_before_a_commit_at_t() {
        let mut book = Book::default();
        book.hold(&wanted("a", 100, 200), 4, Time::from_secs(10), Time::ZERO).unwrap();
        assert_eq!(book.next_change(), Some(Time::from_secs(10)));
        assert_eq!(book.commit("a", Time::from_secs(10)), Err(BookError::NotHeld("a".to_owned())));
        assert_eq!(book.expire(Time::from_secs(10)).len(), 1);
        assert!(book.query("a").is_none());
    }

    #[test]
    fn every_step_is_idempotent_by_name() {
        let mut book = Book::default();
        let a = wanted("a", 100, 200);
        book.hold(&a, 4, Time::from_secs(10), Time::ZERO).unwrap();
        book.hold(&a, 4, Time::from_secs(20), Time::from_secs(5)).unwrap();
        book.commit("a", Time::from_secs(15)).unwrap();
        book.commit("a", Time::from_secs(16)).unwrap();
        assert_eq!(book.pending().len(), 1);
        assert_eq!(book.next_change(), Some(Time::from_secs(100)));
        let other = wanted("a", 100, 300);
        assert_eq!(
            book.hold(&other, 4, Time::from_secs(20), Time::from_secs(5)),
            Err(BookError::Taken("a".to_owned()))
        );
        assert!(book.release("a").is_some());
        assert!(book.release("a").is_none());
    }

    #[test]
    fn the_past_is_not_booked() {
        let mut book = Book::default();
        let late = book.hold(&wanted("a", 5, 9), 4, Time::from_secs(20), Time::from_secs(6));
        assert_eq!(late, Err(BookError::NotInFuture("a".to_owned())));
    }
}
