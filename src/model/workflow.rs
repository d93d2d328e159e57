//! Workflows as plain data, which can be saved and sent.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::{
    GridContext, Job, JobId, Outcome, PartitionId, SiteId, TaskContext, TaskId, TaskTimes, WorkflowId,
};
use crate::units::{Bytes, Span, Time};

/// A workflow: its tasks, its files and what waits for what. Tasks and files are named by their places in these lists.
///
/// [`crate::workflow::Workflow`] is the checked graph of it, which is made again from it and never saved.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct WorkflowSpec {
    /// Its name.
    pub name: String,
    /// Its tasks.
    pub tasks: Vec<WorkflowTask>,
    /// Its files.
    pub files: Vec<WorkflowFile>,
    /// Tasks, and the tasks that wait for them. A task also waits for those that write what it reads, whether that is said here or not.
    pub edges: Vec<(u32, u32)>,
}

/// A task of a workflow.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct WorkflowTask {
    /// Its name.
    pub name: String,
    /// Its type.
    pub kind: String,
    /// Its run time at the reference speed.
    pub runtime: Span,
    /// Its run time on machines of a class, where that does not follow from their speed.
    pub by_class: BTreeMap<String, Span>,
    /// The processors that it needs.
    pub procs: u32,
    /// The memory that it needs, if known.
    pub memory: Option<Bytes>,
    /// The files that it reads.
    pub inputs: Vec<u32>,
    /// The files that it writes.
    pub outputs: Vec<u32>,
}

/// A file of a workflow.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct WorkflowFile {
    /// Its name.
    pub name: String,
    /// Its size.
    pub size: Bytes,
}

/// What users submit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Submission {
    /// A job.
    Job(Job),
    /// A workflow, whose tasks become jobs when those that they wait for have completed.
    Workflow(WorkflowSubmission),
}

/// A workflow that is submitted to the grid.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct WorkflowSubmission {
    /// When.
    pub submit: Time,
    /// The number in the workload of the job of its first task; those of the others follow in the order of tasks.
    pub first_job: JobId,
    /// Its number, which the portal gives.
    pub number: WorkflowId,
    /// The number at the portal of its first task, which the portal gives; those of the others follow.
    pub first_task: TaskId,
    /// The workflow.
    pub spec: WorkflowSpec,
    /// The seed of what is drawn for it, such as errors of estimates.
    pub seed: u64,
}

impl WorkflowSubmission {
    /// The submission of a workflow that the portal has not seen yet.
    pub fn new(submit: Time, first_job: JobId, spec: WorkflowSpec, seed: u64) -> Self {
        Self { submit, first_job, number: WorkflowId(0), first_task: TaskId(0), spec, seed }
    }

    /// The jobs of its tasks, in order. Their estimates are exact, or the run times of the same workflow as it is `believed` to be, beyond
    /// which they may run.
    pub fn jobs<'a>(&'a self, believed: Option<&'a WorkflowSpec>) -> impl Iterator<Item = Job> {
        let beliefs = believed.unwrap_or(&self.spec);
        (0_u64..).zip(self.spec.tasks.iter().zip(&beliefs.tasks)).map(move |(at, (task, belief))| {
            let times = |(class, runtime): (&String, &Span)| {
                let estimate = belief.by_class.get(class).copied().unwrap_or(*runtime);
                (class.clone(), TaskTimes { runtime: *runtime, estimate })
            };
            let own = (believed.is_some() || !task.by_class.is_empty()).then(|| TaskContext {
                overrun: believed.is_some(),
                by_class: task.by_class.iter().map(times).collect(),
                here: None,
            });
            let context = GridContext {
                number: self.first_task.0 + at,
                task: own.map(Box::new),
                ..GridContext::default()
            };
            let job = Job::rigid(self.first_job.0 + at, self.submit, task.procs, task.runtime);
            Job { estimate: belief.runtime, grid: Some(Box::new(context)), ..job }
        })
    }
}

/// One line of `tasks.csv`, written when the broker knows that the task has ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TaskRecord {
    /// The workflow.
    pub workflow: WorkflowId,
    /// The name of the task.
    pub name: String,
    /// Its type.
    pub kind: String,
    /// The number of its job in the workload.
    pub job: JobId,
    /// The site to which it was assigned last; [`SiteId::GRID`] if it is at none.
    pub site: SiteId,
    /// The partition to which it was assigned last.
    pub partition: PartitionId,
    /// When all that it waits for had completed; `None` if that never was.
    pub ready: Option<Time>,
    /// Its first start; `None` if it never started, or if it has not ended.
    pub start: Option<Time>,
    /// Its end; of a task that has not ended, that of the run.
    pub end: Time,
    /// When the broker knew of its end: the tasks that wait for it are ready then at the earliest.
    pub known: Time,
    /// Its outcome; cancelled if a task that it waits for did not complete.
    pub outcome: Outcome,
    /// The number of attempts that were started.
    pub attempts: u32,
}

/// One line of `workflows.csv`, written when the last of its tasks has ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct WorkflowRecord {
    /// The workflow.
    pub workflow: WorkflowId,
    /// Its name.
    pub name: String,
    /// When it was submitted.
    pub submit: Time,
    /// When the broker knew that its last task had ended; of a workflow that has not ended, the end of the run.
    pub end: Time,
    /// Completed if all its tasks are, unfinished if one of them is, otherwise failed.
    pub outcome: Outcome,
    /// The number of its tasks.
    pub tasks: u32,
    /// The number of those that completed.
    pub completed: u32,
    /// The longest way through it at reference speed, if data takes no time.
    pub critical_path: Span,
}

impl WorkflowRecord {
    /// The time from its submission to its end.
    pub fn makespan(&self) -> Span {
        self.end.since(self.submit)
    }
}
