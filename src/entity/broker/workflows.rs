//! Workflows at the broker: which tasks wait for which, and what follows from the end of one.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use super::data::Data;
use super::{Broker, State, unplaced};
use crate::broker::mapping::Dag;
use crate::broker::{BrokerEvent, Ended, LiveWorkflow, Planned, Pool, TaskState, Tasks};
use crate::entity::{EndedJob, EntityError, Outbox, Stamp};
use crate::model::{
    FileId, Job, JobId, Outcome, PartitionId, PoolId, Record, RecordSink, SiteId, TaskId, TaskRecord,
    WorkflowId, WorkflowRecord, WorkflowSettings, WorkflowSubmission,
};
use crate::units::{Span, Time};
use crate::workflow::{Costs, Estimates, Workflow};

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
    /// What policies see of it.
    live: LiveWorkflow,
    /// The number of its first file; those of the others follow.
    first_file: FileId,
    /// For each file the tasks that read it; follows from the workflow.
    #[serde(skip)]
    readers: Vec<Vec<u32>>,
}

/// The tasks that read each file.
fn readers(workflow: &Workflow) -> Vec<Vec<u32>> {
    workflow.files().iter().map(|file| file.consumers.iter().map(|task| task.0).collect()).collect()
}

/// The upward ranks of the tasks, in microseconds, as their run times are estimated.
fn ranks(workflow: &Workflow, submitted: &WorkflowSubmission, settings: &WorkflowSettings) -> Vec<u64> {
    let believed = Estimates::wanted(settings).map(|wanted| wanted.of(workflow, 0, submitted.seed));
    let workflow = believed.as_ref().unwrap_or(workflow);
    let ranks = workflow.upward_ranks(&Costs::mean_over_classes(workflow, None));
    ranks.into_iter().map(|secs| libm::round(secs * 1e6) as u64).collect()
}

impl Workflows {
    /// How urgent a task is: its upward rank, if it is of a workflow that has not ended.
    pub(super) fn urgency(&mut self, task: TaskId) -> Option<u64> {
        self.of(task).map(|(enacted, at)| enacted.live.rank(at))
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Makes again what a snapshot does not have.
    pub(super) fn rebuild(&mut self, settings: &WorkflowSettings) -> Result<(), String> {
        for enacted in self.0.values_mut() {
            let workflow = Workflow::from_spec(enacted.submitted.spec.clone());
            let workflow = workflow.map_err(|error| error.to_string())?;
            enacted.live.set_dag(Dag::of(&workflow), ranks(&workflow, &enacted.submitted, settings));
            enacted.readers = readers(&workflow);
        }
        Ok(())
    }

    /// The task of the job of that number, if its workflow has not ended.
    pub(super) fn task_of(&self, job: JobId) -> Option<TaskId> {
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

    /// What policies see of them, in the order in which they arrived.
    pub(super) fn live(&self) -> impl Iterator<Item = &LiveWorkflow> {
        self.0.values().map(|enacted| &enacted.live)
    }

    /// All that waits for a task, directly or not, by number.
    pub(super) fn descendants(&mut self, task: TaskId) -> Vec<TaskId> {
        let Some((enacted, at)) = self.of(task) else { return Vec::new() };
        enacted.live.descendants(at).into_iter().map(|at| enacted.live.id(at)).collect()
    }

    /// The same, to be read.
    fn get(&self, task: TaskId) -> Option<(&Enacted, usize)> {
        let (first, enacted) = self.0.range(..=task).next_back()?;
        let at = usize::try_from(task.0 - first.0).ok()?;
        (at < enacted.ready.len()).then_some((enacted, at))
    }

    /// The files that a task reads.
    pub(super) fn inputs(&self, task: TaskId) -> impl Iterator<Item = FileId> + '_ {
        self.get(task).into_iter().flat_map(|(enacted, at)| enacted.inputs(at))
    }

    /// The files that a task writes.
    pub(super) fn outputs(&self, task: TaskId) -> impl Iterator<Item = FileId> + '_ {
        self.get(task).into_iter().flat_map(|(enacted, at)| enacted.outputs(at))
    }

    /// The tasks that read a file of the workflow of a task.
    pub(super) fn readers(&self, file: FileId, of: TaskId) -> Vec<TaskId> {
        let Some((enacted, _)) = self.get(of) else { return Vec::new() };
        let first = enacted.submitted.first_task.0;
        enacted.readers[enacted.place(file)].iter().map(|at| TaskId(first + u64::from(*at))).collect()
    }

    /// The workflow of a task, the name of a file of it, and the job of the task.
    pub(super) fn named(&self, task: TaskId, file: FileId) -> Option<(WorkflowId, &str, JobId)> {
        let (enacted, at) = self.get(task)?;
        let job = JobId(enacted.submitted.first_job.0 + at as u64);
        Some((enacted.submitted.number, &enacted.submitted.spec.files[enacted.place(file)].name, job))
    }

    /// Ends the run: records the tasks that have not ended, as far as the broker knows, and the workflows.
    pub(super) fn close(&mut self, tasks: &Tasks, pools: &[Pool], now: Time, sink: &mut dyn RecordSink) {
        for enacted in std::mem::take(&mut self.0).into_values() {
            let first = enacted.submitted.first_task;
            for at in 0..enacted.ready.len() {
                let Some(state) = tasks.state(TaskId(first.0 + at as u64)) else { continue };
                let pool = match state {
                    TaskState::Placed(pool) | TaskState::Staging(pool) => {
                        pools.get(pool).map(|pool| pool.facts.id)
                    }
                    _ => None,
                };
                let ran = Ran { pool, start: None, end: now, attempts: 0 };
                sink.record(enacted.task_record(at, Outcome::Unfinished, ran, now));
            }
            sink.record(enacted.record(Outcome::Unfinished, now));
        }
    }
}

/// Where and when a task ran.
struct Ran {
    pool: Option<PoolId>,
    start: Option<Time>,
    end: Time,
    attempts: u32,
}

impl Enacted {
    /// The place of a file of the workflow in its list.
    fn place(&self, file: FileId) -> usize {
        (file.0 - self.first_file.0) as usize
    }

    fn files<'a>(&self, places: &'a [u32]) -> impl Iterator<Item = FileId> + use<'a> {
        let first = self.first_file.0;
        places.iter().map(move |at| FileId(first + u64::from(*at)))
    }

    fn inputs(&self, at: usize) -> impl Iterator<Item = FileId> + use<'_> {
        self.files(&self.submitted.spec.tasks[at].inputs)
    }

    fn outputs(&self, at: usize) -> impl Iterator<Item = FileId> + use<'_> {
        self.files(&self.submitted.spec.tasks[at].outputs)
    }

    /// Notes that a task has ended: what nobody needs any more goes. What a task should have written and has not will not be.
    fn release(&self, at: usize, completed: bool, data: &mut Data) {
        self.inputs(at).for_each(|file| _ = data.replicas.used(file));
        if !completed {
            let results = self.outputs(at).filter(|file| self.readers[self.place(*file)].is_empty());
            results.for_each(|file| _ = data.replicas.used(file));
        }
    }

    fn task_record(&self, at: usize, outcome: Outcome, ran: Ran, known: Time) -> Record {
        let task = &self.submitted.spec.tasks[at];
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
            tasks: self.ready.len() as u32,
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
        let workflow = Workflow::from_spec(submitted.spec.clone()).map_err(|error| {
            let name = submitted.spec.name.clone();
            EntityError::BadWorkflow { number: submitted.number, name, problem: error.to_string() }
        })?;
        let (secs, _) = workflow.critical_path(&Costs::at_reference(&workflow, None));
        let first_file = self.state.data.number(workflow.files().len());
        for (number, file) in (first_file.0..).zip(workflow.files()) {
            // A result is used by who brings it home.
            let users = match file.producer {
                None if file.consumers.is_empty() => continue,
                _ => file.consumers.len().max(1) as u32,
            };
            self.state.data.replicas.add(FileId(number), file.size, users);
            if file.producer.is_none() {
                self.state.data.replicas.arrived(FileId(number), self.spec.workflow.files);
            }
        }
        let mut entries = Vec::new();
        let believed = Estimates::wanted(&self.spec.workflow);
        let believed = believed.map(|wanted| wanted.of(&workflow, 0, submitted.seed).spec());
        for (id, job) in workflow.ids().zip(submitted.jobs(believed.as_ref()).map(Box::new)) {
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
            live: LiveWorkflow::new(
                submitted.first_task,
                Dag::of(&workflow),
                ranks(&workflow, &submitted, &self.spec.workflow),
            ),
            first_file,
            readers: readers(&workflow),
            submitted,
        };
        self.state.workflows.0.insert(enacted.submitted.first_task, enacted);
        entries.into_iter().for_each(|job| self.ready(job, None, now, outbox));
        if self.spec.workflow.together {
            self.lose_all();
        }
        Ok(())
    }

    /// Lets a task wait to be assigned, now that all that it waits for has completed. If it is planned, it waits for its turn.
    fn ready(&mut self, job: Box<Job>, planned: Option<Planned>, now: Stamp, outbox: &mut dyn Outbox) {
        let task = super::task(&job);
        if let Some((enacted, at)) = self.state.workflows.of(task) {
            enacted.ready[at] = Some(now.time);
        }
        self.policy.on(&BrokerEvent::Unblocked(job.id));
        self.wait(job, Vec::new(), now, outbox);
        if let Some(planned) = planned {
            self.state.tasks.plan(task, planned);
            self.bring_ahead(task, planned.pool, now, outbox);
        }
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
        let place = pool.and_then(|pool| self.pool_at(pool));
        let EndedJob { outcome, start, end, attempts, .. } = *ended;
        if let Some(pool) = pool.filter(|_| outcome == Outcome::Completed) {
            self.made(ended.task, pool.site, now, outbox);
        }
        let State { workflows, tasks, data, done, .. } = &mut self.state;
        let Some((enacted, at)) = workflows.of(ended.task) else { return };
        enacted.release(at, outcome == Outcome::Completed, data);
        outbox.record(enacted.task_record(at, outcome, Ran { pool, start, end, attempts }, now.time));
        enacted.left -= 1;
        let first = enacted.submitted.first_task;
        enacted.live.end(at, Ended { pool: place, at: end });
        let (mut unblocked, mut cancelled) = (Vec::new(), Vec::new());
        if outcome == Outcome::Completed {
            enacted.completed += 1;
            let (live, after) = (&enacted.live, enacted.live.dag().successors(at));
            unblocked.extend(after.filter_map(|(next, _)| tasks.unblock(live.id(next))));
        } else {
            let mut doomed: BTreeSet<usize> =
                enacted.live.dag().successors(at).map(|(next, _)| next).collect();
            while let Some(at) = doomed.pop_first() {
                let Some((job, _)) = tasks.take_blocked(enacted.live.id(at)) else { continue };
                let outcome = Outcome::Cancelled;
                let ran = Ran { pool: None, start: None, end: now.time, attempts: 0 };
                outbox.record(Record::Job(unplaced(&job, outcome, now.time)));
                outbox.record(enacted.task_record(at, outcome, ran, now.time));
                enacted.release(at, false, data);
                enacted.left -= 1;
                *done += 1;
                enacted.live.end(at, Ended { pool: None, at: now.time });
                doomed.extend(enacted.live.dag().successors(at).map(|(next, _)| next));
                cancelled.push(EndedJob::unplaced(&job, outcome, now.time));
            }
        }
        if enacted.left == 0 {
            let all = enacted.completed as usize == enacted.ready.len();
            let outcome = if all { Outcome::Completed } else { Outcome::Failed };
            outbox.record(enacted.record(outcome, now.time));
            workflows.0.remove(&first);
        }
        cancelled.into_iter().for_each(|ended| self.notify_portal(ended, now, outbox));
        unblocked.into_iter().for_each(|(job, planned)| self.ready(job, planned, now, outbox));
    }
}
