//! Errors of a partition.

use thiserror::Error;

use crate::model::{JobKey, JobRef};
use crate::units::Time;

/// A policy requested an action that cannot be carried out: an error of the policy, not of the scenario.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("policy `{policy}` of site `{site}` at {}: {action}: {reason}", .time.told_exactly())]
pub struct PolicyError {
    /// The policy, as written.
    pub policy: String,
    /// The site.
    pub site: String,
    /// The instant of the pass.
    pub time: Time,
    /// The action that the policy requested.
    pub action: String,
    /// Why it cannot be carried out.
    pub reason: Violation,
}

/// The rule that an action breaks.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum Violation {
    /// The key names no live job.
    #[error("there is no such job")]
    NoSuchJob,
    /// The job is not in the phase that the action requires.
    #[error("the job is {0}")]
    WrongPhase(&'static str),
    /// Fewer processors are free than the action needs.
    #[error("it needs {needed} processors and {free} are free")]
    NotEnough {
        /// Processors needed.
        needed: u32,
        /// Processors free.
        free: u32,
    },
    /// A processor that is in use or reserved, or does not exist.
    #[error("processor {0} is in use, reserved or down")]
    NotFree(u32),
    /// A number of processors that the job cannot use, or not whole blocks.
    #[error("the job cannot run on {0} processors")]
    BadSize(u32),
    /// Processors are given in whole allocation blocks, and only a part of this one's block was requested.
    #[error("processor {0} would be allocated without the rest of its allocation unit")]
    PartOfBlock(u32),
    /// The policy has declared that it resumes jobs where they were, and this job is not.
    #[error("the job must be resumed on the processors it had")]
    OtherProcessors,
    /// The share is zero, or more than one.
    #[error("the share must be above 0 and at most 1")]
    BadShare,
    /// The efficiency is zero, or more than a hundred.
    #[error("the efficiency must be above 0 and at most 100")]
    BadEfficiency,
    /// The shares on a processor sum to more than one.
    #[error("the shares on processor {0} sum to more than 1")]
    Oversubscribed(u32),
    /// More jobs on a processor than the policy's multiprogramming level.
    #[error("processor {0} would run more jobs than the multiprogramming level of the policy")]
    NoSlot(u32),
    /// Only malleable jobs change their size.
    #[error("the job is not malleable")]
    NotMalleable,
    /// The policy has not declared this ability.
    #[error("the policy's description does not declare that it {0}")]
    NotDeclared(&'static str),
    /// The policy requested a wake that is not in the future.
    #[error("a wake must be strictly later than now")]
    WakeNotLater,
}

/// An error in a partition that ends the run.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum PartitionError {
    /// An invalid action; see [`PolicyError`].
    #[error(transparent)]
    Policy(#[from] Box<PolicyError>),
    /// A job that would end beyond the time axis.
    #[error("{job} of site `{site}`, started at {}, would end beyond the end of time", .time.told())]
    EndOfTime {
        /// The job.
        job: JobRef,
        /// The site.
        site: String,
        /// When it started.
        time: Time,
    },
    /// The saved state does not fit the partition.
    #[error("the saved state of site `{site}` cannot be restored: {problem}")]
    BadSave {
        /// The site.
        site: String,
        /// What is wrong.
        problem: String,
    },
}

pub(super) fn describe(verb: &str, job: Option<JobRef>, key: JobKey) -> String {
    job.map_or_else(|| format!("{verb} job with key {key}"), |job| format!("{verb} {job}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{JobId, Origin, SiteId};

    #[test]
    fn an_error_says_whether_its_job_is_of_the_grid() {
        let [local, grid] =
            [Origin::Local, Origin::Grid].map(|origin| JobRef::new(origin, SiteId(0), JobId(17)));
        assert_eq!(describe("start", Some(local), JobKey(3)), "start job 17");
        assert_eq!(describe("start", Some(grid), JobKey(3)), "start grid job 17");
        let error = PartitionError::EndOfTime { job: grid, site: "windsor".to_owned(), time: Time::ZERO };
        assert!(error.to_string().starts_with("grid job 17 of site `windsor`, started at"), "{error}");
    }
}
