//! What is recorded of the assignment of one job.

use super::decision::{Candidate, Choice, PlanTrace};
use super::{GridView, Planned, Reason, Task};
use crate::model::JobId;

impl GridView<'_> {
    /// The same view, in which the assignment of one job records what was compared for it.
    #[must_use]
    pub fn traced(mut self, job: JobId) -> Self {
        self.trace = Some(PlanTrace { job, choice: None, notes: Vec::new(), front: None });
        self
    }

    /// Takes what the assignment of the traced job has recorded; `None` without a trace, or if the job is not assigned.
    pub fn take_choice(&mut self) -> Option<Choice> {
        self.trace.as_mut()?.choice.take()
    }

    /// Records values that the policy compares for a task: one for the pool at each place, under a name. Computes nothing unless the task is traced.
    pub fn note(&mut self, task: Task<'_>, name: &'static str, value: impl Fn(&Self, usize) -> f64) {
        let job = task.job();
        if let Some(mut trace) = self.trace.take_if(|trace| trace.job == job) {
            trace.notes.push((name, (0..self.pools.len()).map(|pool| value(self, pool)).collect()));
            self.trace = Some(trace);
        }
    }

    /// Records what was compared for an assignment that is about to be made, if its job is traced. A planner has compared holes of its plan that are gone:
    /// of it, only what it has `planned` is known.
    pub(super) fn record_choice(
        &mut self,
        task: Task<'_>,
        pool: usize,
        reason: Reason,
        planned: Option<Planned>,
    ) {
        let job = task.job();
        let Some(mut trace) = self.trace.take_if(|trace| trace.job == job) else { return };
        let candidate = |at: usize| Candidate {
            pool: self.pools[at].facts.id,
            start: planned.map_or_else(|| self.start(task, at), |planned| Some(planned.start)),
            end: planned.map_or_else(|| self.completion(task, at), |planned| Some(planned.end)),
            values: trace
                .notes
                .iter()
                .map(|(name, values)| (*name, values[at]))
                .filter(|(_, value)| value.is_finite())
                .collect(),
        };
        let compared = |at: &usize| match planned {
            Some(planned) => planned.pool == *at,
            None => self.fits(task, *at, false),
        };
        let candidates = (0..self.pools.len()).filter(compared).map(candidate).collect();
        let pool = self.pools[pool].facts.id;
        let front = trace.front.take();
        trace.choice = Some(Choice { at: self.now, asked: self.now, job, pool, reason, candidates, front });
        self.trace = Some(trace);
    }
}
