//! How workflows are enacted, and the record of a copy of a file.

use serde::{Deserialize, Serialize};

use super::text::words;
use super::{JobId, SiteId, WorkflowId};
use crate::units::{Bytes, Time};

/// How the broker enacts workflows: the table `[workflow]` of a scenario.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct WorkflowSettings {
    /// When files leave for the site where they are needed.
    pub transfer: TransferMode,
    /// The place where stage-in lies and to which results are brought, numbered as in a [`NetworkSpec`](super::NetworkSpec).
    pub files: u32,
    /// What is done about a file that cannot be had, because the site that has it has left.
    pub lost: LostData,
    /// What is planned anew when a plan no longer holds.
    pub replan: PlanRepair,
    /// Whether all that has not been sent of all workflows is planned together when one arrives, or each workflow by itself.
    pub together: bool,
    /// The order in which policies see tasks that are ready.
    pub order: TaskOrder,
    /// What the estimates of tasks start from.
    pub estimates: EstimateBase,
    /// The standard deviation of the logarithm of the factor by which estimates err, in millionths.
    pub error_ppm: u64,
}

/// What is planned anew when a task is lost, or the pool that it is planned for.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PlanRepair {
    /// It and all that waits for it.
    #[default]
    Lost,
    /// All that has not been sent.
    Rest,
}

/// The order in which policies see tasks that are ready.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum TaskOrder {
    /// That in which they became ready, or returned.
    #[default]
    Policy,
    /// By decreasing upward rank: the longest way from the task to the end of its workflow.
    CriticalPath,
}

words! {
    /// What an estimate starts from.
    #[derive(Copy, Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
    pub enum EstimateBase {
        /// The run time of the task.
        #[default]
        Exact = "exact",
        /// The mean run time of the workflow's tasks of its type.
        TypeMean = "type-mean",
    }
}

/// When files leave for the site where they are needed.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum TransferMode {
    /// As soon as they are there and it is known where they are needed: under a policy that plans tasks before they are ready, when the task
    /// that writes them ends.
    #[default]
    Eager,
    /// When the task that needs them is ready and has been assigned.
    Lazy,
}

/// What is done about a file that cannot be had, because the site that has it has left.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum LostData {
    /// Who needs it waits for that site, also if it is elsewhere.
    Wait,
    /// It is copied from another place that has it; if there is none, who needs it waits.
    #[default]
    Copy,
    /// The same; if there is no other place that has it, the task that wrote it runs again.
    Again,
}

words! {
    /// What became of a copy of a file.
    #[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
    #[non_exhaustive]
    pub enum TransferOutcome {
        /// It has arrived.
        Arrived = "arrived",
        /// A site at one of its ends has left before.
        Lost = "lost",
        /// It was on its way when the run ended.
        Unfinished = "unfinished",
    }
}

/// One line of `transfers.csv`: a copy of a file of a workflow from one place to another, written when it has arrived.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TransferRecord {
    /// The workflow.
    pub workflow: WorkflowId,
    /// The name of the file.
    pub file: String,
    /// Its size.
    pub bytes: Bytes,
    /// Where it came from; [`SiteId::GRID`] is the portal.
    pub from: SiteId,
    /// Where it went, likewise.
    pub to: SiteId,
    /// The job for which it was asked first; of a result that goes home, the job that made it.
    pub job: JobId,
    /// When it was asked for.
    pub asked: Time,
    /// When it began to move; `None` if it never did.
    pub began: Option<Time>,
    /// When it arrived; of a copy that has not arrived, the end of the run.
    pub end: Time,
    /// What became of it.
    pub outcome: TransferOutcome,
}
