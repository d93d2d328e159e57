//! Idle jobs, which may suspend others.

use super::Case;
use crate::local::{Blocker, Explanation, Phase, Why};
use crate::model::{JobKey, ProcSet};
use crate::units::{Span, Time};

impl Case<'_> {
    /// Explains [`crate::local::Rule::Preemption`]: too few processors are free, and too few can be taken from running jobs; or those that are taken
    /// are not free yet.
    pub(super) fn idle(
        &self,
        may_suspend: &[(JobKey, u32)],
        claims: &[(JobKey, ProcSet)],
        routine: Option<(u64, Span)>,
        now: Time,
    ) -> Explanation {
        let Self { view, job, live, .. } = *self;
        if let Some((_, procs)) = claims.iter().find(|(by, _)| *by == job) {
            let holders: Vec<Blocker> = view.holding(procs).into_iter().map(|job| view.runs(job)).collect();
            let until = holders.iter().filter_map(Blocker::until).max().unwrap_or(now);
            return self.explanation(Why::TakesOver { until }).starting(Some(until)).blocked_by(holders);
        }
        let found = may_suspend.iter().find(|(idle, _)| *idle == job);
        let may_suspend = found.map_or(0, |(_, procs)| *procs);
        let xfactor = live.xfactor(now);
        // One that resumes anywhere waits as one that has not started.
        let waits_for_own = live.phase() == Phase::Suspended && view.state.abilities.same_processors;
        let own = waits_for_own.then_some(live.placement());
        let routine = routine.map(|(factor, every)| {
            let every = every.micros().max(1);
            (factor, Time::from_micros((now.micros() / every).saturating_add(1).saturating_mul(every)))
        });
        let lacks = own.map(|own| own.difference(view.free_set()).len());
        let why = Why::CannotPreempt { own: lacks, xfactor, may_suspend, routine };
        let explanation = self.explanation(why).blocked_by(claims.iter().filter_map(|(by, procs)| {
            let procs = own.map_or(procs.len(), |own| own.common(procs));
            (procs > 0).then(|| Blocker::Claim { who: view.who(*by), procs })
        }));
        let explanation = match own {
            Some(own) => explanation.blocked_by(view.holding(own).into_iter().map(|job| view.runs(job))),
            None => explanation.blocked_by(view.released_for(self.needs(), self.facts.free)),
        };
        explanation.blocked_by(self.started_before())
    }
}
