//! Vertical clustering: chains.

use super::{Group, GroupingInfo};
use crate::workflow::Workflow;

pub(super) fn info() -> GroupingInfo {
    GroupingInfo::new("vertical", |_| Ok(Box::new(Vertical)))
        .doc("Puts a task into the group of its predecessor if it has only that one, and that one has only this successor: chains.")
        .source("vertical clustering of Pegasus and WorkflowSim (Chen and Deelman 2012)")
}

/// A task with one predecessor, whose only successor it is, is in its group.
#[derive(Copy, Clone, Debug)]
pub struct Vertical;

impl Group for Vertical {
    fn labels(&self, workflow: &Workflow) -> Vec<u32> {
        let mut labels: Vec<u32> = workflow.ids().map(|task| task.0).collect();
        for task in workflow.order() {
            let mut before = workflow.predecessors(*task);
            if let (Some((only, _)), None) = (before.next(), before.next())
                && workflow.successors(only).nth(1).is_none()
            {
                labels[task.index()] = labels[only.index()];
            }
        }
        labels
    }
}
