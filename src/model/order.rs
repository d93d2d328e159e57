//! Orders that a site gets from outside of its workload: for its jobs, and for its reservations.

use serde::{Deserialize, Serialize};

use super::text::words;
use super::{JobAct, JobId, PartitionId, Reservation};
use crate::units::{Span, Time};

/// How the names of reservations begin that the grid makes; no others may.
pub(crate) const OF_GRID: &str = "grid-";

/// An order to a site.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub enum Order {
    /// A job changes.
    Job {
        /// Its number in its workload. If several jobs of the site have it, the one that was submitted first is meant.
        job: JobId,
        /// The change.
        act: JobAct,
    },
    /// Processors are reserved, or are no longer.
    Book(BookAct),
}

/// An order to a site with its time.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlannedOrder {
    /// When it is carried out.
    pub at: Time,
    /// The order.
    pub order: Order,
}

impl PlannedOrder {
    /// Whether this order may lead to a reservation of that partition.
    pub(crate) fn grants(&self, partition: PartitionId, made: &Reservation) -> bool {
        let Order::Book(BookAct::Reserve(wanted)) = &self.order else { return false };
        let (from, until) = wanted.window(self.at);
        wanted.partition == partition
            && (&wanted.name, wanted.job) == (&made.name, made.job)
            && wanted.procs <= made.procs
            && made.end.since(made.start) == wanted.length
            && (from..until).contains(&made.start)
            && made.end <= until
    }
}

/// A change of the reservations of a site.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub enum BookAct {
    /// Processors are reserved, if they can be.
    Reserve(Box<ReservationRequest>),
    /// A reservation is given up.
    Release {
        /// Its name.
        name: String,
        /// Its partition; without it, the first that has one of this name.
        partition: Option<PartitionId>,
    },
}

/// A reservation that is sought while the site is running: it begins as early as the plan of the local policy has room for it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReservationRequest {
    /// Its name, which no other reservation of the partition may have at that time.
    pub name: String,
    /// The partition.
    pub partition: PartitionId,
    /// Processors.
    pub procs: u32,
    /// For how long.
    pub length: Span,
    /// It begins no earlier; as soon as the order is carried out, if it is `None`.
    pub from: Option<Time>,
    /// It is over by then; without that it begins then or never.
    pub until: Option<Time>,
    /// The job of the site's own users that it is for, which has not come yet; nobody, if it is `None`.
    pub job: Option<JobId>,
}

impl ReservationRequest {
    /// The window of an order that is carried out at `now`.
    pub fn window(&self, now: Time) -> (Time, Time) {
        let from = self.from.unwrap_or(now);
        (from, self.until.or_else(|| from.checked_add(self.length)).unwrap_or(Time::NEVER))
    }
}

/// What an event says of a reservation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Booked {
    /// Its name.
    pub name: String,
    /// From when until when, or if it is refused the window that it was sought in; `None` where it is given up.
    pub during: Option<(Time, Time)>,
}

impl Booked {
    /// The form of `events.csv`: `reserve 28800 36000 demo` and `release demo`.
    pub fn written(&self) -> String {
        match self.during {
            Some((from, to)) => format!("reserve {from} {to} {}", self.name),
            None => format!("release {}", self.name),
        }
    }

    /// Reads the form that [`Booked::written`] returns.
    pub fn read(written: &str) -> Option<Self> {
        let (word, rest) = written.split_once(' ')?;
        match word {
            "release" => Some(Self { name: rest.to_owned(), during: None }),
            "reserve" => {
                let mut rest = rest.splitn(3, ' ');
                let mut time = || Some(Time::ZERO + rest.next()?.parse::<Span>().ok()?);
                let during = (time()?, time()?);
                Some(Self { name: rest.next()?.to_owned(), during: Some(during) })
            }
            _ => None,
        }
    }
}

words! {
    /// Why a reservation is not made, or not given up.
    #[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
    #[non_exhaustive]
    pub enum BookingRefusal {
        /// The plan has no room for it in its window.
        NoRoom = "no-room",
        /// Its window is over, or too little of it is left.
        TooLate = "too-late",
        /// Another reservation has the name.
        NameTaken = "name-taken",
        /// Another reservation is for the job.
        JobReserved = "job-reserved",
        /// The job is here already.
        JobHere = "job-here",
        /// The local policy cannot plan around reservations.
        KeepsNone = "keeps-none",
        /// There is no reservation of that name any more, or it belongs to the grid.
        NoReservation = "no-reservation",
        /// The run is over.
        RunOver = "run-over",
    }
}

impl BookingRefusal {
    /// The reason as a sentence without its end.
    pub const fn because(self) -> &'static str {
        match self {
            Self::NoRoom => "so many processors were not free for so long within the window",
            Self::TooLate => "too little of the window was left",
            Self::NameTaken => "another reservation had the name",
            Self::JobReserved => "another reservation was kept for the job",
            Self::JobHere => "the job was there already",
            Self::KeepsNone => "the local policy cannot plan around reservations",
            Self::NoReservation => "there was no such reservation any more, or it was the grid's",
            Self::RunOver => "the run was over",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_of_a_reservation_is_read() {
        let during = Some((Time::from_secs(28_800), Time::from_micros(36_000_500_000)));
        let made = Booked { name: "demo of 2 p.m.".to_owned(), during };
        assert_eq!(made.written(), "reserve 28800 36000.5 demo of 2 p.m.");
        let gone = Booked { during: None, ..made.clone() };
        assert_eq!(gone.written(), "release demo of 2 p.m.");
        for booked in [made, gone] {
            assert_eq!(Booked::read(&booked.written()), Some(booked));
        }
        for wrong in ["ET 60", "reserve 1 demo", "reserve a b demo", "release", ""] {
            assert_eq!(Booked::read(wrong), None, "{wrong}");
        }
    }
}
