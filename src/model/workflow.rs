//! Workflows as plain data, which can be saved and sent.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::{
    Coallocated, GridContext, Job, JobId, Limits, Marks, Outcome, PartitionId, SiteId, TaskContext,
    TaskFailures, TaskId, TaskTimes, WorkflowId, WorkflowLimits,
};
use crate::units::{Bytes, Energy, Money, Span, Time};

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
    /// A job with parts at several sites, each of which is a job.
    Coallocated(Coallocated),
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
    /// The workflow as it is enacted. Each of its tasks is a job.
    pub spec: WorkflowSpec,
    /// The groups of tasks, if its tasks are groups.
    pub groups: Option<Box<TaskGroups>>,
    /// What its enactment takes beyond its tasks.
    pub overheads: WorkflowOverheads,
    /// How often attempts of its tasks fail by themselves, if they do.
    pub failures: Option<TaskFailures>,
    /// The tag that its tasks require of machines, by type; `*` is for all other types.
    pub tags: BTreeMap<String, String>,
    /// The seed of what is drawn for it, such as errors of estimates.
    pub seed: u64,
    /// Its deadline and its budget, if it has any.
    pub limits: Option<Box<WorkflowLimits>>,
}

/// What the enactment of a workflow takes beyond its tasks (Chen and Deelman 2011, "Workflow overhead analysis and optimizations").
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct WorkflowOverheads {
    /// The time from when a task is ready to when it can be assigned.
    pub engine_delay: Span,
    /// For how long each job holds its processors beyond the run time of its task, or of its group: before them.
    pub job_overhead: Span,
}

/// What the tasks of a workflow that is enacted in groups consist of.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TaskGroups {
    /// The workflow before its tasks were put into groups.
    pub workflow: WorkflowSpec,
    /// For each task that is enacted the tasks that it consists of, with when they run.
    pub members: Vec<Vec<GroupMember>>,
    /// Whether the tasks of a group run side by side, and not one after the other.
    pub side_by_side: bool,
}

/// A task in a group. Times are from the start of the group on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct GroupMember {
    /// Its place in the workflow before its tasks were put into groups.
    pub task: u32,
    /// When it begins and ends at reference speed.
    pub run: (Span, Span),
    /// When it begins and ends on machines of the classes on which each task of its group has a run time.
    pub by_class: BTreeMap<String, (Span, Span)>,
}

impl WorkflowSubmission {
    /// The submission of a workflow that the portal has not seen yet.
    pub fn new(submit: Time, first_job: JobId, spec: WorkflowSpec) -> Self {
        Self {
            submit,
            first_job,
            number: WorkflowId(0),
            first_task: TaskId(0),
            spec,
            groups: None,
            overheads: WorkflowOverheads::default(),
            failures: None,
            tags: BTreeMap::new(),
            seed: 0,
            limits: None,
        }
    }

    /// The workflow as it was before its tasks were put into groups.
    pub fn ungrouped(&self) -> &WorkflowSpec {
        self.groups.as_ref().map_or(&self.spec, |groups| &groups.workflow)
    }

    /// What the task at this place consists of, if it is a group.
    pub fn members(&self, at: usize) -> Option<&[GroupMember]> {
        let members = self.groups.as_ref()?.members.get(at)?;
        (members.len() > 1).then_some(members)
    }

    /// The jobs of its tasks, in order. Their estimates are exact, or the run times of the same workflow as it is `believed` to be, beyond
    /// which they may run.
    pub fn jobs<'a>(&'a self, believed: Option<&'a WorkflowSpec>) -> impl Iterator<Item = Job> {
        let beliefs = believed.unwrap_or(&self.spec);
        (0_u64..).zip(self.spec.tasks.iter().zip(&beliefs.tasks)).map(move |(at, (task, belief))| {
            let overhead = self.overheads.job_overhead;
            let times = |(class, runtime): (&String, &Span)| {
                let estimate = belief.by_class.get(class).copied().unwrap_or(*runtime);
                (class.clone(), TaskTimes { runtime: *runtime + overhead, estimate: estimate + overhead })
            };
            let marks = self.members(at as usize).map(|members| Marks::of(members, overhead));
            let own = TaskContext {
                overrun: believed.is_some(),
                overhead,
                by_class: task.by_class.iter().map(times).collect(),
                here: None,
                marks,
                faults: self.faults(at as usize),
                needs: self.needs(at as usize),
            };
            let context = GridContext {
                number: self.first_task.0 + at,
                task: (own != TaskContext::default()).then(|| Box::new(own)),
                ..GridContext::default()
            };
            let job = Job::rigid(self.first_job.0 + at, self.submit, task.procs, task.runtime + overhead);
            let limits = self.limits.as_ref().map(|limits| Box::new(limits.of(at as usize)));
            Job { estimate: belief.runtime + overhead, grid: Some(Box::new(context)), limits, ..job }
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
    /// The job of the task that it waited for last; `None` if it waits for none, or was never ready.
    pub after: Option<JobId>,
    /// When all that it waits for had completed; `None` if that never was.
    pub ready: Option<Time>,
    /// When the broker decided where it goes, for the assignment with which it first started; if it never started, for the last one.
    pub decided: Option<Time>,
    /// When it left the broker with that assignment: its files were at the site.
    pub sent: Option<Time>,
    /// When it was at the site with that assignment.
    pub queued: Option<Time>,
    /// Its first start; `None` if it never started, or if it has not ended.
    pub start: Option<Time>,
    /// The start of its last attempt; `None` also if it ended at no site.
    pub last_start: Option<Time>,
    /// Its end; of a task that has not ended, that of the run.
    pub end: Time,
    /// When the broker knew of its end: the tasks that wait for it are ready then at the earliest.
    pub known: Time,
    /// Its outcome; cancelled if a task that it waits for did not complete.
    pub outcome: Outcome,
    /// The number of attempts that were started.
    pub attempts: u32,
}

impl TaskRecord {
    /// The parts of the time from when it was ready to when the broker knew of its end; `None` if it was never ready, or has not ended.
    pub fn parts(&self) -> Option<ResponseParts> {
        let ready = self.ready.filter(|_| self.outcome != Outcome::Unfinished)?;
        let mut parts = ResponseParts::default();
        let Some(decided) = self.decided else {
            parts.dispatch = self.known.since(ready);
            return Some(parts);
        };
        // What has not come so far was still in the part before.
        let sent = self.sent.unwrap_or(self.end);
        let queued = self.queued.unwrap_or(self.end);
        let start = self.start.unwrap_or(self.end);
        let restart = self.last_start.filter(|_| self.outcome == Outcome::Completed).unwrap_or(self.end);
        parts.dispatch = decided.since(ready) + queued.since(sent) + self.known.since(self.end);
        parts.data = sent.since(decided);
        parts.queue = start.since(queued);
        parts.lost = restart.since(start);
        parts.run = self.end.since(restart);
        Some(parts)
    }
}

/// A time divided by what it was spent on. They sum to the whole.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ResponseParts {
    /// Attempts that completed.
    pub run: Span,
    /// Decided, and waiting for files at the site.
    pub data: Span,
    /// Ready and not decided, on the way to the site, and the message of the end on its way back.
    pub dispatch: Span,
    /// At the site, not started.
    pub queue: Span,
    /// From the first start to the start of the attempt that completed; to the end, if none did.
    pub lost: Span,
}

impl ResponseParts {
    /// Their names, in order.
    pub const NAMES: [&'static str; 5] = ["run", "data", "dispatch", "queue", "lost"];

    /// The parts, in the order of their names.
    pub const fn each(&self) -> [Span; 5] {
        [self.run, self.data, self.dispatch, self.queue, self.lost]
    }

    /// Their sum.
    pub fn total(&self) -> Span {
        self.each().into_iter().fold(Span::ZERO, |sum, part| sum + part)
    }
}

impl std::ops::Add for ResponseParts {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self {
            run: self.run + other.run,
            data: self.data + other.data,
            dispatch: self.dispatch + other.dispatch,
            queue: self.queue + other.queue,
            lost: self.lost + other.lost,
        }
    }
}

/// What a workflow would take on an empty grid whose machines stand.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct WorkflowBounds {
    /// The longest way through it with each task on the fastest processors that fit it, if data and messages take no time.
    pub fastest_path: Span,
    /// Its work: processors × run time of each task, on the fastest processors that fit it.
    pub work: Span,
    /// A time below which no schedule can finish it alone: the fastest path, or its work over all processors at their speeds, whichever is more.
    pub alone: Span,
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
    /// The number of attempts of its tasks that were started.
    pub attempts: u64,
    /// The longest way through it at reference speed, if data takes no time.
    pub critical_path: Span,
    /// What it would take on an empty grid.
    pub bounds: WorkflowBounds,
    /// Most processors that its tasks held at once, in attempts that completed.
    pub peak: u32,
    /// The job of the task that ended last; `None` if the workflow has not ended.
    pub last: Option<JobId>,
    /// The parts of its makespan along the path that determined its end: from that task back to the one for which it waited last, and so on.
    /// `None` if the workflow has not ended.
    pub parts: Option<ResponseParts>,
    /// The sizes of all copies of its files that had arrived.
    pub moved: Bytes,
    /// Energy charged to the jobs of its tasks that had ended.
    pub energy: Energy,
    /// Money charged to them.
    pub cost: Money,
    /// Its deadline and its budget, if it has any.
    pub limits: Option<Box<Limits>>,
}

impl WorkflowRecord {
    /// The time from its submission to its end.
    pub fn makespan(&self) -> Span {
        self.end.since(self.submit)
    }
}
