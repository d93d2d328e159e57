//! The workflow engine: what is ready becomes a job, perhaps after a delay.

use std::collections::BTreeSet;

use super::{Broker, task};
use crate::broker::{BrokerEvent, Planned};
use crate::entity::{Outbox, Stamp};
use crate::model::{Job, ResponseParts, TaskId};
use crate::units::Time;

/// The tasks of which jobs are being made, by when that is done.
pub(super) type Engine = BTreeSet<(Time, TaskId)>;

impl Broker {
    /// Notes that all that a task waits for has completed. `after` is the task that it waited for last, with the parts of the time up to its end.
    pub(super) fn note_ready(&mut self, task: TaskId, after: Option<(u32, ResponseParts)>, now: Stamp) {
        if let Some(course) = self.state.workflows.course(task) {
            course.unblock(after, now.time);
        }
    }

    /// Has the workflow engine make a job of a task that is ready, which takes time.
    pub(super) fn prepare(&mut self, task: TaskId, after: Option<(u32, ResponseParts)>, now: Stamp) {
        self.note_ready(task, after, now);
        let delay = self.state.workflows.engine_delay(task);
        self.state.engine.insert((now.time + delay, task));
    }

    /// When the next task has been made a job.
    pub(super) fn next_prepared(&self) -> Option<Stamp> {
        self.state.engine.first().map(|(time, _)| self.state.mail.own(*time))
    }

    /// Lets the tasks wait to be assigned of which jobs have been made.
    pub(super) fn take_prepared(&mut self, now: Stamp, outbox: &mut dyn Outbox) {
        while let Some((_, task)) = self.state.engine.first().copied().filter(|(time, _)| *time <= now.time) {
            self.state.engine.pop_first();
            if let Some((job, planned)) = self.state.tasks.unblock(task) {
                self.state.last = now.time;
                self.all = true;
                self.ready(job, planned, now, outbox);
            }
        }
    }

    /// Lets a task that is ready wait to be assigned: it is a job of the grid now, submitted when it became ready. If it is planned, it waits for its turn.
    pub(super) fn ready(
        &mut self,
        mut job: Box<Job>,
        planned: Option<Planned>,
        now: Stamp,
        outbox: &mut dyn Outbox,
    ) {
        let task = task(&job);
        if let Some(course) = self.state.workflows.course(task) {
            // Its limits are those of its workflow: they do not move.
            job.submit = course.ready.unwrap_or(now.time);
        }
        self.policy.on(&BrokerEvent::Unblocked { task, job: job.id });
        self.wait(job, Vec::new(), now, outbox);
        if let Some(planned) = planned.filter(|_| self.state.tasks.state(task).is_some()) {
            self.state.tasks.plan(task, planned);
            self.bring_ahead(task, planned.pool, now, outbox);
        }
    }
}
