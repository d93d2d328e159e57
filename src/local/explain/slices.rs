//! Classes of jobs have the machine in turn: SCOJO-PECT.

use super::Case;
use crate::local::{Blocker, Explanation, Phase, Reason, SliceFacts, Why};

impl Case<'_> {
    /// Explains a job that waits for its slice, or for room in it. `None` before the first slice.
    pub(super) fn sliced(&self, slices: &SliceFacts) -> Option<Explanation> {
        let Self { facts, view, job, live } = *self;
        let (slice, begins, until) = slices.slice?;
        let is_suspended = live.phase() == Phase::Suspended;
        if is_suspended && !view.here().contains_all(live.placement()) {
            return Some(self.lacks_own());
        }
        if begins > facts.at {
            return Some(self.explanation(Why::SlicesChange { until: begins }).starting(None));
        }
        let class = slices.bounds.iter().filter(|bound| live.whole_estimate() >= **bound).count();
        if class != slice && until > facts.at {
            let ends = view.released_for(self.needs(), facts.free);
            return Some(self.explanation(Why::OtherSlice { class, slice, until }).blocked_by(ends));
        }
        if is_suspended {
            return Some(self.lacks_own());
        }
        let group = slices.groups[class].as_ref().filter(|group| group.ready <= facts.at);
        let planned = group.and_then(|group| Some((group, group.left.iter().position(|of| *of == job)?)));
        let lacks = self.needs() > facts.free;
        if let Some((group, at)) = planned.filter(|(_, at)| lacks || *at > 0) {
            let reason = if lacks { Reason::NoRoom } else { Reason::Behind };
            let told = if lacks { self.too_few() } else { self.explanation(Why::OthersBefore) };
            let before = group.left[..at].first().map(|first| view.waits(*first, None));
            let why = Why::InGroup { group: group.clone(), place: at as u32 + 1, reason };
            return Some(Explanation { why, ..told }.blocked_by(before));
        }
        if lacks {
            return Some(self.too_few());
        }
        let first = slices.first[class].filter(|first| *first != job);
        if let Some(first) = first {
            return Some(self.explanation(Why::OthersBefore).blocked_by([view.waits(first, None)]));
        }
        let claims = slices.preempted[class].iter();
        let claims =
            claims.map(|job| Blocker::Claim { who: view.who(*job), procs: view.job(*job).placement().len() });
        Some(self.explanation(Why::KeptForPreempted).blocked_by(claims))
    }

    /// A suspended job waits for the processors that it had.
    fn lacks_own(&self) -> Explanation {
        let Self { facts, view, live, .. } = *self;
        let own = live.placement();
        let lacks = own.difference(view.free_set()).len();
        let why = Why::CannotPreempt {
            own: Some(lacks),
            xfactor: live.xfactor(facts.at),
            may_suspend: 0,
            routine: None,
        };
        let down = own.difference(view.here()).len();
        self.explanation(why)
            .blocked_by(view.holding(own).into_iter().map(|job| view.runs(job)))
            .blocked_by((down > 0).then_some(Blocker::Down { procs: down }))
    }
}
