//! What a chromosome says: which task runs where and when, and its five objectives.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::broker::mapping::{Costs, Dag, Limits, Links, Placement, Profiles};
use crate::broker::{OpenTasks, Pool, TaskLimits};
use crate::local::Profile;
use crate::model::Objective;
use crate::units::{Span, Time};

/// The number of objectives.
pub(super) const OBJECTIVES: usize = 5;

/// What they are, in their order; each one's name is also the parameter that is its weight.
pub(super) const ABOUT: [Objective; OBJECTIVES] = [
    Objective { name: "makespan", unit: "s", column: "makespan_s" },
    Objective { name: "idle", unit: "s", column: "idle_s" },
    Objective { name: "lateness", unit: "", column: "lateness" },
    Objective { name: "overspending", unit: "", column: "overspending" },
    Objective { name: "energy", unit: "proc s", column: "energy_proc_s" },
];

/// The largest exponent of a lateness: eᵡ of more is no number to compare.
const MOST_LATE: f64 = 50.0;

/// What a task takes in a pool.
#[derive(Copy, Clone, Debug)]
struct Entry {
    /// How long it runs, in microseconds.
    run: u64,
    procs: u32,
    /// When it can be there, in microseconds from now.
    ready: u64,
    /// What it costs there beyond its budget, in units of the currency.
    over: f64,
    /// Its processor-seconds there, weighted by the dissipation of the pool.
    energy: f64,
}

/// The tasks of a planning and the pools that they may go to.
#[derive(Debug)]
pub(super) struct Instance {
    pools: usize,
    /// The tasks that are planned, in the order in which they get processors.
    order: Vec<u32>,
    /// By task and pool.
    entries: Vec<Entry>,
    /// For each task the pools where it fits.
    choices: Vec<Vec<u32>>,
    /// When each task is due, in microseconds from now; none has the largest number.
    due: Vec<u64>,
    /// For each task, in `inputs`, what it waits for.
    first_input: Vec<u32>,
    /// A task that is waited for, and the bytes that it sends.
    inputs: Vec<(u32, f64)>,
    /// From each pool to each: latency in microseconds, and microseconds a byte.
    links: Vec<(u64, f64)>,
    /// When the processors of each pool are free, in microseconds from now: no more of them than all tasks take.
    free: Vec<BinaryHeap<Reverse<u64>>>,
    /// All processors.
    processors: f64,
    /// A lateness of so many microseconds has a penalty of e − 1.
    slack: f64,
    /// What its pools are to the operators.
    pub(super) merits: Merits,
}

/// What crossover and mutation know of pools.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Merits {
    /// Speed over dissipation, from 0 to 1 in the best pool.
    pub(super) efficiency: Vec<f64>,
    /// Speed, from 0 to 1 in the fastest pool.
    pub(super) capability: Vec<f64>,
    /// Processors.
    pub(super) processors: Vec<u32>,
}

/// Working memory of an evaluation.
#[derive(Clone, Debug, Default)]
pub(super) struct Scratch {
    free: Vec<BinaryHeap<Reverse<u64>>>,
    /// When each task ends.
    ends: Vec<u64>,
    /// Free times that a task of several processors takes.
    taken: Vec<u64>,
}

impl Merits {
    fn of(pools: &[Pool]) -> Self {
        let watts = |pool: &Pool| pool.facts.busy.milliwatts().max(1) as f64 * pool.facts.pue_ppm.max(1) as f64;
        let speed = |pool: &Pool| pool.facts.speed.units() as f64;
        let shares = |values: Vec<f64>| -> Vec<f64> {
            let most = values.iter().copied().fold(0.0, f64::max);
            values.iter().map(|value| if most > 0.0 { value / most } else { 1.0 }).collect()
        };
        Self {
            efficiency: shares(pools.iter().map(|pool| speed(pool) / watts(pool)).collect()),
            capability: shares(pools.iter().map(speed).collect()),
            processors: pools.iter().map(|pool| pool.facts.processors).collect(),
        }
    }
}

/// When processors are free for ever, in microseconds from `now`, the first `most` of them. Holes that close again are not used.
fn free_times(profile: &Profile, now: Time, most: u64) -> BinaryHeap<Reverse<u64>> {
    let steps: Vec<(Time, i32)> = profile.steps().collect();
    // From each step on no fewer are free than this.
    let mut least = i32::MAX;
    let mut rising: Vec<(Time, i32)> = Vec::new();
    for (time, free) in steps.into_iter().rev() {
        least = least.min(free);
        rising.push((time, least.max(0)));
    }
    let (mut times, mut have) = (BinaryHeap::new(), 0_u64);
    for (time, free) in rising.into_iter().rev() {
        let free = u64::from(free.unsigned_abs()).min(most);
        let at = time.since(now).micros();
        times.extend((have..free).map(|_| Reverse(at)));
        have = have.max(free);
    }
    times
}

impl Instance {
    /// The tasks of the view that can be planned, at most so many: those that are due first, with what they wait for.
    pub(super) fn new(
        (dag, open, limits): (&Dag, &OpenTasks<'_>, &TaskLimits<'_>),
        (pools, links, holes): (&[Pool], &Links, &Profiles),
        now: Time,
        most: usize,
    ) -> Self {
        let (tasks, count) = (open.tasks(), pools.len());
        let merits = Merits::of(pools);
        let heaviest = pools.iter().map(|pool| pool.facts.busy.milliwatts()).max().unwrap_or(0).max(1) as f64;
        let need = (0..tasks).map(|task| {
            let most = (0..count).filter(|pool| open.run(task, *pool).is_some()).map(|pool| open.procs(task, pool));
            u64::from(most.max().unwrap_or(0))
        });
        let need: u64 = need.sum();
        let free: Vec<_> = holes.0.iter().map(|profile| free_times(profile, now, need)).collect();
        let entry = |task: usize, pool: usize| {
            let run = open.run(task, pool).unwrap_or(Span::MAX);
            let (procs, ready) = (open.procs(task, pool), open.ready(task, pool).since(now));
            let over = limits.budget(task).map_or(0.0, |budget| {
                let placed = Placement { task, pool, start: now, end: now + run };
                let over = limits.cost(&placed).nanos().saturating_sub(budget.nanos());
                over.max(0) as f64 / 1e9
            });
            let weight = pools[pool].facts.busy.milliwatts() as f64 / heaviest;
            let energy = run.as_secs_f64() * f64::from(procs) * weight;
            Entry { run: run.micros(), procs, ready: ready.micros(), over, energy }
        };
        let entries: Vec<Entry> =
            (0..tasks).flat_map(|task| (0..count).map(move |pool| (task, pool))).map(|(task, pool)| entry(task, pool)).collect();
        let fits = |task: usize, pool: &u32| {
            let at = *pool as usize;
            open.run(task, at).is_some() && open.procs(task, at) as usize <= free[at].len()
        };
        let choices: Vec<Vec<u32>> =
            (0..tasks).map(|task| (0..count as u32).filter(|pool| fits(task, pool)).collect()).collect();
        let due: Vec<u64> = (0..tasks)
            .map(|task| match limits.due(task) {
                Time::NEVER => u64::MAX,
                due => due.since(now).micros(),
            })
            .collect();
        let order = order(dag, &choices, &due, most);
        let pairs = (0..count).flat_map(|from| (0..count).map(move |to| (from, to)));
        let links = pairs.map(|(from, to)| links.pair(from, to)).collect();
        Self::built(entries, (dag, choices, due, order), (links, free, merits))
    }

    /// The instance with what follows from these parts.
    fn built(
        entries: Vec<Entry>,
        (dag, choices, due, order): (&Dag, Vec<Vec<u32>>, Vec<u64>, Vec<u32>),
        (links, free, merits): (Vec<(u64, f64)>, Vec<BinaryHeap<Reverse<u64>>>, Merits),
    ) -> Self {
        let (tasks, pools) = (choices.len(), free.len());
        let known: Vec<u64> = order.iter().map(|task| due[*task as usize]).filter(|due| *due < u64::MAX).collect();
        let slack = known.iter().map(|due| *due as f64).sum::<f64>() / known.len().max(1) as f64;
        let (mut first_input, mut inputs) = (vec![0], Vec::new());
        for task in 0..tasks {
            inputs.extend(dag.predecessors(task).map(|(before, data)| (before as u32, data.count() as f64)));
            first_input.push(inputs.len() as u32);
        }
        let processors = f64::from(merits.processors.iter().sum::<u32>().max(1));
        Self {
            pools,
            order,
            entries,
            choices,
            due,
            first_input,
            inputs,
            links,
            free,
            processors,
            // Jobs that are due at once are late by the second.
            slack: slack.max(1e6),
            merits,
        }
    }

    /// The tasks that are planned, in the order in which they get processors.
    pub(super) fn order(&self) -> &[u32] {
        &self.order
    }

    /// The length of a chromosome: a gene for each task, planned or not.
    pub(super) fn genes(&self) -> usize {
        self.choices.len()
    }

    /// The pools where a task fits.
    pub(super) fn choices(&self, task: u32) -> &[u32] {
        &self.choices[task as usize]
    }

    /// Working memory.
    pub(super) fn scratch(&self) -> Scratch {
        Scratch { free: self.free.clone(), ends: vec![0; self.genes()], taken: Vec::new() }
    }

    /// The objectives of a chromosome, which has a pool for each task. Each task that is scheduled is passed to `placed` with its start and end, in
    /// microseconds from now.
    ///
    /// A task gets the processors of its pool that are free first, when all that it waits for is there; no later task is put before it.
    pub(super) fn decode(
        &self,
        chromosome: &[u32],
        scratch: &mut Scratch,
        mut placed: impl FnMut(u32, u64, u64),
    ) -> [f64; OBJECTIVES] {
        let Scratch { free, ends, taken } = scratch;
        free.iter_mut().zip(&self.free).for_each(|(own, free)| own.clone_from(free));
        let (mut last, mut idle) = (0_u64, 0_u64);
        let (mut late, mut over, mut energy) = (0.0, 0.0, 0.0);
        for task in &self.order {
            let at = *task as usize;
            let pool = chromosome[at] as usize;
            let entry = &self.entries[at * self.pools + pool];
            let mut from = entry.ready;
            let inputs = self.first_input[at] as usize..self.first_input[at + 1] as usize;
            for (before, bytes) in &self.inputs[inputs] {
                let (before, mut there) = (*before as usize, ends[*before as usize]);
                let source = chromosome[before] as usize;
                if source != pool && *bytes > 0.0 {
                    let (latency, per_byte) = self.links[source * self.pools + pool];
                    there = there.saturating_add(latency).saturating_add((per_byte * bytes) as u64);
                }
                from = from.max(there);
            }
            let heap = &mut free[pool];
            let start = if entry.procs == 1 {
                let Some(mut first) = heap.peek_mut() else { continue };
                let start = from.max(first.0);
                idle += start - first.0;
                first.0 = start.saturating_add(entry.run);
                start
            } else {
                taken.clear();
                taken.extend((0..entry.procs).filter_map(|_| heap.pop()).map(|Reverse(free)| free));
                let start = from.max(taken.last().copied().unwrap_or(0));
                idle += taken.iter().map(|free| start - free).sum::<u64>();
                let end = start.saturating_add(entry.run);
                heap.extend(taken.iter().map(|_| Reverse(end)));
                start
            };
            let end = start.saturating_add(entry.run);
            ends[at] = end;
            last = last.max(end);
            over += entry.over;
            energy += entry.energy;
            if end > self.due[at] {
                let by = (end - self.due[at]) as f64 / self.slack;
                late += libm::expm1(by.min(MOST_LATE));
            }
            placed(*task, start, end);
        }
        let tasks = self.order.len().max(1) as f64;
        [last as f64 / 1e6, idle as f64 / 1e6 / self.processors, late / tasks, over / tasks, energy]
    }

    /// A chromosome in which each task, in their order, is where it ends first.
    pub(super) fn earliest(&self) -> Vec<u32> {
        let mut chromosome: Vec<u32> =
            self.choices.iter().map(|choices| choices.first().copied().unwrap_or(0)).collect();
        let (mut free, mut ends) = (self.free.clone(), vec![0; self.genes()]);
        for task in &self.order {
            let at = *task as usize;
            let mut best: Option<(u64, u32, u64)> = None;
            for pool in &self.choices[at] {
                let entry = &self.entries[at * self.pools + *pool as usize];
                let inputs = self.first_input[at] as usize..self.first_input[at + 1] as usize;
                let there = self.inputs[inputs].iter().map(|(before, bytes)| {
                    let source = chromosome[*before as usize];
                    let (latency, per_byte) = self.links[source as usize * self.pools + *pool as usize];
                    let way = if source == *pool || *bytes == 0.0 { 0 } else { latency + (per_byte * bytes) as u64 };
                    ends[*before as usize] + way
                });
                let from = there.fold(entry.ready, u64::max);
                let heap = &free[*pool as usize];
                let nth = |mut heap: BinaryHeap<Reverse<u64>>| (0..entry.procs).filter_map(|_| heap.pop()).last();
                let last = if entry.procs == 1 { heap.peek().copied() } else { nth(heap.clone()) };
                let last = last.map_or(0, |Reverse(free)| free);
                let start = from.max(last);
                let end = start.saturating_add(entry.run);
                if best.is_none_or(|(least, ..)| end < least) {
                    best = Some((end, *pool, start));
                }
            }
            let Some((end, pool, _)) = best else { continue };
            let procs = self.entries[at * self.pools + pool as usize].procs;
            let heap = &mut free[pool as usize];
            (0..procs).for_each(|_| {
                heap.pop();
            });
            heap.extend((0..procs).map(|_| Reverse(end)));
            (chromosome[at], ends[at]) = (pool, end);
        }
        chromosome
    }

    /// A chromosome in which each task is where it takes least, by what `of` gives of its pools.
    fn least(&self, of: impl Fn(&Entry) -> f64) -> Vec<u32> {
        let best = |(task, choices): (usize, &Vec<u32>)| {
            let value = |pool: &u32| of(&self.entries[task * self.pools + *pool as usize]);
            let least = choices.iter().copied().min_by(|a, b| value(a).total_cmp(&value(b)));
            least.unwrap_or(0)
        };
        self.choices.iter().enumerate().map(best).collect()
    }

    /// Chromosomes of simple rules: where each task ends first, runs shortest, needs least energy, and exceeds its budget least.
    pub(super) fn of_rules(&self) -> Vec<Vec<u32>> {
        vec![
            self.earliest(),
            self.least(|entry| entry.run as f64),
            self.least(|entry| entry.energy),
            self.least(|entry| entry.over),
        ]
    }
}

/// An instance that is no view of a grid: tasks by pools, times in microseconds from now, and edges that take `latency` between pools if they carry
/// anything.
#[cfg(test)]
pub(super) struct TaskTable {
    pub(super) processors: Vec<u32>,
    pub(super) free: Vec<Vec<u64>>,
    pub(super) runs: Vec<Vec<u64>>,
    pub(super) energy: Vec<Vec<f64>>,
    pub(super) over: Vec<Vec<f64>>,
    pub(super) due: Vec<u64>,
    pub(super) edges: Vec<(usize, usize, f64)>,
    pub(super) latency: u64,
}

#[cfg(test)]
impl Instance {
    pub(super) fn of_table(table: TaskTable) -> Self {
        let TaskTable { processors, free, runs, energy, over, due, edges, latency } = table;
        let (tasks, pools) = (runs.len(), processors.len());
        let bytes = |bytes: f64| crate::units::Bytes::new(bytes as u64);
        let dag = Dag::new(tasks, edges.iter().map(|(from, to, data)| (*from, *to, bytes(*data)))).expect("no cycle");
        let entry = |task: usize, pool: usize| Entry {
            run: runs[task][pool],
            procs: 1,
            ready: 0,
            over: over[task][pool],
            energy: energy[task][pool],
        };
        let pairs = || (0..tasks).flat_map(|task| (0..pools).map(move |pool| (task, pool)));
        let choices = vec![(0..pools as u32).collect(); tasks];
        let order = order(&dag, &choices, &due, tasks);
        let merits = Merits { efficiency: vec![1.0; pools], capability: vec![1.0; pools], processors };
        let free = free.into_iter().map(|free| free.into_iter().map(Reverse).collect()).collect();
        let links = vec![(latency, 0.0); pools * pools];
        Self::built(pairs().map(|(task, pool)| entry(task, pool)).collect(), (&dag, choices, due, order), (links, free, merits))
    }
}

/// The tasks that have a pool, with all that they wait for, each behind that: by due date, then by number. At most so many.
fn order(dag: &Dag, choices: &[Vec<u32>], due: &[u64], most: usize) -> Vec<u32> {
    let tasks = choices.len();
    let mut missing: Vec<usize> = (0..tasks).map(|task| dag.predecessors(task).count()).collect();
    let starts = |task: usize| !choices[task].is_empty();
    let mut ready: BinaryHeap<Reverse<(u64, u32)>> = (0..tasks)
        .filter(|task| missing[*task] == 0 && starts(*task))
        .map(|task| Reverse((due[task], task as u32)))
        .collect();
    let mut order = Vec::new();
    while let Some(Reverse((_, task))) = ready.pop().filter(|_| order.len() < most) {
        order.push(task);
        for (after, _) in dag.successors(task as usize) {
            missing[after] -= 1;
            if missing[after] == 0 && starts(after) {
                ready.push(Reverse((due[after], after as u32)));
            }
        }
    }
    order
}
