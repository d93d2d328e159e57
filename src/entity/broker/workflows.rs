//! Workflows at the broker: which tasks wait for which, and what follows from the end of one.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use super::course::{Course, bounds, peak};
use super::{Broker, State, unplaced};
use crate::broker::{BrokerEvent, Pool, TaskState, Tasks};
use crate::entity::{EndedJob, EntityError, Outbox, Stamp};
use crate::model::{
    GroupMember, Job, JobId, Outcome, PartitionId, PoolId, Record, RecordSink, ResponseParts, SiteId, TaskId,
    TaskRecord, WorkflowBounds, WorkflowRecord, WorkflowSpec, WorkflowSubmission,
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
    bounds: WorkflowBounds,
    /// How each task comes on.
    tasks: Vec<Course>,
    /// Tasks that have not ended.
    left: u32,
    completed: u32,
    attempts: u64,
    /// For each task those that wait for it; follows from the workflow.
    #[serde(skip)]
    successors: Vec<Vec<u32>>,
}

/// The critical path at reference speed, in seconds, and what the tasks would take on an empty grid.
fn least(workflow: &Workflow, jobs: &[Box<Job>], pools: &[Pool]) -> (f64, WorkflowBounds) {
    (workflow.critical_path(&Costs::at_reference(workflow, None)).0, bounds(workflow, jobs, pools))
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
            (at < enacted.tasks.len() as u64).then_some(TaskId(enacted.submitted.first_task.0 + at))
        })
    }

    /// The workflow of a task, with the task's place in it.
    fn of(&mut self, task: TaskId) -> Option<(&mut Enacted, usize)> {
        let (first, enacted) = self.0.range_mut(..=task).next_back()?;
        let at = usize::try_from(task.0 - first.0).ok()?;
        (at < enacted.tasks.len()).then_some((enacted, at))
    }

    /// How a task comes on; `None` if it is of no workflow.
    pub(super) fn course(&mut self, task: TaskId) -> Option<&mut Course> {
        self.of(task).map(|(enacted, at)| &mut enacted.tasks[at])
    }

    /// Ends the run: records the tasks that have not ended, as far as the broker knows, and the workflows.
    pub(super) fn close(&mut self, tasks: &Tasks, pools: &[Pool], now: Time, sink: &mut dyn RecordSink) {
        for mut enacted in std::mem::take(&mut self.0).into_values() {
            let first = enacted.submitted.first_task;
            for at in 0..enacted.tasks.len() {
                let id = TaskId(first.0 + at as u64);
                let Some(state) = tasks.state(id) else { continue };
                let arrival = tasks.arrival(id).map(|stamp| stamp.time).filter(|arrival| *arrival <= now);
                enacted.tasks[at].arrive(arrival, false);
                let pool = match state {
                    TaskState::Placed(pool) => pools.get(pool).map(|pool| pool.facts.id),
                    _ => None,
                };
                let ran = Ran { pool, ..Ran::nowhere(now) };
                enacted.record_task(at, enacted.task_record(at, Outcome::Unfinished, ran, now), &[], sink);
            }
            sink.record(enacted.record(Outcome::Unfinished, None, now));
        }
    }
}

/// Where and when a task ran.
struct Ran {
    pool: Option<PoolId>,
    start: Option<Time>,
    last_start: Option<Time>,
    end: Time,
    attempts: u32,
}

impl Ran {
    const fn nowhere(end: Time) -> Self {
        Self { pool: None, start: None, last_start: None, end, attempts: 0 }
    }
}

impl Enacted {
    /// Records a task, or those of a group, which has passed its marks at these times.
    fn record_task(&self, at: usize, whole: TaskRecord, passed: &[Time], sink: &mut dyn RecordSink) {
        let Some(members) = self.submitted.members(at) else { return sink.record(Record::Task(whole)) };
        let marks = GroupMember::marks(members);
        let passed = |mark: Span| passed.get(marks.binary_search(&mark).ok()?).copied();
        for member in members {
            let task = &self.submitted.ungrouped().tasks[member.task as usize];
            let start = passed(member.run.0);
            sink.record(Record::Task(TaskRecord {
                name: task.name.clone(),
                kind: task.kind.clone(),
                start,
                last_start: start,
                end: passed(member.run.1).unwrap_or(whole.end),
                ..whole.clone()
            }));
        }
    }

    fn task_record(&self, at: usize, outcome: Outcome, ran: Ran, known: Time) -> TaskRecord {
        let (task, course) = (&self.submitted.spec.tasks[at], &self.tasks[at]);
        let nowhere = PoolId { site: SiteId::GRID, partition: PartitionId::default() };
        let PoolId { site, partition } = ran.pool.unwrap_or(nowhere);
        TaskRecord {
            workflow: self.submitted.number,
            name: task.name.clone(),
            kind: task.kind.clone(),
            job: self.job(at),
            site,
            partition,
            after: course.after.map(|at| self.job(at as usize)),
            ready: course.ready,
            decided: course.decided,
            sent: course.sent,
            queued: course.queued,
            start: ran.start,
            last_start: ran.last_start,
            end: ran.end,
            known,
            outcome,
            attempts: ran.attempts,
        }
    }

    /// The job of a task.
    fn job(&self, at: usize) -> JobId {
        JobId(self.submitted.first_job.0 + at as u64)
    }

    /// The record of the workflow. `last` is the task that ended last, with the parts of the time up to its end.
    fn record(&self, outcome: Outcome, last: Option<(usize, ResponseParts)>, end: Time) -> Record {
        let procs = self.submitted.spec.tasks.iter().map(|task| task.procs);
        let held = self.tasks.iter().zip(procs).filter_map(|(task, procs)| {
            let (from, to) = task.ran?;
            Some((from, to, procs))
        });
        Record::Workflow(WorkflowRecord {
            workflow: self.submitted.number,
            name: self.submitted.spec.name.clone(),
            submit: self.submitted.submit,
            end,
            outcome,
            tasks: self.submitted.ungrouped().tasks.len() as u32,
            completed: self.completed,
            attempts: self.attempts,
            critical_path: self.critical_path,
            bounds: self.bounds,
            peak: peak(held),
            last: last.map(|(at, _)| self.job(at)),
            parts: last.map(|(_, parts)| parts),
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
        let jobs: Vec<Box<Job>> = submitted.jobs().map(Box::new).collect();
        // What it needs at least is said of its tasks, not of the groups that they are in.
        let (secs, bounds) = match &submitted.groups {
            None => least(&workflow, &jobs, &self.state.pools),
            Some(groups) => {
                let alone = WorkflowSubmission::new(submitted.submit, JobId(0), groups.workflow.clone());
                let jobs: Vec<Box<Job>> = alone.jobs().map(Box::new).collect();
                least(&checked(&groups.workflow)?, &jobs, &self.state.pools)
            }
        };
        let mut entries = Vec::new();
        for (id, job) in workflow.ids().zip(jobs) {
            match workflow.predecessors(id).count() {
                0 => entries.push(job),
                missing => self.state.tasks.block(job, missing as u32),
            }
        }
        let enacted = Enacted {
            critical_path: Span::from_secs_f64(secs).unwrap_or(Span::MAX),
            bounds,
            tasks: vec![Course::default(); workflow.len()],
            left: workflow.len() as u32,
            completed: 0,
            attempts: 0,
            successors: successors(&workflow),
            submitted,
        };
        self.state.workflows.0.insert(enacted.submitted.first_task, enacted);
        entries.into_iter().for_each(|job| self.ready(job, None, now, outbox));
        Ok(())
    }

    /// Lets a task wait to be assigned, now that all that it waits for has completed: it is submitted as a job of the grid. `after` is the task
    /// that it waited for last, with the parts of the time up to its end.
    fn ready(
        &mut self,
        mut job: Box<Job>,
        after: Option<(u32, ResponseParts)>,
        now: Stamp,
        outbox: &mut dyn Outbox,
    ) {
        job.resubmit(now.time);
        if let Some(course) = self.state.workflows.course(super::task(&job)) {
            course.ready = Some(now.time);
            if let Some((task, path)) = after {
                (course.after, course.path) = (Some(task), path);
            }
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
        let EndedJob { outcome, start, last_start, end, attempts, ref passed, .. } = *ended;
        let record =
            enacted.task_record(at, outcome, Ran { pool, start, last_start, end, attempts }, now.time);
        let path = enacted.tasks[at].path + record.parts().unwrap_or_default();
        enacted.record_task(at, record, passed, outbox);
        enacted.tasks[at].ran = last_start.filter(|_| outcome == Outcome::Completed).map(|from| (from, end));
        enacted.attempts += u64::from(attempts);
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
                let record = enacted.task_record(at, outcome, Ran::nowhere(now.time), now.time);
                enacted.record_task(at, record, &[], outbox);
                enacted.left -= 1;
                *done += 1;
                doomed.extend(&enacted.successors[at]);
                cancelled.push(EndedJob::unplaced(&job, outcome, now.time));
            }
        }
        if enacted.left == 0 {
            let all = enacted.completed as usize == enacted.submitted.ungrouped().tasks.len();
            let outcome = if all { Outcome::Completed } else { Outcome::Failed };
            outbox.record(enacted.record(outcome, Some((at, path)), now.time));
            workflows.0.remove(&first);
        }
        cancelled.iter().for_each(|ended| self.notify_portal(ended, now, outbox));
        let after = Some((at as u32, path));
        unblocked.into_iter().for_each(|job| self.ready(job, after, now, outbox));
    }
}
