//! Workflows at the broker: which tasks wait for which, and what follows from the end of one.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use super::beliefs::{believed, least, ranks, readers, writers};
use super::course::Course;
use super::data::Data;
use super::limits::Away;
use super::records::Ran;
use super::{Broker, State, unplaced};
use crate::broker::mapping::Dag;
use crate::broker::{Ended, LiveWorkflow};
use crate::entity::{EndedJob, EntityError, Outbox, Stamp};
use crate::model::{
    FileId, Job, JobId, Outcome, PoolId, Record, SiteId, TaskId, TransferOutcome, TransferRecord,
    WorkflowBounds, WorkflowFile, WorkflowSettings, WorkflowSpec, WorkflowSubmission,
};
use crate::units::{Energy, Money, Span, Time};
use crate::workflow::{Workflow, WorkflowError};

/// The workflows that have not ended, by the number of their first task.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Workflows(pub(super) BTreeMap<TaskId, Enacted>);

/// A workflow that has not ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Enacted {
    pub(super) submitted: WorkflowSubmission,
    pub(super) critical_path: Span,
    pub(super) bounds: WorkflowBounds,
    /// How each task comes on.
    pub(super) tasks: Vec<Course>,
    /// Tasks that have not ended.
    pub(super) left: u32,
    pub(super) completed: u32,
    /// What the jobs that have ended were charged.
    pub(super) energy: Energy,
    pub(super) cost: Money,
    /// What policies see of it.
    pub(super) live: LiveWorkflow,
    /// The number of its first file; those of the others follow.
    first_file: FileId,
    /// For each file the tasks that read it; follows from the workflow.
    #[serde(skip)]
    readers: Vec<Vec<u32>>,
    /// For each file the task that writes it; follows from the workflow, too.
    #[serde(skip)]
    writers: Vec<Option<u32>>,
}

impl Workflows {
    /// How urgent a task is: its upward rank, if it is of a workflow that has not ended.
    pub(super) fn urgency(&self, task: TaskId) -> Option<u64> {
        self.get(task).map(|(enacted, at)| enacted.live.rank(at))
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Makes again what a snapshot does not have.
    pub(super) fn rebuild(&mut self, settings: &WorkflowSettings) -> Result<(), String> {
        for enacted in self.0.values_mut() {
            let workflow = Workflow::from_spec(enacted.submitted.spec.clone());
            let workflow = workflow.map_err(|error| error.to_string())?;
            let believed = believed(&workflow, &enacted.submitted, settings);
            let believed = believed.map_err(|error| error.to_string())?;
            enacted.live.set_dag(Dag::of(&workflow), ranks(believed.as_ref().unwrap_or(&workflow)));
            (enacted.readers, enacted.writers) = (readers(&workflow), writers(&workflow));
        }
        Ok(())
    }

    /// The workflows, in the order in which they arrived.
    pub(super) fn each(&self) -> impl Iterator<Item = &Enacted> {
        self.0.values()
    }

    /// The workflow of a task, with the task's place in it.
    pub(super) fn of(&mut self, task: TaskId) -> Option<(&mut Enacted, usize)> {
        let (first, enacted) = self.0.range_mut(..=task).next_back()?;
        let at = usize::try_from(task.0 - first.0).ok()?;
        (at < enacted.tasks.len()).then_some((enacted, at))
    }

    /// How a task comes on; `None` if it is of no workflow.
    pub(super) fn course(&mut self, task: TaskId) -> Option<&mut Course> {
        self.of(task).map(|(enacted, at)| &mut enacted.tasks[at])
    }

    /// How long the workflow engine takes to make a job of a task.
    pub(super) fn engine_delay(&self, task: TaskId) -> Span {
        self.get(task).map_or(Span::ZERO, |(enacted, _)| enacted.submitted.overheads.engine_delay)
    }

    /// What policies see of those with these tasks, which are in order.
    pub(super) fn live(&self, tasks: Vec<TaskId>) -> Vec<&LiveWorkflow> {
        let mut found: Vec<&LiveWorkflow> = Vec::new();
        for task in tasks {
            if found.last().is_none_or(|last| last.place(task).is_none()) {
                found.extend(self.get(task).map(|(enacted, _)| &enacted.live));
            }
        }
        found
    }

    /// What waits for a task, directly or through others of these, as far as `follow` holds of it; by number.
    pub(super) fn after(&self, task: TaskId, follow: impl Fn(TaskId) -> bool) -> Vec<TaskId> {
        self.get(task).map_or_else(Vec::new, |(enacted, at)| enacted.live.descendants(at, follow))
    }

    /// The same, to be read.
    pub(super) fn get(&self, task: TaskId) -> Option<(&Enacted, usize)> {
        let (first, enacted) = self.0.range(..=task).next_back()?;
        let at = usize::try_from(task.0 - first.0).ok()?;
        (at < enacted.tasks.len()).then_some((enacted, at))
    }

    /// The files that a task reads.
    pub(super) fn inputs(&self, task: TaskId) -> impl Iterator<Item = FileId> + '_ {
        self.get(task).into_iter().flat_map(|(enacted, at)| enacted.inputs(at))
    }

    /// The job and the name of a task.
    pub(super) fn name(&self, task: TaskId) -> Option<(JobId, &str)> {
        let (enacted, at) = self.get(task)?;
        Some((enacted.job(at), &enacted.submitted.spec.tasks[at].name))
    }

    /// The name of a file of the workflow of a task.
    pub(super) fn file_name(&self, task: TaskId, file: FileId) -> Option<&str> {
        let (enacted, _) = self.get(task)?;
        Some(&enacted.submitted.spec.files[enacted.place(file)].name)
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

    /// The tasks that read a file.
    pub(super) fn readers_of(&self, file: FileId) -> Vec<TaskId> {
        // Files are numbered in the order of workflows.
        let of = self.0.values().rev().find(|enacted| enacted.first_file <= file);
        let of = of.filter(|enacted| enacted.place(file) < enacted.readers.len());
        of.map_or_else(Vec::new, |enacted| self.readers(file, enacted.live.id(0)))
    }

    /// What is written of a copy of a file for a task, without its way and its times.
    pub(super) fn transfer(&self, task: TaskId, file: FileId) -> Option<TransferRecord> {
        let (enacted, at) = self.get(task)?;
        let WorkflowFile { name, size } = enacted.submitted.spec.files[enacted.place(file)].clone();
        Some(TransferRecord {
            workflow: enacted.submitted.number,
            file: name,
            bytes: size,
            from: SiteId::GRID,
            to: SiteId::GRID,
            job: JobId(enacted.submitted.first_job.0 + at as u64),
            asked: Time::ZERO,
            began: None,
            end: Time::ZERO,
            outcome: TransferOutcome::Unfinished,
        })
    }
}

impl Enacted {
    /// The place of a file of the workflow in its list.
    pub(super) fn place(&self, file: FileId) -> usize {
        (file.0 - self.first_file.0) as usize
    }

    fn files<'a>(&self, places: &'a [u32]) -> impl Iterator<Item = FileId> + use<'a> {
        let first = self.first_file.0;
        places.iter().map(move |at| FileId(first + u64::from(*at)))
    }

    /// The place of the task that writes a file; `None` if none does.
    pub(super) fn writer(&self, file: FileId) -> Option<usize> {
        self.writers[self.place(file)].map(|at| at as usize)
    }

    pub(super) fn inputs(&self, at: usize) -> impl Iterator<Item = FileId> + use<'_> {
        self.files(&self.submitted.spec.tasks[at].inputs)
    }

    fn outputs(&self, at: usize) -> impl Iterator<Item = FileId> + use<'_> {
        self.files(&self.submitted.spec.tasks[at].outputs)
    }

    /// Notes that a task has ended: what nobody needs any more goes. What a task should have written and has not will not be.
    fn release(&self, at: usize, completed: bool, data: &mut Data) {
        let results = || self.outputs(at).filter(|file| self.readers[self.place(*file)].is_empty());
        data.used(self.inputs(at).chain((!completed).then(results).into_iter().flatten()));
    }
}

impl Broker {
    /// Begins a workflow: its tasks enter the table, those that wait for none as ready.
    pub(super) fn begin(
        &mut self,
        submitted: WorkflowSubmission,
        now: Stamp,
        outbox: &mut dyn Outbox,
    ) -> Result<(), EntityError> {
        let bad = |error: WorkflowError| {
            let (number, name) = (submitted.number, submitted.spec.name.clone());
            EntityError::BadWorkflow { number, name, problem: error.to_string() }
        };
        let checked = |spec: &WorkflowSpec| Workflow::from_spec(spec.clone()).map_err(bad);
        let workflow = checked(&submitted.spec)?;
        // What it needs at least is said of its tasks, not of the groups that they are in, nor of overheads.
        let ungrouped = submitted.groups.as_ref().map(|groups| checked(&groups.workflow)).transpose()?;
        let alone = WorkflowSubmission::new(submitted.submit, JobId(0), submitted.ungrouped().clone());
        let alone = WorkflowSubmission { tags: submitted.tags.clone(), ..alone };
        let jobs: Vec<Box<Job>> = alone.jobs(None).map(Box::new).collect();
        let (secs, bounds) = least(ungrouped.as_ref().unwrap_or(&workflow), &jobs, &self.machines);
        let first_file = self.state.data.number(workflow.files().len());
        self.state.data.begin_moving(submitted.number);
        for (number, file) in (first_file.0..).zip(workflow.files()) {
            // A result is used by who brings it home.
            let users = match file.producer {
                None if file.consumers.is_empty() => continue,
                _ => file.consumers.len().max(1) as u32,
            };
            self.state.data.replicas.add(FileId(number), file.size, users);
            if file.producer.is_none() {
                self.state.data.made(FileId(number), self.spec.workflow.files, &self.network);
            }
        }
        let (mut entries, mut prepared) = (Vec::new(), Vec::new());
        let believed = believed(&workflow, &submitted, &self.spec.workflow).map_err(bad)?;
        let estimates = believed.as_ref().map(Workflow::spec);
        let refused = self.refuses(&submitted, &workflow, estimates.as_ref(), now.time);
        for (id, job) in workflow.ids().zip(submitted.jobs(estimates.as_ref()).map(Box::new)) {
            self.trace(&job);
            match workflow.predecessors(id).count() {
                0 if refused.is_some() || submitted.overheads.engine_delay.is_zero() => entries.push(job),
                // The last to complete, in a way, is the workflow engine.
                missing => {
                    let engine = u32::from(!submitted.overheads.engine_delay.is_zero());
                    if missing == 0 {
                        prepared.push(super::task(&job));
                    }
                    let unfit = self.unfit(&job, submitted.space(id.index()));
                    self.state.tasks.block(job, missing as u32 + engine, unfit);
                }
            }
        }
        let enacted = Enacted {
            critical_path: Span::from_secs_f64(secs).unwrap_or(Span::MAX),
            bounds,
            tasks: vec![Course::default(); workflow.len()],
            left: workflow.len() as u32,
            completed: 0,
            energy: Energy::ZERO,
            cost: Money::ZERO,
            live: LiveWorkflow::new(
                submitted.first_task,
                Dag::of(&workflow),
                ranks(believed.as_ref().unwrap_or(&workflow)),
            ),
            first_file,
            readers: readers(&workflow),
            writers: writers(&workflow),
            submitted,
        };
        self.state.workflows.0.insert(enacted.submitted.first_task, enacted);
        for job in entries {
            self.note_ready(super::task(&job), None, now);
            match refused {
                Some(reason) => self.turn_away(&job, Away::Refused(reason), now, outbox),
                None => self.ready(job, None, now, outbox),
            }
        }
        // A policy that plans whole workflows does so now, also if the engine makes the jobs later.
        self.fresh |= self.abilities.workflows;
        prepared.into_iter().for_each(|task| self.prepare(task, None, now));
        if self.spec.workflow.together {
            self.lose_all();
        }
        Ok(())
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
        let EndedJob { outcome, start, last_start, end, attempts, ref passed, .. } = *ended;
        if let Some(pool) = pool.filter(|_| outcome == Outcome::Completed) {
            self.made(ended.task, pool.site, now, outbox);
        }
        let State { workflows, tasks, data, done, .. } = &mut self.state;
        let Some((enacted, at)) = workflows.of(ended.task) else { return };
        enacted.release(at, outcome == Outcome::Completed, data);
        let record =
            enacted.task_record(at, outcome, Ran { pool, start, last_start, end, attempts }, now.time);
        let path = enacted.tasks[at].path + record.parts().unwrap_or_default();
        enacted.record_task(at, record, passed, outbox);
        enacted.tasks[at].ran = last_start.filter(|_| outcome == Outcome::Completed).map(|from| (from, end));
        enacted.charge(ended);
        (enacted.tasks[at].start, enacted.tasks[at].attempts) = (start, attempts);
        enacted.left -= 1;
        let first = enacted.submitted.first_task;
        enacted.live.end(at, Ended { pool: place, at: end });
        let delay = enacted.submitted.overheads.engine_delay;
        let (mut unblocked, mut prepared, mut cancelled) = (Vec::new(), Vec::new(), Vec::new());
        if outcome == Outcome::Completed {
            enacted.completed += enacted.submitted.members(at).map_or(1, <[_]>::len) as u32;
            let (live, after) = (&enacted.live, enacted.live.dag().successors(at));
            for (next, _) in after {
                let next = live.id(next);
                if delay.is_zero() {
                    unblocked.extend(tasks.unblock(next));
                } else if tasks.count_down(next) == Some(1) {
                    prepared.push(next);
                }
            }
        } else {
            let mut doomed: BTreeSet<usize> =
                enacted.live.dag().successors(at).map(|(next, _)| next).collect();
            while let Some(at) = doomed.pop_first() {
                let Some((job, _)) = tasks.take_blocked(enacted.live.id(at)) else { continue };
                let outcome = Outcome::Cancelled;
                outbox.record(Record::Job(unplaced(&job, outcome, now.time)));
                let ended = EndedJob::unplaced(&job, outcome, now.time);
                enacted.charge(&ended);
                let EndedJob { start, attempts, .. } = ended;
                enacted.tasks[at].attempts = attempts;
                let ran = Ran { start, attempts, ..Ran::nowhere(now.time) };
                let record = enacted.task_record(at, outcome, ran, now.time);
                enacted.record_task(at, record, &[], outbox);
                enacted.release(at, false, data);
                enacted.left -= 1;
                *done += 1;
                enacted.live.end(at, Ended { pool: None, at: now.time });
                doomed.extend(enacted.live.dag().successors(at).map(|(next, _)| next));
                cancelled.push(ended);
            }
        }
        if enacted.left == 0 {
            let all = enacted.completed as usize == enacted.submitted.ungrouped().tasks.len();
            let outcome = if all { Outcome::Completed } else { Outcome::Failed };
            let moved = data.all_moved(enacted.submitted.number);
            outbox.record(enacted.record(outcome, Some((at, path)), now.time, moved));
            workflows.0.remove(&first);
        }
        cancelled.iter().for_each(|ended| self.notify_portal(ended, now, outbox));
        let after = Some((at as u32, path));
        for (job, planned) in unblocked {
            self.note_ready(super::task(&job), after, now);
            self.ready(job, planned, now, outbox);
        }
        prepared.into_iter().for_each(|task| self.prepare(task, after, now));
    }
}
