//! How a job ends.

use std::fmt;

use serde::{Deserialize, Serialize};

/// The reason why a job is rejected.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[non_exhaustive]
pub enum RejectReason {
    /// The job needs more processors than its partition ever has.
    TooLarge,
    /// The job names a partition that the site does not have.
    NoSuchPartition,
    /// The job requests no processors, or its range of sizes or its speedup is invalid.
    Malformed,
    /// The local policy rejected it.
    Policy,
    /// No pool of the grid accepts it.
    NoPool,
    /// The machines of its partition lack the memory or a tag that it needs.
    Unfit,
    /// It could not be done by its deadline, or did not run before it.
    Deadline,
    /// It would cost more than its budget.
    Budget,
    /// No processors could be reserved for all its parts.
    NoReservation,
}

/// How a job ends. Every submitted job ends in exactly one of these.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Outcome {
    /// All its work was done.
    Completed,
    /// It ended at its estimate with work left.
    Killed,
    /// Its site or machine ended it.
    Failed,
    /// Its site, or the grid, refused it for this reason.
    Rejected(RejectReason),
    /// Its owner withdrew it.
    Cancelled,
    /// It was still waiting or running when the run ended.
    Unfinished,
}

impl Outcome {
    /// The names of the outcomes in the order of [`Outcome::index`].
    pub const NAMES: [&'static str; 6] =
        ["completed", "killed", "failed", "rejected", "cancelled", "unfinished"];

    /// The index in [`Outcome::NAMES`].
    pub const fn index(self) -> usize {
        match self {
            Self::Completed => 0,
            Self::Killed => 1,
            Self::Failed => 2,
            Self::Rejected(_) => 3,
            Self::Cancelled => 4,
            Self::Unfinished => 5,
        }
    }

    /// The word in every table and file.
    pub const fn name(self) -> &'static str {
        Self::NAMES[self.index()]
    }
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl fmt::Display for RejectReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::TooLarge => "needs more processors than the partition has",
            Self::NoSuchPartition => "names a partition that the site does not have",
            Self::Malformed => "has an invalid request",
            Self::Policy => "refused by the local policy",
            Self::NoPool => "no pool can run it",
            Self::Unfit => "needs memory or a tag that the machines of the partition lack",
            Self::Deadline => "cannot be done by its deadline",
            Self::Budget => "costs more than its budget",
            Self::NoReservation => "no processors could be reserved for all its parts",
        })
    }
}
