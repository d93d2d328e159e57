//! How workflows are enacted.

use crate::model::{LostData, TransferMode};
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
        /// another place that has it, if there is one (`"copy"`).
        lost: LostData = LostData::Copy;
    }
}
