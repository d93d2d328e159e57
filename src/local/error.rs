//! What can be wrong in a partition.

use thiserror::Error;

use crate::model::{JobId, JobKey};
use crate::units::Time;

/// A policy asked for something that cannot be done: a mistake in the policy, not in the scenario.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("policy `{policy}` of site `{site}` at {time} s: {action}: {reason}")]
pub struct PolicyError {
    /// The policy, as written.
    pub policy: String,
    /// The site.
    pub site: String,
    /// When.
    pub time: Time,
    /// What it asked for.
    pub action: String,
    /// Why that cannot be.
    pub reason: Violation,
}

/// The rule that an action breaks.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum Violation {
    /// The key names no live job.
    #[error("there is no such job")]
    NoSuchJob,
    /// The job is not in the phase that the action needs.
    #[error("the job is {0}")]
    WrongPhase(&'static str),
    /// Fewer free processors than asked for.
    #[error("it needs {needed} processors and {free} are free")]
    NotEnough {
        /// Asked for.
        needed: u32,
        /// Free.
        free: u32,
    },
    /// A processor that is taken, reserved or does not exist.
    #[error("processor {0} is taken, reserved or not there")]
    NotFree(u32),
    /// A number of processors that the job cannot use, or not whole blocks.
    #[error("the job cannot run on {0} processors")]
    BadSize(u32),
    /// Processors are given in whole allocation blocks, and only a part of this one's block was asked for.
    #[error("processor {0} would be given without the rest of its allocation block")]
    PartOfBlock(u32),
    /// The policy said that jobs are resumed where they were, and this one is not.
    #[error("the job must be resumed on the processors it had")]
    OtherProcessors,
    /// No share at all, or more than a whole.
    #[error("the share must be above 0 and at most 1")]
    BadShare,
    /// The shares on a processor sum to more than one.
    #[error("the shares on processor {0} sum to more than 1")]
    Oversubscribed(u32),
    /// More jobs on a processor than the policy has slots.
    #[error("processor {0} would run more jobs than the policy has slots")]
    NoSlot(u32),
    /// Only malleable jobs change their size.
    #[error("the job is not malleable")]
    NotMalleable,
    /// The policy did not declare that it does this.
    #[error("the policy's description does not declare that it {0}")]
    NotDeclared(&'static str),
    /// A wake that is not in the future.
    #[error("a wake must be strictly later than now")]
    WakeNotLater,
}

/// What ends a run in a partition.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum PartitionError {
    /// See [`PolicyError`].
    #[error(transparent)]
    Policy(#[from] Box<PolicyError>),
    /// A job that would end beyond the time axis.
    #[error("job {job} of site `{site}`, started at {time} s, would end beyond the end of time")]
    EndOfTime {
        /// The job.
        job: JobId,
        /// The site.
        site: String,
        /// When it started.
        time: Time,
    },
    /// A snapshot that does not fit.
    #[error("the saved state of site `{site}` cannot be taken back: {problem}")]
    BadSave {
        /// The site.
        site: String,
        /// What is wrong.
        problem: String,
    },
}

pub(super) fn describe(verb: &str, id: Option<JobId>, key: JobKey) -> String {
    id.map_or_else(|| format!("{verb} job with key {key}"), |id| format!("{verb} job {id}"))
}
