//! List scheduling: tasks by priority, each where it ends first (Topcuoglu, Hariri and Wu, IEEE TPDS 13(3), 2002).

use std::cmp::Reverse;
use std::collections::{BTreeSet, BinaryHeap};

use super::holes::{earliest, take};
use super::{Costs, Dag, Holes, Links, Placement};
use crate::units::{Bytes, Span, Time};

/// Heterogeneous earliest finish time: tasks by decreasing upward rank, each in the earliest hole of the pool where it ends first.
///
/// The rank has mean run times over the pools where a task can run, which are exact, and mean times of data over all links, each rounded to the
/// microsecond.
pub fn heft(dag: &Dag, costs: &impl Costs, links: &Links, holes: &mut impl Holes) -> Vec<Placement> {
    let ranks = upward_ranks(dag, &Runs::of(costs, holes), links);
    list(dag, costs, links, holes, &ranks, |places| places.min_by_key(|place| (place.end, place.pool)))
}

/// Critical path on a processor: as [`heft`], but tasks by decreasing sum of upward and downward rank, and those on the critical path all in
/// the pool where they take the least together. If there is no pool where all of them can run, each goes where it ends first.
pub fn cpop(dag: &Dag, costs: &impl Costs, links: &Links, holes: &mut impl Holes) -> Vec<Placement> {
    let runs = Runs::of(costs, holes);
    let (up, down) = (upward_ranks(dag, &runs, links), downward_ranks(dag, &runs, links));
    let priorities: Vec<u128> = up.iter().zip(&down).map(|(up, down)| up + down).collect();
    // Of the tasks of the highest priority those from an entry on, each a successor of the one before.
    let highest = |tasks: &mut dyn Iterator<Item = usize>| {
        tasks.reduce(|best, task| if priorities[task] > priorities[best] { task } else { best })
    };
    let mut on_path = vec![false; dag.tasks()];
    let mut next = highest(&mut (0..dag.tasks()).filter(|task| dag.predecessors(*task).next().is_none()));
    while let Some(task) = next {
        on_path[task] = true;
        next = highest(&mut dag.successors(task).map(|(next, _)| next));
    }
    let takes = |pool: usize| {
        let path = (0..dag.tasks()).filter(|task| on_path[*task]);
        path.map(|task| runs.get(task, pool).map(|run| u128::from(run.micros()))).sum::<Option<u128>>()
    };
    let least = (0..costs.pools()).filter_map(|pool| Some((takes(pool)?, pool))).min().map(|(_, pool)| pool);
    list(dag, costs, links, holes, &priorities, |places| {
        let elsewhere =
            |place: &Placement| on_path[place.task] && least.is_some_and(|pool| pool != place.pool);
        places.filter(|place| !elsewhere(place)).min_by_key(|place| (place.end, place.pool))
    })
}

/// The run time of each task in each pool where it can run.
pub(super) struct Runs {
    pub(super) pools: usize,
    runs: Vec<Option<Span>>,
    /// Parts of a microsecond, such that a mean over any of the numbers of pools where a task can run is whole, if that is no large number.
    parts: u128,
}

impl Runs {
    pub(super) fn of(costs: &impl Costs, holes: &impl Holes) -> Self {
        let pairs = (0..costs.tasks()).flat_map(|task| (0..costs.pools()).map(move |pool| (task, pool)));
        let run = |(task, pool)| costs.run(task, pool).filter(|_| holes.has(pool, costs.procs(task, pool)));
        let runs: Vec<_> = pairs.map(run).collect();
        let numbers: BTreeSet<u128> = runs
            .chunks(costs.pools().max(1))
            .map(|row| row.iter().flatten().count().max(1) as u128)
            .collect();
        let parts = numbers.into_iter().fold(1, least_common_multiple);
        Self { pools: costs.pools(), runs, parts: if parts <= MOST_PARTS { parts } else { MOST_PARTS } }
    }

    pub(super) fn get(&self, task: usize, pool: usize) -> Option<Span> {
        self.runs[task * self.pools + pool]
    }

    /// The mean over the pools where a task can run of what `of` says of the pool and the run time there, in parts of microseconds; nothing if
    /// there are none. Whole numbers, so that the noise of sums of fractions cannot decide between equal ranks.
    pub(super) fn mean(&self, task: usize, of: impl Fn(usize, Span) -> u64) -> u128 {
        let (mut sum, mut number) = (0_u128, 0_u128);
        for pool in 0..self.pools {
            if let Some(run) = self.get(task, pool) {
                (sum, number) = (sum + u128::from(of(pool, run)), number + 1);
            }
        }
        (2 * sum * self.parts + number) / (2 * number.max(1))
    }

    fn mean_run(&self, task: usize) -> u128 {
        self.mean(task, |_, run| run.micros())
    }

    fn sent(&self, links: &Links, data: Bytes) -> u128 {
        u128::from(links.mean(data)) * self.parts
    }
}

/// Means are rounded to this part of a microsecond at most.
const MOST_PARTS: u128 = 1 << 32;

fn least_common_multiple(a: u128, b: u128) -> u128 {
    let (mut divisor, mut rest) = (a, b);
    while rest > 0 {
        (divisor, rest) = (rest, divisor % rest);
    }
    // It grows no further once it is too large.
    if a > MOST_PARTS { a } else { a / divisor * b }
}

pub(super) fn upward_ranks(dag: &Dag, runs: &Runs, links: &Links) -> Vec<u128> {
    let mut ranks = vec![0_u128; dag.tasks()];
    for task in dag.order().rev() {
        let ways = dag.successors(task).map(|(next, data)| runs.sent(links, data) + ranks[next]);
        ranks[task] = runs.mean_run(task) + ways.max().unwrap_or(0);
    }
    ranks
}

fn downward_ranks(dag: &Dag, runs: &Runs, links: &Links) -> Vec<u128> {
    let mut ranks = vec![0_u128; dag.tasks()];
    for task in dag.order() {
        let ways = dag
            .predecessors(task)
            .map(|(before, data)| ranks[before] + runs.mean_run(before) + runs.sent(links, data));
        ranks[task] = ways.max().unwrap_or(0);
    }
    ranks
}

/// Plans, of the tasks whose predecessors are planned, always the one of the highest priority, in the place that is chosen of those in the pools where it fits, in their order. A task
/// that fits nowhere, or for which none is chosen, is left out, with all that wait for it.
pub(super) fn list(
    dag: &Dag,
    costs: &impl Costs,
    links: &Links,
    holes: &mut impl Holes,
    priorities: &[u128],
    mut choose: impl FnMut(&mut dyn Iterator<Item = Placement>) -> Option<Placement>,
) -> Vec<Placement> {
    let mut placed: Vec<Option<Placement>> = vec![None; dag.tasks()];
    let mut missing: Vec<usize> = (0..dag.tasks()).map(|task| dag.predecessors(task).count()).collect();
    let entry = |task: usize| (priorities[task], Reverse(task));
    let mut ready: BinaryHeap<_> = (0..dag.tasks()).filter(|task| missing[*task] == 0).map(entry).collect();
    let mut plan = Vec::with_capacity(dag.tasks());
    let mut inputs: Vec<(Time, usize, Bytes)> = Vec::new();
    while let Some((_, Reverse(task))) = ready.pop() {
        inputs.clear();
        inputs.extend(dag.predecessors(task).filter_map(|(before, data)| {
            let from = placed[before]?;
            Some((from.end, from.pool, data))
        }));
        let arrival = |pool: usize| {
            let inputs = inputs.iter().map(|(end, from, data)| *end + links.time(*data, *from, pool));
            inputs.fold(costs.ready(task, pool), Time::max)
        };
        let mut places =
            (0..costs.pools()).filter_map(|pool| earliest(costs, holes, (task, pool), arrival(pool)));
        let Some(place) = choose(&mut places) else { continue };
        take(costs, holes, place);
        placed[task] = Some(place);
        plan.push(place);
        for (next, _) in dag.successors(task) {
            missing[next] -= 1;
            if missing[next] == 0 {
                ready.push(entry(next));
            }
        }
    }
    plan
}
