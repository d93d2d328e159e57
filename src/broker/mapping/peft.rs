//! Predict earliest finish time (Arabnejad and Barbosa, IEEE TPDS 25(3), 2014).

use super::lists::{Runs, list};
use super::{Costs, Dag, Holes, Links, Placement};

/// Predict earliest finish time: of the tasks whose predecessors are planned that of the highest mean optimistic cost, in the earliest hole
/// of the pool where its end plus its optimistic cost is least.
///
/// The optimistic cost of a task in a pool is how long the rest of the workflow takes from its end there, if each further task runs where
/// that is best for it and its way on, and no task waits for processors. Data between two pools takes its mean time over all links, rounded
/// to the microsecond.
pub fn peft(dag: &Dag, costs: &impl Costs, links: &Links, holes: &mut impl Holes) -> Vec<Placement> {
    let (pools, runs) = (costs.pools(), Runs::of(costs, holes));
    let table = optimistic(dag, &runs, links);
    let mean = |task: usize| runs.mean(task, |pool, _| table[task * pools + pool]);
    let priorities: Vec<u128> = (0..dag.tasks()).map(mean).collect();
    list(dag, costs, links, holes, &priorities, |places| {
        places.min_by_key(|place| {
            let after = table[place.task * pools + place.pool];
            (u128::from(place.end.micros()) + u128::from(after), place.pool)
        })
    })
}

/// The optimistic cost of each task in each pool, in microseconds.
fn optimistic(dag: &Dag, runs: &Runs, links: &Links) -> Vec<u64> {
    let pools = runs.pools;
    let mut table = vec![0_u64; dag.tasks() * pools];
    for task in dag.order().rev() {
        for (next, data) in dag.successors(task) {
            let sent = links.mean(data);
            let from = |pool: usize| {
                let run = runs.get(next, pool)?;
                Some(run.micros().saturating_add(table[next * pools + pool]))
            };
            let here: Vec<Option<u64>> = (0..pools).map(from).collect();
            // The best pool for the next task, if it is sent there; that it may be this one does no harm, since it is then not sent.
            let Some(best) = here.iter().flatten().min() else { continue };
            let best = best.saturating_add(sent);
            for (pool, here) in here.into_iter().enumerate() {
                let cost = here.map_or(best, |here| here.min(best));
                table[task * pools + pool] = table[task * pools + pool].max(cost);
            }
        }
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::broker::mapping::tests::{BYTE_A_SECOND, arabnejad, secs};

    #[test]
    fn the_table_of_the_paper() {
        let (dag, etc) = arabnejad();
        let links = Links::uniform(3, crate::units::Span::ZERO, Some(BYTE_A_SECOND));
        let table = optimistic(
            &dag,
            &Runs::of(&etc, &crate::broker::mapping::Profiles::idle(crate::units::Time::ZERO, &[1; 3])),
            &links,
        );
        let expected = [
            [64, 68, 86],
            [42, 39, 42],
            [27, 41, 43],
            [42, 39, 50],
            [28, 37, 28],
            [42, 39, 44],
            [13, 16, 22],
            [13, 16, 33],
            [13, 16, 20],
            [0, 0, 0],
        ];
        let expected: Vec<u64> = expected.as_flattened().iter().map(|cost| secs(*cost).micros()).collect();
        assert_eq!(table, expected);
    }
}
