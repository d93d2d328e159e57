//! What can break in an entity.

use thiserror::Error;

use super::Stamp;
use crate::local::PartitionError;
use crate::model::{RegistryError, SiteError};
use crate::workload::SourceError;

/// What ends a run.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum EntityError {
    /// A description that makes no sense.
    #[error(transparent)]
    Site(#[from] SiteError),
    /// A policy that is not there, or its parameters.
    #[error(transparent)]
    Registry(#[from] RegistryError),
    /// The policy does not do what the scenario needs.
    #[error("policy `{policy}` of site `{site}` {problem}")]
    Unable {
        /// The policy.
        policy: String,
        /// The site.
        site: String,
        /// What it cannot do.
        problem: String,
    },
    /// A broker policy that is not there, or its parameters.
    #[error(transparent)]
    Broker(RegistryError),
    /// Something in a partition.
    #[error(transparent)]
    Partition(#[from] PartitionError),
    /// The workload cannot be read any further.
    #[error(transparent)]
    Source(#[from] SourceError),
    /// Too many rounds at one instant: something goes round in a circle.
    #[error("{who} does not get past {at}: {rounds} rounds at one instant")]
    Stalled {
        /// Who.
        who: String,
        /// Where it stands.
        at: Stamp,
        /// Rounds so far.
        rounds: u32,
    },
    /// A message for a time that has passed.
    #[error("{who} has passed {now} and cannot take a message for {arrival}")]
    Late {
        /// Who.
        who: String,
        /// Where it stands.
        now: Stamp,
        /// When the message was to arrive.
        arrival: Stamp,
    },
    /// Two messages of one sender with one number: one of them would be lost.
    #[error("{who} has been sent two messages number {sequence} by one sender for {arrival}")]
    Repeated {
        /// Who.
        who: String,
        /// When both were to arrive.
        arrival: Stamp,
        /// Their number.
        sequence: u64,
    },
    /// A snapshot that does not fit.
    #[error("the saved state of {who} cannot be taken back: {problem}")]
    BadSave {
        /// Who.
        who: String,
        /// What is wrong.
        problem: String,
    },
}
