//! The one job of which the broker is asked where it is and why it was sent there.

use super::{Broker, task};
use crate::broker::{Choice, TaskState};
use crate::model::{Job, JobId, TaskId};

impl Broker {
    /// From now on each assignment of the job records what was compared for it.
    pub(crate) fn trace_decisions(&mut self, job: JobId) {
        self.traced = Some(job);
    }

    /// The number at the portal of the traced job, once it has arrived.
    pub fn traced_task(&self) -> Option<TaskId> {
        self.traced_task
    }

    /// The state of a task; `None` if it has not arrived, or has ended.
    pub fn state_of(&self, task: TaskId) -> Option<TaskState> {
        self.state.tasks.state(task)
    }

    /// The last assignment of the traced job and what was compared for it.
    pub fn choice(&self) -> Option<&Choice> {
        self.choice.as_ref()
    }

    /// Notes the number of the traced job, if this is the one.
    pub(super) fn trace(&mut self, job: &Job) {
        if self.traced == Some(job.id) {
            self.traced_task = Some(task(job));
        }
    }
}
