//! Workflows as a policy sees them.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use super::mapping::Dag;
use super::{Planned, TaskState, Tasks};
use crate::model::TaskId;
use crate::units::Time;

/// A workflow that has not ended: what waits for what, and what has become of each task.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LiveWorkflow {
    first: TaskId,
    ended: Vec<Option<Ended>>,
    /// It follows from the description of the workflow, and is not saved; so do the upward ranks.
    #[serde(skip)]
    dag: Dag,
    #[serde(skip)]
    ranks: Vec<u64>,
}

/// The end of a task.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ended {
    /// The place of its pool; `None` if it ended with the broker.
    pub pool: Option<usize>,
    /// When it ended.
    pub at: Time,
}

/// What has become of a task of a workflow.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum TaskProgress {
    /// It waits, and no plan has decided about it.
    Undecided,
    /// It waits, and goes where a plan says.
    Planned(Planned),
    /// It was sent to the pool at this place. If a plan had decided about it, that is told, too.
    Placed(usize, Option<Planned>),
    /// It has ended.
    Ended(Ended),
}

impl LiveWorkflow {
    /// A workflow none of whose tasks has ended; they are numbered from `first`.
    pub fn new(first: TaskId, dag: Dag, ranks: Vec<u64>) -> Self {
        Self { first, ended: vec![None; dag.tasks()], dag, ranks }
    }

    /// The same with its graph, once it was restored.
    pub(crate) fn set_dag(&mut self, dag: Dag, ranks: Vec<u64>) {
        (self.dag, self.ranks) = (dag, ranks);
    }

    /// The upward rank of the task at a place in microseconds: the longest way through run times, as they are estimated, from its start to the end of
    /// the workflow. Of each task the mean over its machine classes, or else the time at the reference speed.
    pub fn rank(&self, at: usize) -> u64 {
        self.ranks[at]
    }

    /// The number of its tasks.
    pub fn tasks(&self) -> usize {
        self.ended.len()
    }

    /// What waits for what, and the data that goes with it. A task has its place among the tasks of the workflow.
    pub fn dag(&self) -> &Dag {
        &self.dag
    }

    /// The number of the task at a place.
    pub fn id(&self, at: usize) -> TaskId {
        TaskId(self.first.0 + at as u64)
    }

    /// The place of a task, if it is of this workflow.
    pub fn place(&self, task: TaskId) -> Option<usize> {
        let at = usize::try_from(task.0.checked_sub(self.first.0)?).ok()?;
        (at < self.tasks()).then_some(at)
    }

    /// The end of the task at a place, if it has ended.
    pub fn ended(&self, at: usize) -> Option<Ended> {
        self.ended[at]
    }

    /// What has become of the task at a place.
    pub fn progress(&self, at: usize, tasks: &Tasks) -> TaskProgress {
        if let Some(ended) = self.ended[at] {
            return TaskProgress::Ended(ended);
        }
        let plan = tasks.plan_of(self.id(at));
        match tasks.state(self.id(at)) {
            Some(TaskState::Staging(pool) | TaskState::Placed(pool)) => TaskProgress::Placed(pool, plan),
            _ => plan.map_or(TaskProgress::Undecided, TaskProgress::Planned),
        }
    }

    /// Notes the end of the task at a place.
    pub(crate) fn end(&mut self, at: usize, ended: Ended) {
        self.ended[at] = Some(ended);
    }

    /// Notes that the task at a place, which had ended, runs again.
    pub(crate) fn reopen(&mut self, at: usize) {
        self.ended[at] = None;
    }

    /// The tasks that the one at a place waits for and that have not ended.
    pub(crate) fn open_before(&self, at: usize) -> u32 {
        self.dag.predecessors(at).filter(|(before, _)| self.ended[*before].is_none()).count() as u32
    }

    /// The tasks that wait for the task at a place, directly or only through such tasks, in ascending order: those to `follow`.
    pub(crate) fn descendants(&self, at: usize, follow: impl Fn(TaskId) -> bool) -> Vec<TaskId> {
        let (mut found, mut next) = (BTreeSet::new(), vec![at]);
        while let Some(task) = next.pop() {
            for (after, _) in self.dag.successors(task) {
                if follow(self.id(after)) && found.insert(self.id(after)) {
                    next.push(after);
                }
            }
        }
        found.into_iter().collect()
    }
}
