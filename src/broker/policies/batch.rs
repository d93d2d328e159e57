//! What policies have in common that compare all tasks that are ready.

use crate::broker::mapping::{Placement, Profiles};
use crate::broker::{
    Answer, BrokerAbilities, BrokerBuilt, BrokerPolicy, GridView, OpenTasks, Planned, Reason,
};

/// A policy that hands all ready tasks that fit somewhere now to a heuristic, and sends them as that has it, by expected start.
pub(super) struct Batch<F> {
    pub(super) by: F,
    pub(super) reason: Reason,
}

impl<F> Batch<F>
where
    F: Fn(&OpenTasks<'_>, &mut Profiles) -> Vec<Placement> + Send + 'static,
{
    /// The policy with its abilities.
    pub(super) fn built(self) -> BrokerBuilt {
        // What it leaves fits nowhere and takes nothing from others.
        (Box::new(self), BrokerAbilities { batch: true, ..BrokerAbilities::STEADY })
    }
}

impl<F> BrokerPolicy for Batch<F>
where
    F: Fn(&OpenTasks<'_>, &mut Profiles) -> Vec<Placement> + Send,
{
    fn plan(&mut self, view: &mut GridView<'_>) -> Answer {
        let open = OpenTasks::of(view, view.ready().collect());
        let mut plan = (self.by)(&open, &mut view.holes());
        plan.sort_by_key(|placed| placed.start);
        for Placement { task, pool, start, end } in plan {
            view.assign_at(open.task(task), Planned { pool, start, end, reason: self.reason });
        }
        view.done()
    }
}
