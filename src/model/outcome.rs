//! How a job ends.

use std::fmt;

use serde::{Deserialize, Serialize};

/// Why a site will not take a job.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum RejectReason {
    /// It needs more processors than its partition ever has.
    TooLarge,
    /// It names a partition that the site does not have.
    NoSuchPartition,
    /// It asks for no processors, or its range of sizes or its speedup makes no sense.
    Malformed,
    /// The local policy refused it.
    Policy,
    /// No pool of the grid takes it.
    NoPool,
}

/// How a job ends. Every submitted job ends in exactly one of these.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Outcome {
    /// All its work was done.
    Completed,
    /// Ended at its estimate with work left.
    Killed,
    /// Ended by its site or machine, not by its own doing.
    Failed,
    /// Never taken.
    Rejected(RejectReason),
    /// Withdrawn by its owner.
    Cancelled,
    /// Still waiting or running when the run ended.
    Unfinished,
}

impl Outcome {
    /// The names of the outcomes in the order of [`Outcome::index`].
    pub const NAMES: [&'static str; 6] =
        ["completed", "killed", "failed", "rejected", "cancelled", "unfinished"];

    /// Place in [`Outcome::NAMES`].
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

    /// The word used in every table and file.
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
            Self::Malformed => "asks for something that makes no sense",
            Self::Policy => "refused by the local policy",
            Self::NoPool => "no pool of the grid takes it",
        })
    }
}
