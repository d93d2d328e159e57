//! The records of workflows and their tasks.

use super::course::peak;
use super::data::Data;
use super::workflows::{Enacted, Workflows};
use crate::broker::{Pool, TaskState, Tasks};
use crate::entity::EndedJob;
use crate::model::{
    JobId, Outcome, PartitionId, Passed, PoolId, Record, RecordSink, ResponseParts, SiteId, TaskId,
    TaskRecord, WorkflowRecord,
};
use crate::units::{Bytes, Time};

/// Where and when a task ran.
pub(super) struct Ran {
    pub(super) pool: Option<PoolId>,
    pub(super) start: Option<Time>,
    pub(super) last_start: Option<Time>,
    pub(super) end: Time,
    pub(super) attempts: u32,
}

impl Ran {
    pub(super) const fn nowhere(end: Time) -> Self {
        Self { pool: None, start: None, last_start: None, end, attempts: 0 }
    }
}

impl Workflows {
    /// Ends the run: records the tasks that have not ended, as far as the broker knows, and the workflows.
    pub(super) fn close(
        &mut self,
        tasks: &Tasks,
        pools: &[Pool],
        data: &mut Data,
        now: Time,
        sink: &mut dyn RecordSink,
    ) {
        for mut enacted in std::mem::take(&mut self.0).into_values() {
            let first = enacted.submitted.first_task;
            for at in 0..enacted.tasks.len() {
                let id = TaskId(first.0 + at as u64);
                let Some(state) = tasks.state(id) else { continue };
                let arrival = tasks.arrival(id).map(|stamp| stamp.time).filter(|arrival| *arrival <= now);
                enacted.tasks[at].arrive(arrival, false);
                let pool = match state {
                    TaskState::Placed(pool) | TaskState::Staging(pool) => {
                        pools.get(pool).map(|pool| pool.facts.id)
                    }
                    _ => None,
                };
                let ran = Ran { pool, attempts: enacted.tasks[at].attempts, ..Ran::nowhere(now) };
                enacted.record_task(at, enacted.task_record(at, Outcome::Unfinished, ran, now), &[], sink);
            }
            let moved = data.all_moved(enacted.submitted.number);
            sink.record(enacted.record(Outcome::Unfinished, None, now, moved));
        }
    }
}

impl Enacted {
    /// Adds what a job was charged that has ended, each time that it has.
    pub(super) fn charge(&mut self, ended: &EndedJob) {
        let (energy, cost) = *ended.charged;
        self.energy += energy;
        self.cost += cost;
    }

    /// Records a task, or those of a group, which began and ended at these times.
    pub(super) fn record_task(
        &self,
        at: usize,
        whole: TaskRecord,
        passed: &[Passed],
        sink: &mut dyn RecordSink,
    ) {
        let Some(members) = self.submitted.members(at) else { return sink.record(Record::Task(whole)) };
        for (number, member) in members.iter().enumerate() {
            let task = &self.submitted.ungrouped().tasks[member.task as usize];
            let (start, end) = passed.get(number).copied().unwrap_or_default();
            sink.record(Record::Task(TaskRecord {
                name: task.name.clone(),
                kind: task.kind.clone(),
                start,
                last_start: start,
                end: end.unwrap_or(whole.end),
                ..whole.clone()
            }));
        }
    }

    pub(super) fn task_record(&self, at: usize, outcome: Outcome, ran: Ran, known: Time) -> TaskRecord {
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
    pub(super) fn job(&self, at: usize) -> JobId {
        JobId(self.submitted.first_job.0 + at as u64)
    }

    /// The record of the workflow. `last` is the task that ended last, with the parts of the time up to its end.
    pub(super) fn record(
        &self,
        outcome: Outcome,
        last: Option<(usize, ResponseParts)>,
        end: Time,
        moved: Bytes,
    ) -> Record {
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
            attempts: self.tasks.iter().map(|task| u64::from(task.attempts)).sum(),
            critical_path: self.critical_path,
            bounds: self.bounds,
            peak: peak(held),
            last: last.map(|(at, _)| self.job(at)),
            parts: last.map(|(_, parts)| parts),
            moved,
            energy: self.energy,
            cost: self.cost,
            limits: self.submitted.limits.as_ref().map(|limits| Box::new(limits.whole)),
        })
    }
}
