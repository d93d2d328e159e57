//! List scheduling: tasks by priority, each where it ends first (Topcuoglu, Hariri and Wu, IEEE TPDS 13(3), 2002).

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::holes::{earliest, take};
use super::{Costs, Dag, Holes, Links, Placement};
use crate::units::Time;

/// Heterogeneous earliest finish time: tasks by decreasing upward rank, each in the earliest hole of the pool where it ends first.
///
/// The rank has mean run times over the pools where a task can run, and mean times of data over all links; it is compared to the
/// microsecond.
pub fn heft(dag: &Dag, costs: &impl Costs, links: &Links, holes: &mut impl Holes) -> Vec<Placement> {
    let ranks = upward_ranks(dag, costs, links);
    list(dag, costs, links, holes, &ranks, |placed| Some(u128::from(placed.end.micros())))
}

/// Critical path on a processor: as [`heft`], but tasks by decreasing sum of upward and downward rank, and those on the critical path all in
/// the pool where they take the least together. If there is no pool where all of them can run, each goes where it ends first.
pub fn cpop(dag: &Dag, costs: &impl Costs, links: &Links, holes: &mut impl Holes) -> Vec<Placement> {
    let (up, down) = (upward_ranks(dag, costs, links), downward_ranks(dag, costs, links));
    let priorities: Vec<f64> = up.iter().zip(&down).map(|(up, down)| up + down).collect();
    // Of the tasks of the highest priority those from an entry on, each a successor of the one before.
    let highest = |tasks: &mut dyn Iterator<Item = usize>| {
        tasks.reduce(
            |best, task| if rounded(priorities[task]) > rounded(priorities[best]) { task } else { best },
        )
    };
    let mut on_path = vec![false; dag.tasks()];
    let mut next = highest(&mut (0..dag.tasks()).filter(|task| dag.predecessors(*task).next().is_none()));
    while let Some(task) = next {
        on_path[task] = true;
        next = highest(&mut dag.successors(task).map(|(next, _)| next));
    }
    let takes = |pool: usize| {
        let path = (0..dag.tasks()).filter(|task| on_path[*task]);
        path.map(|task| costs.run(task, pool).map(|run| u128::from(run.micros()))).sum::<Option<u128>>()
    };
    let least = (0..costs.pools()).filter_map(|pool| Some((takes(pool)?, pool))).min().map(|(_, pool)| pool);
    list(dag, costs, links, holes, &priorities, |placed| {
        let elsewhere = on_path[placed.task] && least.is_some_and(|pool| pool != placed.pool);
        (!elsewhere).then(|| u128::from(placed.end.micros()))
    })
}

/// A priority in whole microseconds, so that the rounding of sums does not decide between equal ones.
fn rounded(priority: f64) -> u64 {
    libm::round(priority) as u64
}

/// The mean run time of a task over the pools where it can run, in microseconds.
fn mean_run(costs: &impl Costs, task: usize) -> f64 {
    let runs = (0..costs.pools()).filter_map(|pool| costs.run(task, pool));
    let (sum, number) = runs.fold((0.0, 0.0), |(sum, number), run| (sum + run.micros() as f64, number + 1.0));
    if number > 0.0 { sum / number } else { 0.0 }
}

fn upward_ranks(dag: &Dag, costs: &impl Costs, links: &Links) -> Vec<f64> {
    let mut ranks = vec![0.0; dag.tasks()];
    for task in dag.order().rev() {
        let ways = dag.successors(task).map(|(next, data)| links.mean(data) + ranks[next]);
        ranks[task] = mean_run(costs, task) + ways.fold(0.0, f64::max);
    }
    ranks
}

fn downward_ranks(dag: &Dag, costs: &impl Costs, links: &Links) -> Vec<f64> {
    let mut ranks = vec![0.0; dag.tasks()];
    for task in dag.order() {
        let ways = dag
            .predecessors(task)
            .map(|(before, data)| ranks[before] + mean_run(costs, before) + links.mean(data));
        ranks[task] = ways.fold(0.0, f64::max);
    }
    ranks
}

/// Plans, of the tasks whose predecessors are planned, always the one of the highest priority, in the pool where `cost` is least; `None` is
/// not there. A task that fits nowhere is left out, with all that wait for it.
pub(super) fn list(
    dag: &Dag,
    costs: &impl Costs,
    links: &Links,
    holes: &mut impl Holes,
    priorities: &[f64],
    cost: impl Fn(&Placement) -> Option<u128>,
) -> Vec<Placement> {
    let mut placed: Vec<Option<Placement>> = vec![None; dag.tasks()];
    let mut missing: Vec<usize> = (0..dag.tasks()).map(|task| dag.predecessors(task).count()).collect();
    let entry = |task: usize| (rounded(priorities[task]), Reverse(task));
    let mut ready: BinaryHeap<_> = (0..dag.tasks()).filter(|task| missing[*task] == 0).map(entry).collect();
    let mut plan = Vec::with_capacity(dag.tasks());
    let mut inputs: Vec<(Time, usize, crate::units::Bytes)> = Vec::new();
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
        let places = (0..costs.pools()).filter_map(|pool| {
            let place = earliest(costs, holes, (task, pool), arrival(pool))?;
            Some((cost(&place)?, place))
        });
        let best = places.min_by_key(|(cost, place)| (*cost, place.pool)).map(|(_, place)| place);
        let Some(place) = best else { continue };
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
