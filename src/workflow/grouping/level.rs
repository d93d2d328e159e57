//! Levels: what can run side by side goes to a site as one job.

use super::{Group, GroupingInfo, Inside};
use crate::model::{Named, NamedError, ParamInfo};
use crate::workflow::Workflow;

/// The processors of a group whose number is not given: no workflow can use so many.
const ALL: u32 = u32::MAX;

pub(super) const PROCS: ParamInfo = ParamInfo {
    key: "procs",
    values: "1 to 10000000",
    default: "as many as its tasks can use at once",
    doc: "the most processors of a group; one whose tasks can use fewer at once, or of which one needs more, has those",
};

/// The processors that a group may have.
pub(super) fn take_procs(named: &mut Named) -> Result<u32, NamedError> {
    Ok(named.take_within(PROCS.key, 1..=10_000_000, "a number from 1 to 10000000")?.unwrap_or(ALL))
}

pub(super) fn info() -> GroupingInfo {
    GroupingInfo::new("level", |named| Ok(Box::new(Level { procs: take_procs(named)? })))
        .doc("Puts all tasks of a level together. They run side by side: a level waits in the queue of a site once.")
        .source("level-based clustering (Singh et al. 2008)")
        .params(&[PROCS])
}

/// All tasks of a level are a group.
#[derive(Copy, Clone, Debug)]
pub struct Level {
    /// The most processors of a group.
    pub procs: u32,
}

impl Group for Level {
    fn labels(&self, workflow: &Workflow) -> Vec<u32> {
        workflow.levels()
    }

    fn inside(&self) -> Inside {
        Inside::SideBySide(self.procs)
    }
}
