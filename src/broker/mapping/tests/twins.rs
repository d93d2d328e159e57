//! The heuristics against their definitions, over all tasks and pools each time, and holes that are counted tick by tick.

use proptest::prelude::*;

use crate::broker::mapping::holes::{earliest, take};
use crate::broker::mapping::*;
use crate::units::{Bandwidth, Bytes, Span, Time};

/// All times are multiples of this many microseconds, and so are means over one, two or three pools and over their links.
const TICK: u64 = 6;
const HORIZON: usize = 600;

/// Free processors by pool and tick.
#[derive(Clone)]
struct Ticks(Vec<Vec<u32>>);

impl Holes for Ticks {
    fn earliest(&self, pool: usize, procs: u32, from: Time, run: Span) -> Option<Time> {
        let (from, ticks) = ((from.micros() / TICK) as usize, (run.micros() / TICK).max(1) as usize);
        let fits = |start: &usize| self.0[pool][*start..start + ticks].iter().all(|free| *free >= procs);
        let start = (from..HORIZON - ticks).find(fits)?;
        Some(Time::from_micros(start as u64 * TICK))
    }

    fn has(&self, pool: usize, procs: u32) -> bool {
        self.0[pool].iter().any(|free| *free >= procs)
    }

    fn take(&mut self, pool: usize, procs: u32, start: Time, run: Span) {
        let [start, ticks] = [start.micros(), run.micros()].map(|micros| (micros / TICK) as usize);
        self.0[pool][start..start + ticks].iter_mut().for_each(|free| *free -= procs);
    }
}

#[derive(Clone, Debug)]
struct Case {
    etc: Etc,
    dag: Dag,
    links: Links,
    /// Processors of each pool.
    capacity: Vec<u32>,
    /// Pool, start, ticks, processors that are taken as far as they are free.
    taken: Vec<(usize, u64, u64, u32)>,
}

impl Case {
    fn holes(&self) -> (Profiles, Ticks) {
        let mut profiles = Profiles::idle(Time::ZERO, &self.capacity);
        let mut ticks = Ticks(self.capacity.iter().map(|procs| vec![*procs; HORIZON]).collect());
        for (pool, start, length, procs) in &self.taken {
            let pool = pool % self.capacity.len();
            let (start, run) = (Time::from_micros(start * TICK), Span::from_micros(length * TICK));
            if ticks.earliest(pool, *procs, start, run) == Some(start) {
                profiles.take(pool, *procs, start, run);
                ticks.take(pool, *procs, start, run);
            }
        }
        (profiles, ticks)
    }
}

fn cases() -> impl Strategy<Value = Case> {
    let row = (prop::collection::vec(prop::option::weighted(0.9, 0..6_u64), 3), 1_u32..3);
    let sizes = (1_usize..4, prop::collection::vec(row, 1..8), 0_u64..4);
    sizes.prop_flat_map(|(pools, rows, ready)| {
        let number = rows.len();
        let order = Just((0..number).collect::<Vec<_>>()).prop_shuffle();
        let edges = prop::collection::vec(prop::option::of(0..4_u64), number * number);
        let links = prop::collection::vec((0..3_u64, prop::option::of(1..3_u64)), pools * pools);
        let capacity = prop::collection::vec(1_u32..4, pools);
        let taken = prop::collection::vec((0..pools, 0..12_u64, 1..6_u64, 1_u32..3), 0..5);
        (order, edges, links, capacity, taken).prop_map(move |(order, edges, links, capacity, taken)| {
            let runs = rows.iter().map(|(row, _)| {
                let run =
                    |ticks: &Option<u64>| ticks.map_or(Span::MAX, |ticks| Span::from_micros(ticks * TICK));
                row[..pools].iter().map(run).collect::<Vec<_>>()
            });
            let etc = Etc::of_rows(&runs.collect::<Vec<_>>())
                .with_procs(rows.iter().map(|(_, procs)| *procs).collect())
                .from(Time::from_micros(ready * TICK));
            let pairs = (0..number).flat_map(|from| (0..number).map(move |to| (from, to)));
            let edges = pairs.zip(&edges).filter_map(|((from, to), data)| {
                let data = data.filter(|_| order[from] < order[to])?;
                Some((from, to, Bytes::new(data * TICK)))
            });
            // So many microseconds a byte.
            let link = |from: usize, to: usize| {
                let (latency, per_byte) = links[from * pools + to];
                let bandwidth = per_byte.map(|micros| Bandwidth::from_bits(8_000_000 / micros));
                (Span::from_micros(latency * TICK), bandwidth)
            };
            let dag = Dag::new(number, edges.collect::<Vec<_>>()).unwrap();
            Case { etc, dag, links: Links::of(pools, link), capacity, taken }
        })
    })
}

fn places(etc: &Etc, holes: &Ticks, task: usize) -> Vec<Placement> {
    let place = |pool| earliest(etc, holes, (task, pool), etc.ready(task, pool));
    let mut places: Vec<Placement> = (0..etc.pools()).filter_map(place).collect();
    places.sort_by_key(|placed| (placed.end, placed.pool));
    places
}

fn suffers(places: &[Placement]) -> Span {
    places.get(1).map_or(Span::ZERO, |second| second.end.since(places[0].end))
}

/// Again and again the task of the greatest `key` of its places, of those the first.
fn one_by_one(etc: &Etc, mut holes: Ticks, key: impl Fn(&[Placement]) -> i128) -> Vec<Placement> {
    let (mut plan, mut left): (Vec<_>, Vec<usize>) = (Vec::new(), (0..etc.tasks()).collect());
    loop {
        let all = left.iter().map(|task| places(etc, &holes, *task)).filter(|places| !places.is_empty());
        let Some(best) = all.rev().max_by_key(|places| key(places)) else { return plan };
        take(etc, &mut holes, best[0]);
        plan.push(best[0]);
        left.retain(|task| *task != best[0].task);
    }
}

fn passes(etc: &Etc, mut holes: Ticks) -> Vec<Placement> {
    let (mut plan, mut left): (Vec<Placement>, Vec<usize>) = (Vec::new(), (0..etc.tasks()).collect());
    loop {
        let mut claims: Vec<Option<(Span, Placement)>> = vec![None; etc.pools()];
        for task in &left {
            let places = places(etc, &holes, *task);
            let Some(first) = places.first() else { continue };
            let claim = &mut claims[first.pool];
            if claim.is_none_or(|(held, _)| suffers(&places) > held) {
                *claim = Some((suffers(&places), *first));
            }
        }
        let granted: Vec<Placement> = claims.into_iter().flatten().map(|(_, placed)| placed).collect();
        if granted.is_empty() {
            return plan;
        }
        for placed in granted {
            take(etc, &mut holes, placed);
            plan.push(placed);
            left.retain(|task| *task != placed.task);
        }
    }
}

/// Each task in order to the pool of the least `key`.
fn in_order(etc: &Etc, mut holes: Ticks, key: impl Fn(&Placement) -> u64) -> Vec<Placement> {
    let mut plan = Vec::new();
    for task in 0..etc.tasks() {
        if let Some(placed) =
            places(etc, &holes, task).into_iter().min_by_key(|placed| (key(placed), placed.pool))
        {
            take(etc, &mut holes, placed);
            plan.push(placed);
        }
    }
    plan
}

/// The run time of a task in a pool that is large enough.
fn can_run(case: &Case, task: usize, pool: usize) -> Option<Span> {
    case.etc.run(task, pool).filter(|_| case.etc.procs(task, pool) <= case.capacity[pool])
}

/// Six times the mean over the pools where a task can run, of which there are at most three.
fn mean(case: &Case, task: usize, of: impl Fn(usize, Span) -> u64) -> u64 {
    let pools = 0..case.etc.pools();
    let of_pools: Vec<u64> = pools.filter_map(|pool| Some(of(pool, can_run(case, task, pool)?))).collect();
    let number = of_pools.len().max(1) as u64;
    6 * of_pools.iter().sum::<u64>() / number
}

/// Six times the longest way from a task on, means along it; back to the entries if so.
fn way(case: &Case, task: usize, back: bool) -> u64 {
    let sent = |data: Bytes| 6 * case.links.mean(data);
    let own = mean(case, task, |_, run| run.micros());
    let next: Vec<_> =
        if back { case.dag.predecessors(task).collect() } else { case.dag.successors(task).collect() };
    own + next.into_iter().map(|(next, data)| sent(data) + way(case, next, back)).max().unwrap_or(0)
}

fn optimistic(case: &Case, task: usize, pool: usize) -> u64 {
    let rest = |(next, data): (usize, Bytes)| {
        let ways = (0..case.etc.pools()).filter_map(|to| {
            let sent = if to == pool { 0 } else { case.links.mean(data) };
            Some(optimistic(case, next, to) + can_run(case, next, to)?.micros() + sent)
        });
        ways.min().unwrap_or(0)
    };
    case.dag.successors(task).map(rest).max().unwrap_or(0)
}

fn by_list(
    case: &Case,
    mut holes: Ticks,
    priority: &[u64],
    cost: impl Fn(&Placement) -> Option<u64>,
) -> Vec<Placement> {
    let mut plan: Vec<Placement> = Vec::new();
    let mut seen = vec![false; case.etc.tasks()];
    loop {
        let placed = |task: usize| plan.iter().find(|placed| placed.task == task).copied();
        let ready = (0..case.etc.tasks()).filter(|task| {
            !seen[*task] && case.dag.predecessors(*task).all(|(before, _)| placed(before).is_some())
        });
        let Some(task) = ready.rev().max_by_key(|task| priority[*task]) else { return plan };
        seen[task] = true;
        let places = (0..case.etc.pools()).filter_map(|pool| {
            let arrivals = case.dag.predecessors(task).map(|(before, data)| {
                let before = placed(before).unwrap();
                before.end + case.links.time(data, before.pool, pool)
            });
            let from = arrivals.max().unwrap_or(Time::ZERO).max(case.etc.ready(task, pool));
            let placed = earliest(&case.etc, &holes, (task, pool), from)?;
            Some((cost(&placed)?, placed))
        });
        if let Some((_, best)) = places.min_by_key(|(cost, placed)| (*cost, placed.pool)) {
            take(&case.etc, &mut holes, best);
            plan.push(best);
        }
    }
}

fn slow_cpop(case: &Case, holes: Ticks) -> Vec<Placement> {
    let tasks = 0..case.etc.tasks();
    let priority: Vec<u64> = tasks
        .clone()
        .map(|task| way(case, task, false) + way(case, task, true) - mean(case, task, |_, run| run.micros()))
        .collect();
    let first = |tasks: Vec<usize>| tasks.into_iter().rev().max_by_key(|task| priority[*task]);
    let mut path = Vec::new();
    let mut next = first(tasks.filter(|task| case.dag.predecessors(*task).count() == 0).collect());
    while let Some(task) = next {
        path.push(task);
        next = first(case.dag.successors(task).map(|(next, _)| next).collect());
    }
    let takes =
        |pool: usize| path.iter().map(|task| Some(can_run(case, *task, pool)?.micros())).sum::<Option<u64>>();
    let own = (0..case.etc.pools()).filter_map(|pool| Some((takes(pool)?, pool))).min();
    by_list(case, holes, &priority, |placed| {
        let own = own.filter(|_| path.contains(&placed.task));
        own.is_none_or(|(_, pool)| pool == placed.pool).then(|| placed.end.micros())
    })
}

proptest! {
    #[test]
    fn heuristics_of_ready_tasks_are_their_definitions(case in cases()) {
        let (etc, (idle, ticks)) = (&case.etc, case.holes());
        let (idle, ticks) = (|| idle.clone(), || ticks.clone());
        prop_assert_eq!(olb(etc, &mut idle()), in_order(etc, ticks(), |placed| placed.start.micros()));
        prop_assert_eq!(met(etc, &mut idle()), in_order(etc, ticks(), |placed| placed.end.since(placed.start).micros()));
        prop_assert_eq!(mct(etc, &mut idle()), in_order(etc, ticks(), |placed| placed.end.micros()));
        let end = |places: &[Placement]| i128::from(places[0].end.micros());
        let (min, max) = (one_by_one(etc, ticks(), |places| -end(places)), one_by_one(etc, ticks(), end));
        prop_assert_eq!(&min_min(etc, &mut idle()), &min);
        prop_assert_eq!(&max_min(etc, &mut idle()), &max);
        let better = if makespan(&max) < makespan(&min) { &max } else { &min };
        prop_assert_eq!(&duplex(etc, &mut idle()), better);
        let one = one_by_one(etc, ticks(), |places| i128::from(suffers(places).micros()));
        prop_assert_eq!(sufferage(etc, &mut idle(), Claims::One), one);
        prop_assert_eq!(sufferage(etc, &mut idle(), Claims::Pass), passes(etc, ticks()));
    }

    #[test]
    fn list_schedules_are_their_definitions(case in cases()) {
        let (etc, dag, links, (idle, ticks)) = (&case.etc, &case.dag, &case.links, case.holes());
        let (idle, ticks) = (|| idle.clone(), || ticks.clone());
        let tasks = 0..etc.tasks();
        let end = |placed: &Placement| Some(placed.end.micros());
        let up: Vec<u64> = tasks.clone().map(|task| way(&case, task, false)).collect();
        prop_assert_eq!(heft(dag, etc, links, &mut idle()), by_list(&case, ticks(), &up, end));
        prop_assert_eq!(cpop(dag, etc, links, &mut idle()), slow_cpop(&case, ticks()));
        let rank: Vec<u64> =
            tasks.map(|task| mean(&case, task, |pool, _| optimistic(&case, task, pool))).collect();
        let plan = by_list(&case, ticks(), &rank, |placed| {
            Some(placed.end.micros() + optimistic(&case, placed.task, placed.pool))
        });
        prop_assert_eq!(peft(dag, etc, links, &mut idle()), plan);
    }
}
