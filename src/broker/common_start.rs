//! The start that several sites offer for the parts of a co-allocated job.

use std::collections::BTreeSet;

use crate::model::{CoallocationGoal, SiteId, StartOffer};
use crate::units::{Money, Span, Time};

/// What a pool offers for a part.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Offered {
    /// The part, from 0.
    pub part: usize,
    /// The place of the pool among all pools.
    pub pool: usize,
    /// Its site.
    pub site: SiteId,
    /// The intervals of starts.
    pub offers: Vec<StartOffer>,
}

/// A start, and the pool of each part.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CommonStart {
    /// The start.
    pub start: Time,
    /// The places of the pools, by part.
    pub pools: Vec<usize>,
}

impl CommonStart {
    /// What the sites charge in sum if the processors are reserved for so long, and the processor time that is taken from jobs which wait now, in
    /// microseconds. `offered` is what the start was chosen from.
    pub fn costs(&self, offered: &[Offered], length: Span) -> (Money, u128) {
        let of_part = |(part, pool): (usize, &usize)| {
            let here = offered.iter().find(|offered| offered.part == part && offered.pool == *pool)?;
            cost(here, self.start, length, CoallocationGoal::Earliest)
        };
        let costs = self.pools.iter().enumerate().filter_map(of_part);
        let (charge, harm) =
            costs.fold((0, 0), |(charge, harm), (_, more, worse)| (charge + more, harm + worse));
        (Money::from_nanos(charge), harm)
    }
}

/// What a part costs at a pool if it starts at an instant: what counts, then the charge and the harm.
type Cost = (u128, i128, u128);

/// The best start that a pool offers for each part, each part at a site of its own; `None` if there is none.
///
/// The earliest start begins an interval, and so does the cheapest; later ones take less from jobs that wait, up to the end of an interval or until all have been served. For each of them the parts are
/// put on sites at the least cost, by a table over the sets of parts: pools × sets of parts × parts steps.
pub fn common_start(
    parts: usize,
    offered: &[Offered],
    length: Span,
    goal: CoallocationGoal,
    not_before: Time,
) -> Option<CommonStart> {
    let mut starts = BTreeSet::new();
    for offer in offered.iter().flat_map(|offered| &offered.offers) {
        let within = |time: Time| offer.from <= time && time <= offer.until && not_before <= time;
        let gentle =
            [offer.busy_until, offer.until].into_iter().filter(|_| goal == CoallocationGoal::Gentlest);
        starts.extend([offer.from, not_before].into_iter().chain(gentle).filter(|start| within(*start)));
    }
    let mut best: Option<(u128, CommonStart)> = None;
    for start in starts {
        let Some((cost, found)) = placed(parts, offered, start, length, goal) else { continue };
        if best.as_ref().is_none_or(|(least, _)| cost < *least) {
            best = Some((cost, found));
        }
        if goal == CoallocationGoal::Earliest {
            break;
        }
    }
    best.map(|(_, found)| found)
}

/// The parts on sites of their own at the least cost, if all start at an instant.
fn placed(
    parts: usize,
    offered: &[Offered],
    start: Time,
    length: Span,
    goal: CoallocationGoal,
) -> Option<(u128, CommonStart)> {
    let sets = 1_usize << parts;
    let add = |(a, b, c): Cost, (d, e, f): Cost| (a + d, b + e, c + f);
    // The least cost of each set of parts on the sites so far, and the pool of each part.
    let mut table: Vec<Option<(Cost, Vec<usize>)>> = vec![None; sets];
    table[0] = Some(((0, 0, 0), vec![usize::MAX; parts]));
    let mut at = 0;
    while at < offered.len() {
        let site = offered[at].site;
        let here = offered[at..].iter().take_while(|offered| offered.site == site);
        let here: Vec<(&Offered, Cost)> =
            here.filter_map(|offered| Some((offered, cost(offered, start, length, goal)?))).collect();
        at += offered[at..].iter().take_while(|offered| offered.site == site).count();
        let before = table.clone();
        for (offered, cost) in here {
            for (set, best) in before.iter().enumerate().filter(|(set, _)| set >> offered.part & 1 == 0) {
                let Some((sum, places)) = best else { continue };
                let (with, sum) = (set | 1 << offered.part, add(*sum, cost));
                // Of equal ones that which has the first part at the first pool.
                let mut places = places.clone();
                places[offered.part] = offered.pool;
                if table[with].as_ref().is_none_or(|(least, others)| (sum, &places) < (*least, others)) {
                    table[with] = Some((sum, places));
                }
            }
        }
    }
    let ((counted, ..), pools) = table.pop()??;
    Some((counted, CommonStart { start, pools }))
}

fn cost(offered: &Offered, start: Time, length: Span, goal: CoallocationGoal) -> Option<Cost> {
    let offer = offered.offers.iter().find(|offer| offer.from <= start && start <= offer.until)?;
    let (charge, harm) = (offer.charge(length).nanos(), offer.harm(start, length));
    let counted = match goal {
        CoallocationGoal::Earliest => 0,
        CoallocationGoal::Cheapest => u128::try_from(charge).unwrap_or(0),
        CoallocationGoal::Gentlest => harm,
    };
    Some((counted, charge, harm))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::units::Price;

    const GOALS: [CoallocationGoal; 3] =
        [CoallocationGoal::Earliest, CoallocationGoal::Cheapest, CoallocationGoal::Gentlest];

    /// All ways to put parts on pools at sites of their own, at each second.
    fn slowly(
        parts: usize,
        offered: &[Offered],
        length: Span,
        goal: CoallocationGoal,
        not_before: Time,
    ) -> Option<(u128, Time)> {
        let mut best: Option<(u128, Time)> = None;
        for second in 0..200 {
            let start = Time::from_secs(second);
            if start < not_before {
                continue;
            }
            let mut open = vec![(0_usize, Vec::<SiteId>::new(), (0, 0, 0))];
            while let Some((part, sites, sum)) = open.pop() {
                if part == parts {
                    let found = (sum.0, start);
                    let better = best.is_none_or(|best| match goal {
                        CoallocationGoal::Earliest => found.1 < best.1,
                        _ => found < best,
                    });
                    if better {
                        best = Some(found);
                    }
                    continue;
                }
                for offered in offered.iter().filter(|one| one.part == part && !sites.contains(&one.site)) {
                    if let Some((a, b, c)) = cost(offered, start, length, goal) {
                        let sites = sites.iter().copied().chain([offered.site]).collect();
                        open.push((part + 1, sites, (sum.0 + a, sum.1 + b, sum.2 + c)));
                    }
                }
            }
        }
        best
    }

    proptest! {
        /// The twin tries everything at every second.
        #[test]
        fn is_the_best_of_all(
            parts in 1_usize..4,
            drawn in proptest::collection::vec((0_usize..3, 0_u32..4, 1_u32..9, proptest::collection::vec((0_u64..40, 0_u64..15, 0_u64..5, 0_u64..50), 0..3)), 0..9),
            length in 1_u64..20,
            not_before in 0_u64..10,
        ) {
            let mut offered: Vec<Offered> = Vec::new();
            for (pool, (part, site, procs, offers)) in drawn.into_iter().enumerate() {
                let mut since = 0;
                let offers = offers.into_iter().map(|(gap, more, charge, busy)| {
                    let from = since + gap;
                    since = from + more + 1;
                    StartOffer { from: Time::from_secs(from), until: Time::from_secs(from + more), procs, price: Price::from_nanos(3_600_000 * charge), busy_until: Time::from_secs(busy) }
                }).collect();
                offered.push(Offered { part: part % parts, pool, site: SiteId(site), offers });
            }
            offered.sort_by_key(|offered| offered.site);
            let (length, not_before) = (Span::from_secs(length), Time::from_secs(not_before));
            for goal in GOALS {
                let found = common_start(parts, &offered, length, goal, not_before);
                let slow = slowly(parts, &offered, length, goal, not_before);
                prop_assert_eq!(found.is_some(), slow.is_some());
                let (Some(found), Some((counted, start))) = (found, slow) else { continue };
                if goal == CoallocationGoal::Earliest {
                    prop_assert_eq!(found.start, start);
                } else {
                    let (charge, harm) = found.costs(&offered, length);
                    let found_at = if goal == CoallocationGoal::Cheapest { charge.nanos() as u128 } else { harm };
                    prop_assert!(found_at == counted, "{goal:?}: {found:?}, and {counted} at {start}");
                }
                prop_assert_eq!(found.pools.len(), parts);
            }
        }
    }
}
