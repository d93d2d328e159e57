//! No grouping.

use super::{Group, GroupingInfo};
use crate::workflow::Workflow;

pub(super) fn info() -> GroupingInfo {
    GroupingInfo::new("none", |_| Ok(Box::new(Ungrouped))).doc("Each task by itself.")
}

/// Each task is a group.
#[derive(Copy, Clone, Debug)]
pub struct Ungrouped;

impl Group for Ungrouped {
    fn labels(&self, workflow: &Workflow) -> Vec<u32> {
        workflow.ids().map(|task| task.0).collect()
    }
}
