//! Workflows at the broker: which tasks wait for which, and what follows from the end of one.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use super::{Broker, State, unplaced};
use crate::broker::{BrokerEvent, Pool, TaskState, Tasks};
use crate::entity::{EndedJob, EntityError, Outbox, Stamp};
use crate::model::{
    GroupMember, Job, JobId, Outcome, PartitionId, PoolId, Record, RecordSink, SiteId, TaskId, TaskRecord,
    WorkflowRecord, WorkflowSpec, WorkflowSubmission, WorkflowTask,
};
use crate::units::{Span, Time};
use crate::workflow::{Costs, Workflow};

/// The workflows that have not ended, by the number of their first task.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Workflows(BTreeMap<TaskId, Enacted>);

/// A workflow that has not ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Enacted {
    submitted: WorkflowSubmission,
    critical_path: Span,
    /// When each task was ready.
    ready: Vec<Option<Time>>,
    /// Tasks that have not ended.
    left: u32,
    completed: u32,
    /// For each task those that wait for it; follows from the workflow.
    #[serde(skip)]
    successors: Vec<Vec<u32>>,
}

/// The tasks that wait for each task.
fn successors(workflow: &Workflow) -> Vec<Vec<u32>> {
    workflow.ids().map(|task| workflow.successors(task).map(|(to, _)| to.0).collect()).collect()
}

impl Workflows {
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Makes again what a snapshot does not have.
    pub(super) fn rebuild(&mut self) -> Result<(), String> {
        for enacted in self.0.values_mut() {
            let workflow = Workflow::from_spec(enacted.submitted.spec.clone());
            enacted.successors = successors(&workflow.map_err(|error| error.to_string())?);
        }
        Ok(())
    }

    /// The task of the job of that number, if its workflow has not ended.
    fn task_of(&self, job: JobId) -> Option<TaskId> {
        self.0.values().find_map(|enacted| {
            let at = job.0.checked_sub(enacted.submitted.first_job.0)?;
            (at < enacted.ready.len() as u64).then_some(TaskId(enacted.submitted.first_task.0 + at))
        })
    }

    /// The workflow of a task, with the task's place in it.
    fn of(&mut self, task: TaskId) -> Option<(&mut Enacted, usize)> {
        let (first, enacted) = self.0.range_mut(..=task).next_back()?;
        let at = usize::try_from(task.0 - first.0).ok()?;
        (at < enacted.ready.len()).then_some((enacted, at))
    }

    /// Ends the run: records the tasks that have not ended, as far as the broker knows, and the workflows.
    pub(super) fn close(&mut self, tasks: &Tasks, pools: &[Pool], now: Time, sink: &mut dyn RecordSink) {
        for enacted in std::mem::take(&mut self.0).into_values() {
            let first = enacted.submitted.first_task;
            for at in 0..enacted.ready.len() {
                let Some(state) = tasks.state(TaskId(first.0 + at as u64)) else { continue };
                let pool = match state {
                    TaskState::Placed(pool) => pools.get(pool).map(|pool| pool.facts.id),
                    _ => None,
                };
                let ran = Ran { pool, ..Ran::nowhere(now) };
                enacted.record_task(at, Outcome::Unfinished, &ran, now, sink);
            }
            sink.record(enacted.record(Outcome::Unfinished, now));
        }
    }
}

/// Where and when a task ran.
#[derive(Copy, Clone)]
struct Ran<'a> {
    pool: Option<PoolId>,
    start: Option<Time>,
    end: Time,
    attempts: u32,
    /// When a group passed the marks between its tasks.
    passed: &'a [Time],
}

impl Ran<'_> {
    fn nowhere(end: Time) -> Self {
        Self { pool: None, start: None, end, attempts: 0, passed: &[] }
    }
}

impl Enacted {
    /// Records a task, or all tasks of a group.
    fn record_task(
        &self,
        at: usize,
        outcome: Outcome,
        ran: &Ran<'_>,
        known: Time,
        sink: &mut dyn RecordSink,
    ) {
        let Some(members) = self.submitted.members(at) else {
            let task = &self.submitted.spec.tasks[at];
            return sink.record(self.task_record(task, at, outcome, ran, known));
        };
        let marks = GroupMember::marks(members);
        let passed = |mark: Span| ran.passed.get(marks.binary_search(&mark).ok()?).copied();
        for member in members {
            let task = &self.submitted.ungrouped().tasks[member.task as usize];
            let (start, end) = (passed(member.run.0), passed(member.run.1));
            let ran = Ran { start, end: end.unwrap_or(ran.end), ..*ran };
            sink.record(self.task_record(task, at, outcome, &ran, known));
        }
    }

    fn task_record(
        &self,
        task: &WorkflowTask,
        at: usize,
        outcome: Outcome,
        ran: &Ran<'_>,
        known: Time,
    ) -> Record {
        let nowhere = PoolId { site: SiteId::GRID, partition: PartitionId::default() };
        let PoolId { site, partition } = ran.pool.unwrap_or(nowhere);
        Record::Task(TaskRecord {
            workflow: self.submitted.number,
            name: task.name.clone(),
            kind: task.kind.clone(),
            job: JobId(self.submitted.first_job.0 + at as u64),
            site,
            partition,
            ready: self.ready[at],
            start: ran.start,
            end: ran.end,
            known,
            outcome,
            attempts: ran.attempts,
        })
    }

    fn record(&self, outcome: Outcome, end: Time) -> Record {
        Record::Workflow(WorkflowRecord {
            workflow: self.submitted.number,
            name: self.submitted.spec.name.clone(),
            submit: self.submitted.submit,
            end,
            outcome,
            tasks: self.submitted.ungrouped().tasks.len() as u32,
            completed: self.completed,
            critical_path: self.critical_path,
        })
    }
}

impl Broker {
    /// True if the job is a task of a workflow that waits for others to complete.
    pub fn blocks(&self, id: JobId) -> bool {
        let task = self.state.workflows.task_of(id);
        task.and_then(|task| self.state.tasks.state(task)) == Some(TaskState::Blocked)
    }

    /// Begins a workflow: its tasks enter the table, those that wait for none as ready.
    pub(super) fn begin(
        &mut self,
        submitted: WorkflowSubmission,
        now: Stamp,
        outbox: &mut dyn Outbox,
    ) -> Result<(), EntityError> {
        let checked = |spec: &WorkflowSpec| {
            Workflow::from_spec(spec.clone()).map_err(|error| {
                let name = spec.name.clone();
                EntityError::BadWorkflow { number: submitted.number, name, problem: error.to_string() }
            })
        };
        let workflow = checked(&submitted.spec)?;
        let ungrouped = submitted.groups.as_ref().map(|groups| checked(&groups.workflow)).transpose()?;
        let whole = ungrouped.as_ref().unwrap_or(&workflow);
        let (secs, _) = whole.critical_path(&Costs::at_reference(whole, None));
        let mut entries = Vec::new();
        for (id, job) in workflow.ids().zip(submitted.jobs().map(Box::new)) {
            match workflow.predecessors(id).count() {
                0 => entries.push(job),
                missing => self.state.tasks.block(job, missing as u32),
            }
        }
        let enacted = Enacted {
            critical_path: Span::from_secs_f64(secs).unwrap_or(Span::MAX),
            ready: vec![None; workflow.len()],
            left: workflow.len() as u32,
            completed: 0,
            successors: successors(&workflow),
            submitted,
        };
        self.state.workflows.0.insert(enacted.submitted.first_task, enacted);
        entries.into_iter().for_each(|job| self.ready(job, now, outbox));
        Ok(())
    }

    /// Lets a task wait to be assigned, now that all that it waits for has completed.
    fn ready(&mut self, job: Box<Job>, now: Stamp, outbox: &mut dyn Outbox) {
        if let Some((enacted, at)) = self.state.workflows.of(super::task(&job)) {
            enacted.ready[at] = Some(now.time);
        }
        self.policy.on(&BrokerEvent::Unblocked(job.id));
        self.wait(job, Vec::new(), now, outbox);
    }

    /// Goes on with the workflow of a job that has ended, if it is of one: what waits for it is ready if it has completed and was the last;
    /// if it has not, all that wait for it, directly or not, end as cancelled.
    pub(super) fn enact(
        &mut self,
        ended: &EndedJob,
        pool: Option<PoolId>,
        now: Stamp,
        outbox: &mut dyn Outbox,
    ) {
        let State { workflows, tasks, done, .. } = &mut self.state;
        let Some((enacted, at)) = workflows.of(ended.task) else { return };
        let EndedJob { outcome, start, end, attempts, ref passed, .. } = *ended;
        enacted.record_task(at, outcome, &Ran { pool, start, end, attempts, passed }, now.time, outbox);
        enacted.left -= 1;
        let first = enacted.submitted.first_task;
        let id = |at: u32| TaskId(first.0 + u64::from(at));
        let (mut unblocked, mut cancelled) = (Vec::new(), Vec::new());
        if outcome == Outcome::Completed {
            enacted.completed += enacted.submitted.members(at).map_or(1, <[_]>::len) as u32;
            unblocked.extend(enacted.successors[at].iter().filter_map(|next| tasks.unblock(id(*next))));
        } else {
            let mut doomed: BTreeSet<u32> = enacted.successors[at].iter().copied().collect();
            while let Some(next) = doomed.pop_first() {
                let Some(job) = tasks.take_blocked(id(next)) else { continue };
                let (at, outcome) = (next as usize, Outcome::Cancelled);
                outbox.record(Record::Job(unplaced(&job, outcome, now.time)));
                enacted.record_task(at, outcome, &Ran::nowhere(now.time), now.time, outbox);
                enacted.left -= 1;
                *done += 1;
                doomed.extend(&enacted.successors[at]);
                cancelled.push(EndedJob::unplaced(&job, outcome, now.time));
            }
        }
        if enacted.left == 0 {
            let all = enacted.completed as usize == enacted.submitted.ungrouped().tasks.len();
            let outcome = if all { Outcome::Completed } else { Outcome::Failed };
            outbox.record(enacted.record(outcome, now.time));
            workflows.0.remove(&first);
        }
        cancelled.iter().for_each(|ended| self.notify_portal(ended, now, outbox));
        unblocked.into_iter().for_each(|job| self.ready(job, now, outbox));
    }
}
