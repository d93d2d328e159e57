//! Pilot jobs: a whole workflow on its own processors.

use super::level::{PROCS, take_procs};
use super::{Group, GroupingInfo, Inside};
use crate::workflow::Workflow;

pub(super) fn info() -> GroupingInfo {
    GroupingInfo::new("pilot", |named| Ok(Box::new(Pilot { procs: take_procs(named)? })))
        .doc("Puts the whole workflow into one group, a pilot job, which has its processors from its start to its end and runs the tasks on them.")
        .params(&[PROCS])
}

/// The whole workflow is one group.
#[derive(Copy, Clone, Debug)]
pub struct Pilot {
    /// The most processors of the group.
    pub procs: u32,
}

impl Group for Pilot {
    fn labels(&self, workflow: &Workflow) -> Vec<u32> {
        vec![0; workflow.len()]
    }

    fn inside(&self) -> Inside {
        Inside::SideBySide(self.procs)
    }
}
