//! Idle jobs, which may suspend others.

use super::Case;
use crate::local::{Explanation, Phase, Why};
use crate::model::JobKey;
use crate::units::Time;

impl Case<'_> {
    /// Explains [`crate::local::Rule::Preemption`]: too few processors are free, and too few can be taken from running jobs.
    pub(super) fn idle(&self, may_suspend: &[(JobKey, u32)], routine: Option<(u64, Time)>) -> Explanation {
        let Self { facts, view, job, live } = *self;
        let found = may_suspend.iter().find(|(idle, _)| *idle == job);
        let may_suspend = found.map_or(0, |(_, procs)| *procs);
        let xfactor = live.xfactor(facts.at);
        // One that resumes anywhere waits as one that has not started.
        let waits_for_own = live.phase() == Phase::Suspended && view.state.abilities.same_processors;
        let own = waits_for_own.then(|| live.placement().difference(view.free_set()).len());
        let explanation = self.explanation(Why::CannotPreempt { own, xfactor, may_suspend, routine });
        let explanation = if waits_for_own {
            let holders = view.holding(live.placement()).into_iter();
            explanation.blocked_by(holders.map(|job| view.runs(job)))
        } else {
            // What is free may be claimed by a job for which others are being suspended.
            explanation.blocked_by(view.released_for(self.needs().max(facts.free + 1), facts.free))
        };
        explanation.blocked_by(self.started_before())
    }
}
