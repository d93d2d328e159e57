//! Explanations of why jobs wait in a partition.

use super::Partition;
use crate::local::{Decision, Explanation, Phase};
use crate::model::{JobKey, JobRef};
use crate::units::Time;

impl Partition {
    /// Makes each pass record the facts of its decision from now on, for [`Partition::explain`].
    pub fn trace_decisions(&mut self) {
        self.actions.trace.get_or_insert_default();
    }

    /// The facts of the last pass, if it has recorded any and nothing has happened since.
    pub fn decision(&self) -> Option<&Decision> {
        self.actions.decision().filter(|_| self.is_decided)
    }

    /// The live job of that name.
    pub fn find(&self, name: JobRef) -> Option<JobKey> {
        let found = self.state.table.iter().filter(|(_, job)| self.state.job_ref(job) == name);
        found.min_by_key(|(_, job)| job.seq).map(|(key, _)| key)
    }

    /// Why a waiting job was not started by the last pass, if passes record their facts ([`Partition::trace_decisions`]);
    /// otherwise, or if something has happened since, the explanation without the policy. `None` if there is no such job, or it
    /// runs.
    pub fn explain(&self, key: JobKey, now: Time) -> Option<Explanation> {
        let view = self.view(now);
        let job = view.get(key)?;
        match (job.phase(), self.decision()) {
            (
                Phase::Starting | Phase::Running | Phase::Suspending | Phase::Resuming | Phase::Reconfiguring,
                _,
            ) => None,
            (Phase::Waiting | Phase::Suspended, Some(decision)) => {
                Some(view.capped(decision.explain(&self.view(decision.at), key, now)))
            }
            (Phase::Waiting | Phase::Suspended, None) => Some(view.capped(view.explanation(key))),
            (Phase::Ineligible | Phase::Stalled, _) => {
                view.ineligible(key, self.is_early(key)).map(|told| view.capped(told))
            }
        }
    }
}
