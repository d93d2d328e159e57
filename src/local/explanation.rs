//! The explanation of why a job waits; [`crate::report`] puts it into words.

use std::fmt;

use serde::Serialize;

use super::{Blocker, Compress, GroupFacts, PlannedJob, Profile, SearchFacts, XFactor};
use crate::model::JobRef;
use crate::units::Time;

/// The reason why a job does not start.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Reason {
    /// None: a pass at this instant starts it.
    Starts,
    /// It is its turn, or it may overtake, but fewer processors are free than it needs.
    NoRoom,
    /// Other jobs are before it, and none may be overtaken.
    Behind,
    /// It would delay the reservation of another job.
    WouldDelay,
    /// It has a reservation of its own, and those made before it fill the time until then.
    Planned,
    /// It would fit before its own reservation, which stays where it is until reservations move up again.
    Kept,
    /// Other waiting jobs fill the free processors better, or as well and came first.
    Packed,
    /// Its requested start has not come yet.
    Early,
    /// Processors reserved in the book are in its way.
    Reserved,
    /// The processors have reached the multiprogramming level.
    Level,
    /// What has happened within the present time slice counts at its end.
    Slice,
    /// Machines that it needs are down.
    Machines,
    /// Enough processors would be free, but for the power cap of the site.
    Cap,
    /// The machine belongs to another class of jobs now.
    OtherSlice,
    /// The policy records no reason.
    Unsaid,
}

/// A job that would still run in the reservation of another.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Delay {
    /// When the job would end if it started now.
    pub end: Time,
    /// From when on it would be in the way.
    pub from: Time,
    /// Processors that are spare then.
    pub spare: u32,
}

/// The rule by which a job waits, with its facts; [`Reason`] is its name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Why {
    /// None: the pass has started it.
    Starts,
    /// It is the first in line, and fewer processors are free than it needs.
    FirstInLine {
        /// It has a reservation, and others may overtake it.
        reserved: bool,
    },
    /// Fewer processors are free than it needs, and the first in line has a reservation.
    MayOvertake {
        /// The job that has the reservation.
        first: JobRef,
        /// Why it might not overtake that job if enough were free; `None` if it might.
        delay: Option<Delay>,
    },
    /// Fewer processors are free than it needs.
    TooFew {
        /// How often it has been skipped as the first of the queue, if it has.
        skipped: Option<Skipped>,
    },
    /// No job may pass the first in line.
    HeadFirst {
        /// The first in line.
        first: JobRef,
        /// Processors that it needs.
        needs: u32,
        /// Whether the free processors would be enough for this job.
        would_do: bool,
    },
    /// It is the first in line, and too few processors have fewer than `most` jobs, or jobs that it may join.
    FirstForPlaces {
        /// The multiprogramming level, if that alone counts.
        most: Option<u32>,
    },
    /// The first in line does not find processors with fewer than `most` jobs, or with jobs that it may join, and cannot be overtaken.
    PlacesBefore {
        /// The first in line.
        first: JobRef,
        /// Processors that it needs.
        needs: u32,
        /// The multiprogramming level, if that alone counts.
        most: Option<u32>,
    },
    /// It is the first in line, and no time slot has so many free processors.
    FirstForSlot {
        /// Processors on which it is to start.
        needs: u32,
    },
    /// No time slot has the processors that the first in line needs, which cannot be overtaken.
    SlotBefore {
        /// The first in line.
        first: JobRef,
        /// Processors on which it is to start.
        needs: u32,
    },
    /// The present time slice has not ended.
    InSlice {
        /// When it ends.
        until: Time,
    },
    /// It requests a later start.
    RequestsLaterStart {
        /// The requested start.
        start: Time,
        /// Whether the policy is not notified of it before then.
        kept_back: bool,
    },
    /// Processors are reserved for it, and it does not queue.
    HasReservation {
        /// The name of the reservation.
        name: String,
        /// First instant of the reservation.
        start: Time,
        /// First instant after it.
        end: Time,
        /// How many of them the reservation lacks, if it has begun.
        owed: u32,
    },
    /// Processors are reserved before it would end.
    ReservedBefore {
        /// When it would end.
        end: Time,
        /// Whether it is the first in line and has a reservation itself.
        first: bool,
    },
    /// It would delay jobs that have a reservation.
    WouldDelay {
        /// The first in line, or dedicated jobs.
        first: Option<JobRef>,
        /// When the reservation begins.
        start: Time,
        /// When this job would end.
        end: Time,
        /// Processors that are spare in the reservation.
        spare: u32,
        /// From when on no more are spare, if that is later than its beginning.
        from: Option<Time>,
    },
    /// It has a reservation, and running jobs and the reservations made before it fill the time until then.
    Planned {
        /// When its reservation begins.
        start: Time,
        /// When it would end if it started now.
        end: Time,
        /// The first instant at which too few processors are left for it; `None` for now.
        from: Option<Time>,
        /// Processors that are left then.
        left: u32,
        /// What takes the others: waiting jobs, the book, or running jobs.
        reason: Reason,
    },
    /// In the best order that a search has found, running jobs and the jobs before it fill the time until its start.
    Searched {
        /// Its place in that order, and its start.
        planned: PlannedJob,
        /// When it would end if it started now.
        end: Time,
        /// The first instant at which too few processors are left for it; `None` for now.
        from: Option<Time>,
        /// Processors that are left then.
        left: u32,
        /// What takes the others: waiting jobs, the book, or running jobs.
        reason: Reason,
        /// What the search has found.
        found: SearchFacts,
    },
    /// It has a reservation, which stays where it is although the job would fit before.
    Kept {
        /// When its reservation begins.
        start: Time,
        /// How reservations move up when a job ends.
        compress: Compress,
    },
    /// Its requested start has come, but the first job of the queue has been skipped as often as it may be and goes before it.
    AfterSkipped,
    /// It is behind so many jobs that fit, and the policy considers no more.
    BeyondLookahead {
        /// The lookahead.
        most: u32,
    },
    /// Another set of waiting jobs fills the free processors better, or as well and came first.
    Packed {
        /// How often it has been skipped as the first of the queue, if it has.
        skipped: Option<Skipped>,
    },
    /// Fewer processors are free for it than it needs, and it cannot take enough from running jobs.
    CannotPreempt {
        /// Its processors that are not free, if it is suspended and waits for them.
        own: Option<u32>,
        /// Its expansion factor.
        xfactor: XFactor,
        /// Processors that it could get by suspending running jobs.
        may_suspend: u32,
        /// How many times their expansion factors its own must be, in millionths, and when that matters next; `None` if it does not.
        routine: Option<(u64, Time)>,
    },
    /// Another class of jobs has the machine: short jobs 0, medium ones 1, long ones 2.
    OtherSlice {
        /// The class of the job.
        class: usize,
        /// The class that has the machine.
        slice: usize,
        /// Until when.
        until: Time,
    },
    /// Another class of jobs gets the machine, and no job runs meanwhile.
    SlicesChange {
        /// Until when.
        until: Time,
    },
    /// Processors that are free belong to preempted jobs of its class.
    KeptForPreempted,
    /// Its place in the plan of its group has not come.
    InGroup {
        /// The plan.
        group: GroupFacts,
        /// Its place among the jobs of the plan that have not started, from 1.
        place: u32,
        /// Whether too few processors are free, or jobs before it in the plan need them.
        reason: Reason,
    },
    /// Running jobs are being suspended for it.
    TakesOver {
        /// When the last of them has released its processors.
        until: Time,
    },
    /// Other jobs came before it; nothing more is known.
    OthersBefore,
    /// Nothing is known.
    #[default]
    Unsaid,
    /// It needs more processors than can be given now.
    MachinesDown {
        /// Processors that can be given now.
        capacity: u32,
    },
    /// It is its turn, or it may overtake, but the power cap keeps back processors that it needs.
    HeldByCap {
        /// Processors that are kept back.
        kept_back: u32,
    },
    /// It is stalled where it ran, until all its machines are back.
    Stalled,
}

/// How often a job has been skipped as the first of the queue.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Skipped {
    /// How often it has been skipped.
    pub times: u32,
    /// How often it may be skipped.
    pub most: u32,
}

/// Why a waiting job does or does not start now.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Explanation {
    /// The rule.
    pub why: Why,
    /// Processors that the job needs.
    pub needs: u32,
    /// Processors that are free for it now.
    pub free: u32,
    /// The shadow time, at which the first waiting job is to start, where the policy has one.
    pub shadow: Option<Time>,
    /// Processors that are spare then.
    pub spare: Option<u32>,
    /// When it starts at the latest, according to the policy's plan and the estimates.
    pub start: Option<Time>,
    /// What holds it back: waiting jobs, running jobs in the order of their ends, the book.
    pub blockers: Vec<Blocker>,
    /// Free processors from now on, without the job itself, as the policy plans with them: `(since, processors)`.
    pub profile: Vec<(Time, i32)>,
}

impl Why {
    /// The name of the rule.
    pub fn reason(&self) -> Reason {
        match self {
            Self::Starts => Reason::Starts,
            Self::FirstInLine { .. }
            | Self::MayOvertake { .. }
            | Self::TooFew { .. }
            | Self::CannotPreempt { .. }
            | Self::KeptForPreempted
            | Self::TakesOver { .. } => Reason::NoRoom,
            Self::HeadFirst { .. }
            | Self::PlacesBefore { .. }
            | Self::SlotBefore { .. }
            | Self::AfterSkipped
            | Self::BeyondLookahead { .. }
            | Self::OthersBefore => Reason::Behind,
            Self::FirstForPlaces { .. } | Self::FirstForSlot { .. } => Reason::Level,
            Self::InSlice { .. } => Reason::Slice,
            Self::RequestsLaterStart { .. } => Reason::Early,
            Self::HasReservation { owed: 0, .. } => Reason::Early,
            Self::HasReservation { .. } => Reason::NoRoom,
            Self::ReservedBefore { .. } => Reason::Reserved,
            Self::WouldDelay { .. } => Reason::WouldDelay,
            Self::Planned { reason, .. } | Self::Searched { reason, .. } | Self::InGroup { reason, .. } => {
                *reason
            }
            Self::Kept { .. } => Reason::Kept,
            Self::Packed { .. } => Reason::Packed,
            Self::Unsaid => Reason::Unsaid,
            Self::MachinesDown { .. } | Self::Stalled => Reason::Machines,
            Self::HeldByCap { .. } => Reason::Cap,
            Self::OtherSlice { .. } | Self::SlicesChange { .. } => Reason::OtherSlice,
        }
    }

    /// True if it is the same rule, with whatever numbers and times, and whichever job is first.
    pub fn is_like(&self, other: &Self) -> bool {
        let form = |why: &Self| match why {
            Self::MayOvertake { delay, .. } => delay.is_some(),
            Self::FirstInLine { reserved: form }
            | Self::ReservedBefore { first: form, .. }
            | Self::HeadFirst { would_do: form, .. } => *form,
            Self::CannotPreempt { own, .. } => own.is_some(),
            Self::WouldDelay { from, .. } | Self::Planned { from, .. } | Self::Searched { from, .. } => {
                from.is_some()
            }
            _ => false,
        };
        let kind = |why: &Self| (std::mem::discriminant(why), why.reason(), form(why));
        kind(self) == kind(other)
    }
}

impl Explanation {
    /// An explanation with a rule and no further facts.
    pub fn new(why: Why, needs: u32, free: u32) -> Self {
        Self { why, needs, free, ..Self::default() }
    }

    /// The name of its rule.
    pub fn reason(&self) -> Reason {
        self.why.reason()
    }

    /// True if the pass has started the job.
    pub fn starts(&self) -> bool {
        self.why == Why::Starts
    }

    /// Adds these blockers.
    #[must_use]
    pub fn blocked_by(mut self, blockers: impl IntoIterator<Item = Blocker>) -> Self {
        self.blockers.extend(blockers);
        self
    }

    /// Sets the latest start.
    #[must_use]
    pub fn starting(self, start: Option<Time>) -> Self {
        Self { start, ..self }
    }

    /// Sets the shadow time, at which so many processors are spare.
    #[must_use]
    pub fn shadowed(self, shadow: Option<Time>, spare: Option<u32>) -> Self {
        Self { shadow, spare, ..self }
    }

    /// Sets the free processors up to and including `until`.
    #[must_use]
    pub fn over(self, profile: &Profile, until: Option<Time>) -> Self {
        let steps = profile.steps().take_while(|(since, _)| until.is_none_or(|until| *since <= until));
        Self { profile: steps.collect(), ..self }
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Starts => "starts",
            Self::NoRoom => "no room",
            Self::Behind => "behind others",
            Self::WouldDelay => "would delay",
            Self::Planned => "planned later",
            Self::Kept => "kept its place",
            Self::Packed => "others fill better",
            Self::Early => "requested start later",
            Self::Reserved => "reserved",
            Self::Level => "multiprogramming level",
            Self::Slice => "time slice",
            Self::Machines => "machines down",
            Self::Cap => "held by the cap",
            Self::OtherSlice => "other slice",
            Self::Unsaid => "unknown",
        })
    }
}
