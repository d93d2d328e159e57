//! How workflows are enacted.

use crate::model::{EstimateBase, LostData, PlanRepair, TaskOrder, TransferMode};
use crate::scenario::kind::key::keys;

keys! {
    /// How the broker enacts the [workflows](workflows.md#enactment) of the portal.
    WorkflowKeys, "a table of how workflows are enacted" {
        /// When files leave for a site: as soon as they are there and a plan says where they are needed (`"eager"`), or when the task that needs
        /// them is ready and has been assigned (`"lazy"`). Under a policy that plans tasks only when they are ready, both are the same.
        transfer: TransferMode = TransferMode::Eager;
        /// Where files lie that no task writes, and to which the files go that no task reads: `"portal"`, or the name of a site.
        files: String = "portal".to_owned();
        /// What is done about a file that cannot be had, because the site that has it has left: who needs it waits until that site is back (`"wait"`), or it is copied from
        /// another place that has it, if there is one (`"copy"`), or else the task that wrote it [runs again](workflows.md#lost-data-computed-again) (`"again"`).
        lost: LostData = LostData::Copy;
        /// What is [planned anew](brokers.md#heft) when a task is lost, or the pool that it is planned for: it and all that waits for it
        /// (`"lost"`), or all that has not been sent (`"rest"`).
        replan: PlanRepair = PlanRepair::Lost;
        /// Whether all that has not been sent of all workflows is planned together when one arrives, or each workflow by itself.
        together: bool = false;
        /// The order in which the policy sees tasks that are ready: as they became ready (`"policy"`), or by decreasing upward rank
        /// (`"critical-path"`), the longest way through run times to the end of the workflow.
        order: TaskOrder = TaskOrder::Policy;
        /// What the estimates of tasks start from: their run times (`"exact"`), or the mean of the tasks of their type in the workflow (`"type-mean"`).
        /// A task that is estimated too short is not killed at its estimate.
        estimates: EstimateBase = EstimateBase::Exact;
        /// By how much estimates err: the standard deviation of the logarithm of a factor of median 1, which each task draws.
        error: f64 = 0.0;
    }
}
