//! Heuristics that look at one task after the other (Braun et al. 2001).

use super::holes::{earliest, take};
use super::{Costs, Holes, Placement};

/// Opportunistic load balancing: each task, in order, goes where it can start first, however long it runs there.
pub fn olb(costs: &impl Costs, holes: &mut impl Holes) -> Vec<Placement> {
    in_order(costs, holes, |placed| placed.start.micros())
}

/// Minimum execution time: each task, in order, goes where it runs shortest, however long it waits there.
pub fn met(costs: &impl Costs, holes: &mut impl Holes) -> Vec<Placement> {
    in_order(costs, holes, |placed| placed.end.since(placed.start).micros())
}

/// Minimum completion time: each task, in order, goes where it ends first.
pub fn mct(costs: &impl Costs, holes: &mut impl Holes) -> Vec<Placement> {
    in_order(costs, holes, |placed| placed.end.micros())
}

/// Each task, in order, to the pool where `key` is least. A task that fits nowhere is left out.
fn in_order(costs: &impl Costs, holes: &mut impl Holes, key: impl Fn(&Placement) -> u64) -> Vec<Placement> {
    let mut plan = Vec::with_capacity(costs.tasks());
    for task in 0..costs.tasks() {
        let places = (0..costs.pools())
            .filter_map(|pool| earliest(costs, holes, (task, pool), costs.ready(task, pool)));
        // `min_by_key` returns the first of the least.
        if let Some(best) = places.min_by_key(&key) {
            take(costs, holes, best);
            plan.push(best);
        }
    }
    plan
}
