//! Errors of an entity.

use thiserror::Error;

use super::Stamp;
use crate::broker::outside::ProgramError;
use crate::local::PartitionError;
use crate::model::{RegistryError, SiteError, TaskId, WorkflowId};
use crate::workload::SourceError;

/// An error that ends a run.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum EntityError {
    /// The description is invalid.
    #[error(transparent)]
    Site(#[from] SiteError),
    /// There is no such policy, or its parameters are invalid.
    #[error(transparent)]
    Registry(#[from] RegistryError),
    /// The policy lacks an ability that the scenario needs.
    #[error("policy `{policy}` of site `{site}` {problem}")]
    Unable {
        /// The policy.
        policy: String,
        /// The site.
        site: String,
        /// What it lacks.
        problem: String,
    },
    /// There is no such broker policy, or its parameters are invalid.
    #[error(transparent)]
    Broker(RegistryError),
    /// A plan of the broker's policy cannot be carried out.
    #[error("broker policy `{policy}` assigns task {task} {problem}")]
    BadPlan {
        /// The policy.
        policy: String,
        /// The task.
        task: TaskId,
        /// What is wrong with the decision.
        problem: String,
    },
    /// The program that decides for the broker does not answer as it must.
    #[error(transparent)]
    Program(#[from] Box<ProgramError>),
    /// A workflow that cannot be enacted.
    #[error("workflow {number} `{name}`: {problem}")]
    BadWorkflow {
        /// Its number.
        number: WorkflowId,
        /// Its name.
        name: String,
        /// What is wrong with it.
        problem: String,
    },
    /// An error in a partition.
    #[error(transparent)]
    Partition(#[from] PartitionError),
    /// The workload cannot be read any further.
    #[error(transparent)]
    Source(#[from] SourceError),
    /// Too many rounds at one instant: messages go round in a cycle.
    #[error("{who} does not get beyond {at}: {rounds} rounds at one instant")]
    Stalled {
        /// The entity.
        who: String,
        /// The moment that it has reached.
        at: Stamp,
        /// Rounds so far.
        rounds: u32,
    },
    /// A message for a time that has passed.
    #[error("{who} is at {now} already and cannot take a message for {arrival}")]
    Late {
        /// The receiver.
        who: String,
        /// The moment that it has reached.
        now: Stamp,
        /// When the message was to arrive.
        arrival: Stamp,
    },
    /// Two messages of one sender with the same number: one of them would be lost.
    #[error("{who} has been sent two messages number {sequence} by one sender for {arrival}")]
    Repeated {
        /// The receiver.
        who: String,
        /// When both were to arrive.
        arrival: Stamp,
        /// Their number.
        sequence: u64,
    },
    /// A message for another kind of entity.
    #[error("{who} has been sent a message that is for {meant}")]
    Misaddressed {
        /// The receiver.
        who: String,
        /// The kind of entity that can take it.
        meant: &'static str,
    },
    /// The saved state does not fit the entity.
    #[error("the saved state of {who} cannot be restored: {problem}")]
    BadSave {
        /// The entity.
        who: String,
        /// What is wrong.
        problem: String,
    },
}
