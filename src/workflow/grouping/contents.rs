//! What a grouping makes of a workflow, for people.

use serde::Serialize;

use super::Grouping;
use crate::units::Bandwidth;
use crate::workflow::{FileId, Workflow, WorkflowContents};
use crate::workload::Quantity;

/// What a grouping makes of a workflow.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct GroupingContents {
    /// The grouping, as it is written.
    pub by: String,
    /// The tasks of a group.
    pub tasks: Quantity,
    /// The number of groups of one task.
    pub single: u64,
    /// Files that never leave a group.
    pub internal_files: u64,
    /// Their bytes.
    pub internal_bytes: u64,
    /// The workflow whose tasks are the groups. The tasks of a group run one after the other.
    pub grouped: WorkflowContents,
}

impl GroupingContents {
    /// What `grouping`, written `by`, makes of `workflow`; data moves at `bandwidth`, without latency.
    pub fn of(by: String, workflow: &Workflow, grouping: &Grouping, bandwidth: Bandwidth) -> Self {
        let sizes = grouping.groups().iter().map(|group| group.tasks.len() as u64);
        let internal = || grouping.groups().iter().flat_map(|group| &group.internal).copied();
        Self {
            by,
            tasks: Quantity::of(sizes.clone(), 1.0),
            single: sizes.filter(|tasks| *tasks == 1).count() as u64,
            internal_files: internal().count() as u64,
            internal_bytes: bytes_of(workflow, internal()),
            grouped: WorkflowContents::of(grouping.workflow(), bandwidth),
        }
    }
}

/// The bytes of some files.
pub(super) fn bytes_of(workflow: &Workflow, files: impl Iterator<Item = FileId>) -> u64 {
    files.fold(0, |sum, file| sum.saturating_add(workflow.file(file).size.count()))
}
