//! What a chromosome says: which task runs where and when, and its five objectives.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::order::{Due, by_due};
use super::taken::{Free, Taken, finally_free, free_times};
use crate::broker::mapping::{Costs, Dag, Limits, Links, Placement, Profiles};
use crate::broker::{OpenTasks, Pool, TaskLimits};
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

/// The largest exponent of a lateness.
const MOST_LATE: f64 = 50.0;

/// The penalty of so late an end, in units of the mean time that tasks were given: exponential, and on along its tangent where that can no longer be told apart from
/// others.
pub(super) fn penalty(late: f64) -> f64 {
    let curved = late.min(MOST_LATE);
    libm::expm1(curved) + libm::exp(curved) * (late - curved)
}

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

/// The tasks of a planning and the pools that they may go to. Gene *i* of a chromosome is the pool of the *i*-th task, in the order in which tasks
/// get processors.
#[derive(Debug)]
pub(super) struct Instance {
    pools: usize,
    /// The task of each gene, as it is numbered outside.
    tasks: Vec<u32>,
    /// By gene and pool.
    entries: Vec<Entry>,
    /// For each gene the pools where its task fits, ascending.
    choices: Vec<Vec<u32>>,
    /// When each task is due, in microseconds from now; before now if it is overdue, never if it has no deadline.
    due: Vec<f64>,
    /// For each gene, in `inputs`, where what its task waits for begins.
    first_input: Vec<u32>,
    /// The gene of a task that is waited for, and the bytes that it sends.
    inputs: Vec<(u32, f64)>,
    /// The genes whose tasks wait for that of each gene; none if tasks get processors in the order of genes.
    waiting: Vec<Vec<u32>>,
    /// From each pool to each: latency in microseconds, and microseconds a byte.
    links: Vec<(u64, f64)>,
    /// When the processors of each pool are free, in microseconds from now: no more of them than all tasks take.
    free: Free,
    /// How many processors of each pool are free now, which decides between equal ends.
    spare: Vec<u32>,
    /// All processors.
    processors: f64,
    /// A lateness of so many microseconds has a penalty of e − 1.
    slack: f64,
    /// The mean budget of the tasks, in units of the currency; of one without, 0.
    pub(super) budget: f64,
    /// How long the planning takes: no task leaves before.
    pub(super) takes: Span,
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
#[derive(Clone, Debug)]
pub(super) struct Scratch {
    pools: Vec<Taken>,
    /// When the task of each gene ends.
    ends: Vec<u64>,
    /// For how many others each task still waits.
    missing: Vec<u32>,
    /// When the tasks that wait for none could begin, with their genes.
    queue: BinaryHeap<Reverse<(u64, u32)>>,
}

/// What the tasks of a schedule sum to.
#[derive(Copy, Clone, Debug, Default)]
struct Sums {
    /// The last end, in microseconds from now.
    last: u64,
    /// How long processors are idle before, in microseconds.
    idle: u64,
    late: f64,
    over: f64,
    energy: f64,
}

/// Which of the tasks that wait for none is the next to get processors.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(super) enum Next {
    /// The one that is due first.
    Due,
    /// The one that could begin first, and of equals the one that is due first.
    Ready,
}

impl Merits {
    fn of(pools: &[Pool]) -> Self {
        let watts =
            |pool: &Pool| pool.facts.busy.milliwatts().max(1) as f64 * pool.facts.pue_ppm.max(1) as f64;
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

/// The number of chromosomes of genes that have these pools to choose from.
pub(super) fn chromosomes(choices: &[Vec<u32>]) -> u64 {
    choices.iter().fold(1, |all, choices| all.saturating_mul(choices.len() as u64))
}

impl Instance {
    /// These tasks of the view, each of which has a pool.
    pub(super) fn new(
        (dag, open, limits): (&Dag, &OpenTasks<'_>, &TaskLimits<'_>),
        (pools, links, holes): (&[Pool], &Links, &Profiles),
        now: Time,
        (next, takes): (Next, impl Fn(&[Vec<u32>]) -> Span),
    ) -> Self {
        let count = pools.len();
        let room: Vec<u32> = holes.0.iter().map(finally_free).collect();
        let fits =
            |task: usize, pool: usize| open.run(task, pool).is_some() && open.procs(task, pool) <= room[pool];
        let key = |task: usize| (limits.due(task).micros(), open.task(task).id().0);
        let tasks = by_due(dag, key);
        let micros = |time: Time| time.micros() as f64;
        let due = |task: &u32| match limits.due(*task as usize) {
            Time::NEVER => f64::INFINITY,
            due => micros(due) - micros(now),
        };
        let given = |task: &u32| match limits.due(*task as usize) {
            Time::NEVER => None,
            due => Some(due.since(open.task(*task as usize).submit()).micros() as f64),
        };
        let due = Due::new(tasks.iter().map(due).collect(), tasks.iter().filter_map(given));
        let budgets = tasks.iter().filter_map(|task| limits.budget(*task as usize));
        let budget =
            budgets.map(|budget| budget.nanos().max(0) as f64 / 1e9).sum::<f64>() / tasks.len().max(1) as f64;
        let choices: Vec<Vec<u32>> = tasks
            .iter()
            .map(|task| (0..count as u32).filter(|pool| fits(*task as usize, *pool as usize)).collect())
            .collect();
        let takes = takes(&choices);
        let power = |pool: &Pool| pool.facts.busy.milliwatts() as f64 * pool.facts.pue_ppm as f64;
        let heaviest = pools.iter().map(power).fold(1.0, f64::max);
        let entry = |task: usize, pool: usize| {
            let run = open.run(task, pool).unwrap_or(Span::MAX);
            let (procs, ready) = (open.procs(task, pool), open.ready(task, pool).since(now));
            let over = limits.budget(task).map_or(0.0, |budget| {
                let placed = Placement { task, pool, start: now, end: now + run };
                let over = limits.cost(&placed).nanos().saturating_sub(budget.nanos());
                over.max(0) as f64 / 1e9
            });
            let weight = power(&pools[pool]) / heaviest;
            let energy = run.as_secs_f64() * f64::from(procs) * weight;
            // What is planned leaves when the plan is there.
            Entry {
                run: run.micros(),
                procs,
                ready: ready.micros().saturating_add(takes.micros()),
                over,
                energy,
            }
        };
        let of_task = |task: u32| (0..count).map(move |pool| (task as usize, pool));
        let entries: Vec<Entry> =
            tasks.iter().copied().flat_map(of_task).map(|(task, pool)| entry(task, pool)).collect();
        let need = entries.chunks(count.max(1)).zip(&choices).map(|(entries, choices)| {
            let procs = choices.iter().map(|pool| u64::from(entries[*pool as usize].procs));
            procs.max().unwrap_or(0)
        });
        let need: u64 = need.sum();
        let free = Free::new(holes.0.iter().map(|profile| free_times(profile, now, need)));
        let spare = holes
            .0
            .iter()
            .map(|profile| profile.steps().next().map_or(0, |(_, free)| free.max(0).unsigned_abs()));
        let pairs = (0..count).flat_map(|from| (0..count).map(move |to| (from, to)));
        let moves = tasks.iter().any(|task| dag.predecessors(*task as usize).next().is_some());
        let links = if moves { pairs.map(|(from, to)| links.pair(from, to)).collect() } else { Vec::new() };
        let built = Self::built(
            entries,
            (dag, choices, tasks, due),
            (links, free, Merits::of(pools)),
            spare.collect(),
        );
        Self { budget, takes, ..built }.with(next)
    }

    /// The instance with what follows from these parts.
    fn built(
        entries: Vec<Entry>,
        (dag, choices, tasks, due): (&Dag, Vec<Vec<u32>>, Vec<u32>, Due),
        (links, free, merits): (Vec<(u64, f64)>, Free, Merits),
        spare: Vec<u32>,
    ) -> Self {
        let Due { at: due, slack } = due;
        let mut genes = vec![0; dag.tasks()];
        tasks.iter().zip(0..).for_each(|(task, gene)| genes[*task as usize] = gene);
        let (mut first_input, mut inputs) = (vec![0], Vec::new());
        for task in &tasks {
            let before = dag.predecessors(*task as usize);
            inputs.extend(before.map(|(before, data)| (genes[before], data.count() as f64)));
            first_input.push(inputs.len() as u32);
        }
        let processors = merits.processors.iter().map(|count| f64::from(*count)).sum::<f64>().max(1.0);
        Self {
            pools: free.pools(),
            tasks,
            entries,
            choices,
            due,
            first_input,
            inputs,
            waiting: Vec::new(),
            links,
            free,
            spare,
            processors,
            slack,
            budget: 0.0,
            takes: Span::ZERO,
            merits,
        }
    }

    /// The same instance, whose tasks get processors in this order.
    pub(super) fn with(mut self, next: Next) -> Self {
        let together =
            self.inputs.is_empty() && self.entries.windows(2).all(|pair| pair[0].ready == pair[1].ready);
        // Tasks that could all begin at once are in the order of genes in any case.
        if next == Next::Ready && !together {
            let mut waiting = vec![Vec::new(); self.genes()];
            for gene in 0..self.genes() {
                self.inputs(gene).iter().for_each(|(before, _)| waiting[*before as usize].push(gene as u32));
            }
            self.waiting = waiting;
        }
        self
    }

    /// What the task of a gene waits for.
    pub(super) fn inputs(&self, gene: usize) -> &[(u32, f64)] {
        &self.inputs[self.first_input[gene] as usize..self.first_input[gene + 1] as usize]
    }

    /// Passes all genes to `place`, in the order in which their tasks get processors, with the memory in which it notes the end of each. `ready` says when one whose inputs
    /// have been placed could begin.
    fn each(
        &self,
        scratch: &mut Scratch,
        ready: impl Fn(usize, &Scratch) -> u64,
        mut place: impl FnMut(usize, &mut Scratch),
    ) {
        if self.waiting.is_empty() {
            (0..self.genes()).for_each(|gene| place(gene, scratch));
            return;
        }
        scratch.missing.clear();
        scratch.missing.extend(self.first_input.windows(2).map(|ends| ends[1] - ends[0]));
        let mut queue = std::mem::take(&mut scratch.queue);
        let first = (0..self.genes()).filter(|gene| scratch.missing[*gene] == 0);
        queue.extend(first.map(|gene| Reverse((ready(gene, scratch), gene as u32))));
        while let Some(Reverse((_, gene))) = queue.pop() {
            place(gene as usize, scratch);
            for after in &self.waiting[gene as usize] {
                let after = *after as usize;
                scratch.missing[after] -= 1;
                if scratch.missing[after] == 0 {
                    queue.push(Reverse((ready(after, scratch), after as u32)));
                }
            }
        }
        scratch.queue = queue;
    }

    /// The task of each gene, as it is numbered outside.
    pub(super) fn tasks(&self) -> &[u32] {
        &self.tasks
    }

    /// The length of a chromosome.
    pub(super) fn genes(&self) -> usize {
        self.tasks.len()
    }

    /// The pools where the task of a gene fits, ascending; at least one.
    pub(super) fn choices(&self, gene: usize) -> &[u32] {
        &self.choices[gene]
    }

    /// The number of chromosomes.
    pub(super) fn chromosomes(&self) -> u64 {
        chromosomes(&self.choices)
    }

    /// All chromosomes; of equal ones those come first whose tasks are where they would end first alone, and where most processors are free.
    /// Their number must be one that can be searched.
    pub(super) fn every(&self) -> impl Iterator<Item = Vec<u32>> {
        let alone = |gene: usize, pool: u32| {
            let entry = &self.entries[gene * self.pools + pool as usize];
            let free = self.free.untaken(pool as usize).free_at(&self.free, entry.procs);
            (entry.ready.max(free).saturating_add(entry.run), Reverse(self.spare[pool as usize]))
        };
        let mut choices = self.choices.clone();
        for (gene, choices) in choices.iter_mut().enumerate() {
            choices.sort_by_key(|pool| alone(gene, *pool));
        }
        (0..self.chromosomes()).map(move |mut number| {
            let gene = |choices: &Vec<u32>| {
                let choice = number % choices.len() as u64;
                number /= choices.len() as u64;
                choices[choice as usize]
            };
            choices.iter().map(gene).collect()
        })
    }

    /// Working memory.
    pub(super) fn scratch(&self) -> Scratch {
        Scratch {
            pools: (0..self.pools).map(|pool| self.free.untaken(pool)).collect(),
            ends: vec![0; self.genes()],
            missing: Vec::new(),
            queue: BinaryHeap::new(),
        }
    }

    /// When the task of a gene can start in a pool if processors are free, where those before it have these pools and end then.
    #[inline]
    fn ready(&self, gene: usize, pool: usize, chromosome: &[u32], ends: &[u64]) -> u64 {
        let mut from = self.entries[gene * self.pools + pool].ready;
        let inputs = self.first_input[gene] as usize..self.first_input[gene + 1] as usize;
        for (before, bytes) in &self.inputs[inputs] {
            let (mut there, source) = (ends[*before as usize], chromosome[*before as usize] as usize);
            if source != pool && *bytes > 0.0 {
                let (latency, per_byte) = self.links[source * self.pools + pool];
                there = there.saturating_add(latency).saturating_add((per_byte * bytes) as u64);
            }
            from = from.max(there);
        }
        from
    }

    /// The objectives of a chromosome, which has a pool for each task. Each gene is passed to `placed` with the start and the end of its task, in
    /// microseconds from now.
    ///
    /// A task gets the processors of its pool that are free first, when all that it waits for is there; no task that is placed later is put before it.
    pub(super) fn decode(
        &self,
        chromosome: &[u32],
        scratch: &mut Scratch,
        mut placed: impl FnMut(usize, u64, u64),
    ) -> [f64; OBJECTIVES] {
        scratch.pools.iter_mut().for_each(Taken::clear);
        let mut sums = Sums::default();
        if self.waiting.is_empty() {
            // As below, but the sums stay in registers.
            for gene in 0..self.genes() {
                let (start, end) = self.count(gene, chromosome, scratch, &mut sums);
                placed(gene, start, end);
            }
        } else {
            let ready = |gene: usize, scratch: &Scratch| {
                self.ready(gene, chromosome[gene] as usize, chromosome, &scratch.ends)
            };
            self.each(scratch, ready, |gene, scratch| {
                let (start, end) = self.count(gene, chromosome, scratch, &mut sums);
                placed(gene, start, end);
            });
        }
        let Sums { last, idle, late, over, energy } = sums;
        let tasks = self.genes().max(1) as f64;
        [last as f64 / 1e6, idle as f64 / 1e6 / self.processors, late / tasks, over / tasks, energy]
    }

    /// Places the task of a gene, and adds what it counts; returns its start and its end.
    #[inline]
    fn count(&self, gene: usize, chromosome: &[u32], scratch: &mut Scratch, sums: &mut Sums) -> (u64, u64) {
        let pool = chromosome[gene] as usize;
        let from = self.ready(gene, pool, chromosome, &scratch.ends);
        let entry = &self.entries[gene * self.pools + pool];
        let (start, end, idle) = scratch.pools[pool].run(&self.free, entry.procs, from, entry.run);
        scratch.ends[gene] = end;
        sums.idle = sums.idle.saturating_add(idle);
        sums.last = sums.last.max(end);
        sums.over += entry.over;
        sums.energy += entry.energy;
        let by = end as f64 - self.due[gene];
        if by > 0.0 {
            sums.late += penalty(by / self.slack);
        }
        (start, end)
    }

    /// When the task of a gene would end in a pool, behind those that have been placed.
    pub(super) fn end(&self, gene: usize, pool: u32, chromosome: &[u32], scratch: &Scratch) -> u64 {
        let at = pool as usize;
        let entry = &self.entries[gene * self.pools + at];
        let from = self.ready(gene, at, chromosome, &scratch.ends);
        from.max(scratch.pools[at].free_at(&self.free, entry.procs)).saturating_add(entry.run)
    }

    /// Places the task of a gene in a pool, behind those that have been placed.
    pub(super) fn place(&self, gene: usize, pool: u32, chromosome: &[u32], scratch: &mut Scratch) {
        let at = pool as usize;
        let entry = &self.entries[gene * self.pools + at];
        let from = self.ready(gene, at, chromosome, &scratch.ends);
        scratch.ends[gene] = scratch.pools[at].run(&self.free, entry.procs, from, entry.run).1;
    }

    /// A chromosome in which each task, in their order, is where it ends first, and of equal pools in that with most processors free.
    pub(super) fn earliest(&self) -> Vec<u32> {
        let mut chromosome = vec![0; self.genes()];
        // Where a task goes is not known before it is placed: it could begin when what it waits for has ended.
        let ready = |gene: usize, scratch: &Scratch| {
            let inputs = self.inputs(gene).iter().map(|(before, _)| scratch.ends[*before as usize]);
            let there = |pool: &u32| self.entries[gene * self.pools + *pool as usize].ready;
            let there = self.choices[gene].iter().map(there).min();
            inputs.chain(there).max().unwrap_or(0)
        };
        self.each(&mut self.scratch(), ready, |at, scratch| {
            let idle = |pool: u32| {
                let taken = scratch.pools[pool as usize].firsts();
                self.spare[pool as usize].saturating_sub(taken)
            };
            let key = |pool: &u32| (self.end(at, *pool, &chromosome, scratch), Reverse(idle(*pool)));
            let Some(pool) = self.choices[at].iter().copied().min_by_key(key) else { return };
            chromosome[at] = pool;
            self.place(at, pool, &chromosome, scratch);
        });
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
        let dag = Dag::new(tasks, edges.iter().map(|(from, to, data)| (*from, *to, bytes(*data))))
            .expect("no cycle");
        let order = by_due(&dag, |task| (due[task], task as u64));
        let at = |task: &u32| Some(due[*task as usize]).filter(|due| *due < u64::MAX).map(|due| due as f64);
        let all = || order.iter().map(at);
        let due = Due::new(all().map(|due| due.unwrap_or(f64::INFINITY)).collect(), all().flatten());
        let entry = |task: u32, pool: usize| {
            let task = task as usize;
            Entry {
                run: runs[task][pool],
                procs: 1,
                ready: 0,
                over: over[task][pool],
                energy: energy[task][pool],
            }
        };
        let pairs = order.iter().flat_map(|task| (0..pools).map(move |pool| (*task, pool)));
        let entries = pairs.map(|(task, pool)| entry(task, pool)).collect();
        let choices = vec![(0..pools as u32).collect(); tasks];
        let merits = Merits { efficiency: vec![1.0; pools], capability: vec![1.0; pools], processors };
        let links = vec![(latency, 0.0); pools * pools];
        Self::built(entries, (&dag, choices, order, due), (links, Free::new(free), merits), vec![0; pools])
    }
}
