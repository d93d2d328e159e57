//! Tasks that have completed and run again: a file that they wrote is needed, and nobody can have it, because the sites that have it have left.

use std::collections::BTreeSet;

use super::beliefs::believed;
use super::workflows::{Enacted, Workflows};
use super::{Broker, State, of_job, task, unplaced};
use crate::broker::{TaskState, Tasks};
use crate::entity::{EndedJob, Outbox, Stamp};
use crate::model::{
    EventCause, EventKind, EventRecord, FileId, Job, LostData, Outcome, PoolId, Record, TaskId,
    WorkflowSettings,
};
use crate::platform::Place;
use crate::units::Time;
use crate::workflow::Workflow;

impl Workflows {
    /// The tasks that have completed and must run again: they wrote what a task needs that has neither ended nor been sent, or what one of these
    /// needs, and it cannot be had.
    fn lost(&self, tasks: &Tasks, can_be_had: &dyn Fn(FileId) -> bool) -> BTreeSet<TaskId> {
        let mut again = BTreeSet::new();
        for enacted in self.each() {
            let live = &enacted.live;
            let needs = |at: &usize| {
                live.ended(*at).is_none() && !matches!(tasks.state(live.id(*at)), Some(TaskState::Placed(_)))
            };
            let mut open: Vec<usize> = (0..live.tasks()).filter(needs).collect();
            while let Some(at) = open.pop() {
                for file in enacted.inputs(at) {
                    let Some(writer) = enacted.writer(file).filter(|at| enacted.tasks[*at].ran.is_some())
                    else {
                        continue;
                    };
                    if !can_be_had(file) && again.insert(live.id(writer)) {
                        open.push(writer);
                    }
                }
            }
        }
        again
    }

    /// How many of the tasks that a task waits for have not ended.
    pub(super) fn open_before(&self, task: TaskId) -> u32 {
        self.get(task).map_or(0, |(enacted, at)| enacted.live.open_before(at))
    }

    /// The tasks that wait for a task.
    pub(super) fn successors(&self, task: TaskId) -> Vec<TaskId> {
        let Some((enacted, at)) = self.get(task) else { return Vec::new() };
        enacted.live.dag().successors(at).map(|(next, _)| enacted.live.id(next)).collect()
    }

    /// Whether a task that a task waits for has ended and did not complete.
    fn waits_in_vain(&self, task: TaskId) -> bool {
        let Some((enacted, at)) = self.get(task) else { return false };
        let failed =
            |before: usize| enacted.live.ended(before).is_some() && enacted.tasks[before].ran.is_none();
        enacted.live.dag().predecessors(at).any(|(before, _)| failed(before))
    }
}

impl Enacted {
    /// The jobs of those of its tasks that run again, as they were when it was submitted.
    fn jobs_again(&self, again: &BTreeSet<TaskId>, settings: &WorkflowSettings) -> Vec<Job> {
        let end = self.live.id(self.live.tasks());
        if again.range(self.live.id(0)..end).next().is_none() {
            return Vec::new();
        }
        // It was checked when it was submitted.
        let workflow = Workflow::from_spec(self.submitted.spec.clone()).ok();
        let believed = workflow.and_then(|workflow| believed(&workflow, &self.submitted, settings).ok()?);
        let believed = believed.as_ref().map(Workflow::spec);
        let jobs = self.submitted.jobs(believed.as_ref());
        jobs.filter(|job| again.contains(&task(job))).collect()
    }

    /// Notes that a task runs again, with the attempts that it has had.
    fn reopen(&mut self, at: usize, job: &mut Job, now: Time) {
        let course = &mut self.tasks[at];
        course.ran = None;
        // It may be cancelled before it is ready again.
        job.submit = course.ready.unwrap_or(job.submit);
        let grid = job.grid.get_or_insert_default();
        (grid.attempts, grid.first_start, grid.failed_at) = (course.attempts, course.start, Some(now));
        self.live.reopen(at);
        self.left += 1;
        self.completed -= self.submitted.members(at).map_or(1, <[_]>::len) as u32;
    }
}

impl Broker {
    /// Has the tasks run again that wrote what is needed and cannot be had. What waits for them waits once more; what has been sent, goes on.
    pub(super) fn run_again(&mut self, now: Stamp, outbox: &mut dyn Outbox) {
        if !std::mem::take(&mut self.missed) || self.spec.workflow.lost != LostData::Again {
            return;
        }
        let State { workflows, tasks, data, .. } = &self.state;
        let moving = data.moving();
        let had = |file| data.replicas.places(file).next().is_some() || moving.contains(&file);
        let again = workflows.lost(tasks, &had);
        let settings = &self.spec.workflow;
        let jobs: Vec<Job> =
            workflows.each().flat_map(|enacted| enacted.jobs_again(&again, settings)).collect();
        let home = settings.files;
        jobs.into_iter().for_each(|job| self.reopen(Box::new(job), home, now, outbox));
        let waiting: BTreeSet<TaskId> =
            again.iter().flat_map(|task| self.state.workflows.successors(*task)).collect();
        for task in &waiting {
            self.wait_again(*task, now, outbox);
        }
        for task in again.difference(&waiting) {
            self.wait_again(*task, now, outbox);
        }
    }

    /// Lets a task that has completed wait for its predecessors again, whose files it needs once more.
    fn reopen(&mut self, mut job: Box<Job>, home: Place, now: Stamp, outbox: &mut dyn Outbox) {
        let State { workflows, data, repeated, last, .. } = &mut self.state;
        let task = task(&job);
        let Some((enacted, at)) = workflows.of(task) else { return };
        enacted.reopen(at, &mut job, now.time);
        for file in enacted.inputs(at) {
            let size = enacted.submitted.spec.files[enacted.place(file)].size;
            if data.replicas.size(file).is_some() {
                data.replicas.wanted(file, 1);
            } else {
                data.replicas.add(file, size, 1);
                if enacted.writer(file).is_none() {
                    data.made(file, home, &self.network);
                }
            }
        }
        (*repeated, *last) = (*repeated + 1, now.time);
        let (kind, cause) = (EventKind::Repeated, EventCause::SiteLeft);
        outbox.record(Record::Event(EventRecord { kind, cause, ..of_job(&job, now.time) }));
        let unfit = self.unfit(&job, self.state.workflows.space(task));
        self.state.tasks.block(job, 1, unfit);
        self.lose(task);
        (self.fresh, self.all) = (true, true);
    }

    /// Lets a task that waits with the broker wait for those before it that have not ended; what has been sent, goes on.
    fn wait_again(&mut self, task: TaskId, now: Stamp, outbox: &mut dyn Outbox) {
        self.unstage(task, EventKind::Returned, EventCause::SiteLeft, now, outbox);
        let engine = u32::from(!self.state.workflows.engine_delay(task).is_zero());
        let missing = self.state.workflows.open_before(task);
        if !self.state.tasks.block_again(task, missing + engine) {
            return;
        }
        self.forget_files(task);
        self.state.engine.retain(|(_, prepared)| *prepared != task);
        if missing > 0 {
            if let Some(course) = self.state.workflows.course(task) {
                course.block();
            }
        } else if engine > 0 {
            self.prepare(task, None, now);
        } else if let Some((job, planned)) = self.state.tasks.take_blocked(task) {
            self.ready(job, planned, now, outbox);
        }
    }

    /// Lets a job that has returned wait, to be planned again: if a task before it runs again, until that has ended. If that did not complete, it is
    /// cancelled.
    pub(super) fn wait_returned(
        &mut self,
        job: Box<Job>,
        refused: Vec<PoolId>,
        now: Stamp,
        outbox: &mut dyn Outbox,
    ) {
        let task = task(&job);
        // What it reads may have gone since it was sent.
        let State { workflows, data, .. } = &self.state;
        self.missed |= workflows.inputs(task).any(|file| data.replicas.places(file).next().is_none());
        if self.state.workflows.waits_in_vain(task) {
            let outcome = Outcome::Cancelled;
            self.state.done += 1;
            outbox.record(Record::Job(unplaced(&job, outcome, now.time)));
            return self.over(EndedJob::unplaced(&job, outcome, now.time), None, now, outbox);
        }
        if self.state.workflows.open_before(task) > 0 {
            self.state.tasks.block(job, 1, refused);
            return self.wait_again(task, now, outbox);
        }
        self.wait(job, refused, now, outbox);
    }
}
