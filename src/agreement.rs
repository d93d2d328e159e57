//! Reservations at several sites that stand or fall together, as an agreement between one coordinator and the sites, without a grid.
//!
//! Huang 2004 (section 5.2) names a two-level reservation of alternatives and leaves its protocol open. This one has two phases, as GARA and
//! SNAP have: the [`Coordinator`] of a request asks each site to *hold* its part under a lease, and when all hold it asks all to *commit*. When all have
//! said that they did, the request is agreed, and only then do the jobs leave for their sites, where each *claims* its reservation.
//! Otherwise everything is *released*, and an alternative can be tried, which is another round. A [`Holder`] is what a site keeps of that.
//!
//! Messages may be lost, late, or come twice, and sites may fail in between:
//!
//! - Each message is about a [`HoldId`], and what it asks can be asked twice. A hold that was given up is remembered for as long as a late message could bring it back.
//! - What is held lapses at its lease, and what is committed lapses unless its job claims it in time, at the latest when it begins. So nothing outlives
//!   two leases without its job, whatever is lost, and nothing reaches its start.
//! - A request is agreed only if all its parts are committed at once, and a job claims only what is agreed. A job that is lost on its way is not covered:
//!   that no protocol over lossy lines can make sure that both sides know (the two generals' problem) decides where the guarantee ends.
//!
//! Both ends are state machines: they are told what comes and what time it is, and say what is to be sent.

mod coordinator;
mod holder;

pub use coordinator::{Coordinator, Part, Terms, Verdict};
pub use holder::{Holder, Room};

use serde::{Deserialize, Serialize};

pub use crate::model::{HoldId, Refusal};
use crate::model::{JobRef, PoolId};
use crate::units::Time;

/// Processors that a part of a request needs at one place from an instant until another.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Wanted {
    /// Where.
    pub pool: PoolId,
    /// The first instant.
    pub from: Time,
    /// The first instant after it.
    pub to: Time,
    /// The number of processors.
    pub procs: u32,
    /// The job that they are kept for.
    pub job: JobRef,
}

/// What a coordinator asks a site about a hold.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Ask {
    /// Hold the processors until the lease expires.
    Hold {
        /// What is wanted.
        wanted: Wanted,
        /// The first instant at which the hold has lapsed.
        lease: Time,
    },
    /// Keep what is held, for a job that comes before `claim_by`.
    Commit {
        /// The first instant at which it has lapsed if the job is not there.
        claim_by: Time,
    },
    /// Give it up.
    Release {
        /// From when on no message can bring it back.
        until: Time,
    },
    /// Say what has become of it.
    Query,
}

impl Ask {
    /// In a word.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Hold { .. } => "hold",
            Self::Commit { .. } => "commit",
            Self::Release { .. } => "release",
            Self::Query => "query",
        }
    }
}

/// What a site answers.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Answer {
    /// It is held.
    Held,
    /// It is committed.
    Committed,
    /// It is not there: it was refused, has lapsed, or was released.
    Gone(Refusal),
}
