//! Predict earliest finish time (Arabnejad and Barbosa, IEEE TPDS 25(3), 2014).

use super::lists::list;
use super::{Costs, Dag, Holes, Links, Placement};

/// Predict earliest finish time: of the tasks whose predecessors are planned that of the highest mean optimistic cost, in the earliest hole
/// of the pool where its end plus its optimistic cost is least.
///
/// The optimistic cost of a task in a pool is how long the rest of the workflow takes from its end there, if each further task runs where
/// that is best for it and its way on, and no task waits for processors. Data between two pools takes its mean time over all links, rounded
/// to the microsecond.
pub fn peft(dag: &Dag, costs: &impl Costs, links: &Links, holes: &mut impl Holes) -> Vec<Placement> {
    let pools = costs.pools();
    let table = optimistic(dag, costs, links);
    let mean = |task: usize| {
        let of_pools = (0..pools).filter(|pool| costs.run(task, *pool).is_some());
        let of_pools = of_pools.map(|pool| table[task * pools + pool] as f64);
        let (sum, number) = of_pools.fold((0.0, 0.0), |(sum, number), cost| (sum + cost, number + 1.0));
        if number > 0.0 { sum / number } else { 0.0 }
    };
    let priorities: Vec<f64> = (0..dag.tasks()).map(mean).collect();
    list(dag, costs, links, holes, &priorities, |placed| {
        let after = table[placed.task * pools + placed.pool];
        Some(u128::from(placed.end.micros()) + u128::from(after))
    })
}

/// The optimistic cost of each task in each pool, in microseconds.
fn optimistic(dag: &Dag, costs: &impl Costs, links: &Links) -> Vec<u64> {
    let pools = costs.pools();
    let mut table = vec![0_u64; dag.tasks() * pools];
    for task in dag.order().rev() {
        for (next, data) in dag.successors(task) {
            let sent = libm::round(links.mean(data)) as u64;
            let from = |pool: usize| {
                let run = costs.run(next, pool)?;
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
        let table = optimistic(&dag, &etc, &links);
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
