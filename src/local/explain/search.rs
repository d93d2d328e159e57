//! A search has planned the waiting jobs in the best order that it has found.

use super::Case;
use crate::local::{Compress, Explanation, Searched, Why};
use crate::model::JobKey;
use crate::units::Time;

impl Case<'_> {
    /// Explains a job by its start in the best schedule and what fills the time until then. `None` if the schedule and the facts do not
    /// agree.
    pub(super) fn searched(&self, searched: &Searched) -> Option<Explanation> {
        let Self { facts, view, job, .. } = *self;
        let needs = self.needs();
        let Some(planned) = searched.plan.iter().copied().find(|planned| planned.job == job) else {
            if searched.found.is_none() && needs > facts.free {
                return Some(self.too_few());
            }
            let first = searched.first.map(|first| view.waits(first, None));
            let ends = view.released_for(needs, facts.free);
            let explanation = self.explanation(Why::BeyondLookahead { most: searched.lookahead });
            return Some(explanation.blocked_by(first).blocked_by(self.started_before()).blocked_by(ends));
        };
        let found = searched.found?;
        // Those behind it in the order are not in its way.
        let before = searched.plan.iter().filter(|other| other.place <= planned.place);
        let starts: Vec<(JobKey, Time)> = before.map(|other| (other.job, other.start)).collect();
        let explanation = self.planned(&starts, self.held(), Compress::None)?;
        let Why::Planned { end, from, left, reason, .. } = explanation.why else { return None };
        Some(Explanation { why: Why::Searched { planned, end, from, left, reason, found }, ..explanation })
    }
}
