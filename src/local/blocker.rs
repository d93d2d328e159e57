//! What holds the processors that a waiting job would need.

use serde::Serialize;

use super::{Phase, View};
use crate::model::{JobKey, JobRef};
use crate::units::{Span, Time};

/// A holder of processors that a job would need.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Blocker {
    /// A running job.
    Running {
        /// The job.
        who: JobRef,
        /// Its processors.
        procs: u32,
        /// When it is expected to have ended.
        until: Time,
    },
    /// A job that is being suspended.
    Suspending {
        /// The job.
        who: JobRef,
        /// Its processors.
        procs: u32,
        /// When it releases them.
        until: Time,
    },
    /// A job for which others are being suspended.
    Claim {
        /// The job.
        who: JobRef,
        /// Processors that it gets, of those that the waiting job could use.
        procs: u32,
    },
    /// A waiting job that comes first.
    Waiting {
        /// The job.
        who: JobRef,
        /// Processors that it requests.
        procs: u32,
        /// Its estimated run time.
        estimate: Span,
        /// When it is to start, according to the policy's plan.
        start: Option<Time>,
    },
    /// A reservation in the book.
    Booking {
        /// Its name.
        name: String,
        /// First instant of the reservation.
        from: Time,
        /// First instant after it.
        to: Time,
        /// Processors reserved.
        procs: u32,
        /// The job that they are kept for, if it is for one.
        job: Option<JobRef>,
    },
    /// Machines that are down, drain, or are kept by a stalled job.
    Down {
        /// Their processors.
        procs: u32,
    },
    /// The power cap of the site.
    Cap {
        /// Processors that could be given without it.
        procs: u32,
    },
}

impl Blocker {
    /// When it is expected to release its processors.
    pub fn until(&self) -> Option<Time> {
        match self {
            Self::Running { until, .. } | Self::Suspending { until, .. } => Some(*until),
            Self::Booking { to, .. } => Some(*to),
            Self::Waiting { start, estimate, .. } => start.map(|start| start + *estimate),
            Self::Claim { .. } | Self::Down { .. } | Self::Cap { .. } => None,
        }
    }

    /// The job, if the blocker is one.
    pub const fn who(&self) -> Option<JobRef> {
        match self {
            Self::Running { who, .. }
            | Self::Suspending { who, .. }
            | Self::Claim { who, .. }
            | Self::Waiting { who, .. } => Some(*who),
            Self::Booking { .. } | Self::Down { .. } | Self::Cap { .. } => None,
        }
    }
}

impl View<'_> {
    /// A live job as an explanation names it.
    pub fn who(&self, key: JobKey) -> JobRef {
        self.state.job_ref(self.job(key))
    }

    /// A job that holds processors, or is just starting, as a blocker.
    pub fn runs(&self, key: JobKey) -> Blocker {
        let job = self.job(key);
        let until = match job.phase() {
            Phase::Starting => self.now + job.estimate(),
            _ => self.expected_end(key),
        };
        let (who, procs) = (self.who(key), job.held());
        match job.phase() {
            Phase::Suspending => Blocker::Suspending { who, procs, until },
            _ => Blocker::Running { who, procs, until },
        }
    }

    /// A waiting job as a blocker, to start at `start` if that is known.
    pub fn waits(&self, key: JobKey, start: Option<Time>) -> Blocker {
        let job = self.job(key);
        Blocker::Waiting { who: self.who(key), procs: job.procs(), estimate: job.estimate(), start }
    }

    /// Running jobs, in the order of expected ends.
    pub fn releases(&self) -> Vec<Blocker> {
        let mut running = self.holders();
        // A job that ends at this very instant may count as free already.
        running.retain(|key| !self.ends_now(*key));
        running.extend(self.jobs_in(Phase::Starting));
        let mut running: Vec<(Time, u64, Blocker)> = running
            .into_iter()
            .map(|key| {
                let blocker = self.runs(key);
                let until = blocker.until().unwrap_or(self.now);
                (until, self.job(key).seq(), blocker)
            })
            .collect();
        running.sort_by_key(|(until, seq, _)| (*until, *seq));
        running.into_iter().map(|(.., blocker)| blocker).collect()
    }

    /// The running jobs whose ends bring the free processors from `free` to `needs`, in the order of their ends.
    pub fn released_for(&self, needs: u32, free: u32) -> Vec<Blocker> {
        let (mut have, mut last) = (free, None);
        let mut found = Vec::new();
        for blocker in self.releases() {
            let (Blocker::Running { procs, until, .. } | Blocker::Suspending { procs, until, .. }) = &blocker
            else {
                continue;
            };
            if have >= needs && last != Some(*until) {
                break;
            }
            have = have.saturating_add(*procs);
            last = Some(*until);
            found.push(blocker);
        }
        found
    }

    /// Reservations of the book that need processors between `from` and `to`.
    pub fn booked(&self, from: Time, to: Time) -> Vec<Blocker> {
        let due = self.bookings().before(to).filter(|booking| from < booking.end);
        let blockers = due.map(|booking| Blocker::Booking {
            name: booking.name.clone(),
            from: booking.start,
            to: booking.end,
            procs: booking.procs,
            job: booking.claim.map(|claim| claim.by),
        });
        blockers.collect()
    }
}
