//! The one job of which the broker is asked where it is and why it was sent there.

use super::{Broker, State, task};
use crate::broker::{Choice, TaskState};
use crate::model::{Job, JobId, LostData, SiteId, TaskId};

impl Broker {
    /// The jobs of the tasks that have not ended, of those that this task of a workflow waits for.
    pub fn blockers(&self, task: TaskId) -> Vec<JobId> {
        let Some((enacted, at)) = self.state.workflows.get(task) else { return Vec::new() };
        let before = enacted.live.dag().predecessors(at).map(|(before, _)| before);
        let left = before.filter(|before| self.state_of(enacted.live.id(*before)).is_some());
        left.map(|before| enacted.job(before)).collect()
    }

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

    /// Whether the workflow engine makes a job of a task, which waits for nothing else.
    pub fn prepares(&self, task: TaskId) -> bool {
        self.state.engine.iter().any(|(_, of)| *of == task)
    }

    /// The site that a task which is ready is planned for, and the task that goes there before all others, by its job and name.
    pub fn turn(&self, task: TaskId) -> Option<(SiteId, JobId, &str)> {
        let State { tasks, pools, workflows, .. } = &self.state;
        let pool = tasks.planned(task)?;
        let (first, _) = tasks.lane(pool).next()?;
        let (job, name) = workflows.name(first)?;
        Some((pools[pool].facts.id.site, job, name))
    }

    /// Planned tasks that have ended and started before one that was sent before them to the same pool.
    pub fn overtakes(&self) -> u64 {
        self.state.turns.overtakes
    }

    /// How often a task that had completed was run again, if lost data is computed again.
    pub fn repeated(&self) -> Option<u64> {
        (self.spec.workflow.lost == LostData::Again).then_some(self.state.repeated)
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
