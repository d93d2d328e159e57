//! MOJS: plans all waiting tasks again and again by a search with several objectives (Paul 2013).

mod choice;
mod mappers;
mod operators;
mod order;
mod schedule;
mod taken;
#[cfg(test)]
mod tests;

use serde::{Deserialize, Serialize};
use smallvec::SmallVec;

use self::choice::{Choice, reference};
use self::mappers::Mapper;
use self::operators::{by_fitness, by_mask, k_point, rebalance, shift, swap};
use self::order::due_first;
use self::schedule::{ABOUT, Instance, Next, OBJECTIVES, Scratch, chromosomes};
use self::taken::finally_free;
use super::ahead::{Group, is_alone};
use crate::broker::mapping::Links;
use crate::broker::{
    Answer, BrokerAbilities, BrokerBuilt, BrokerPolicy, BrokerPolicyInfo, Front, GridView, OpenTasks,
    Planned, PlanningFacts, Put, Reason, Task, TaskLimits,
};
use crate::model::{JobId, Named, NamedError, ParamInfo};
use crate::search::{Archive, Method, Problem, Search, Settings, WeightedSum, exhaustive};
use crate::units::{Span, Time};
use crate::workload::random::Stream;

const fn param(
    key: &'static str,
    values: &'static str,
    default: &'static str,
    doc: &'static str,
) -> ParamInfo {
    ParamInfo { key, values, default, doc }
}

const WEIGHT: &str = "a number from 0 to 1000";

const PARAMS: [ParamInfo; 19] = [
    param("interval", "a duration above 0 s", "10 min", "how long after a planning the next one is"),
    param("min_queued", "a number from 1", "1", "how many tasks a planning queues at least"),
    param(
        "most",
        "a number from 1",
        "500",
        "how many tasks a planning considers at most: those that are due first, with what they wait for",
    ),
    param("population", "an even number from 4 to 10000", "100", "the number of chromosomes"),
    param("generations", "a number from 1 to 1000000", "200", "the number of generations"),
    param("crossover", "a number from 0 to 1", "0.9", "the probability that two parents are crossed"),
    param("points", "a number from 1 to 100", "2", "the number of cuts of the k-point crossover"),
    param(
        "search",
        "nsga2, sum or random",
        "nsga2",
        "how is searched: NSGA-II, or one of two controls with as many evaluations, a genetic algorithm of the weighted sum and random search",
    ),
    param(
        "start",
        "rules, mappers or random",
        "rules",
        "whether the first population has the schedules of simple rules: where each task ends first, runs shortest, takes least energy, or exceeds its budget least; and those of min-min, max-min and sufferage",
    ),
    param(
        "choose",
        "sum or knee",
        "sum",
        "which schedule of the first front is the plan: the one with the least weighted sum, or the knee",
    ),
    param("makespan", WEIGHT, "1", "the weight of the makespan"),
    param("idle", WEIGHT, "1", "the weight of what processors are idle before they are free for good"),
    param("lateness", WEIGHT, "1", "the weight of the exponential penalty for what ends after its deadline"),
    param("overspending", WEIGHT, "1", "the weight of what tasks cost beyond their budgets"),
    param("energy", WEIGHT, "1", "the weight of the energy"),
    param("on_change", "yes or no", "yes", "whether a pool that comes or goes makes it plan at once"),
    param(
        "on_arrival",
        "yes or no",
        "yes",
        "whether a task that comes makes it plan at once if no other waits with the broker",
    ),
    param(
        "order",
        "due or ready",
        "due",
        "which task is the next to get processors, of those that wait for none without: the one that is due first, or the one that could begin first, and of equals the one that is due first",
    ),
    param(
        "per_gene",
        "a duration",
        "0 s",
        "the virtual time that planning takes for each task of each evaluated schedule; a planning has no more tasks than it has time for in an `interval`",
    ),
];

pub(super) fn info() -> BrokerPolicyInfo {
    BrokerPolicyInfo::new("mojs", build)
        .doc("Plans all waiting tasks at intervals by NSGA-II with five objectives: makespan, idle processors, lateness, overspending and energy. Tasks that start before the next planning are queued, the others are planned again.")
        .source("MOJS: Paul 2013")
        .params(&PARAMS)
}

fn build(named: &mut Named, seed: u64) -> Result<BrokerBuilt, NamedError> {
    let number = "a number from 1";
    let interval: Option<Span> = named.take_within("interval", Span::TICK.., PARAMS[0].values)?;
    let min_queued = named.take_within("min_queued", 1_usize.., number)?.unwrap_or(1);
    let most = named.take_within("most", 1_usize.., number)?.unwrap_or(500);
    let population = named.take_within("population", 4..=10_000, PARAMS[3].values)?.unwrap_or(100);
    if !usize::is_multiple_of(population, 2) {
        // Parents come in pairs.
        return Err(NamedError::bad_value("mojs", "population", population, PARAMS[3].values));
    }
    let generations = named.take_within("generations", 1_usize..=1_000_000, PARAMS[4].values)?.unwrap_or(200);
    let crossover = named.take_within("crossover", 0.0..=1.0, PARAMS[5].values)?.unwrap_or(0.9);
    let points = named.take_within("points", 1_usize..=100, PARAMS[6].values)?.unwrap_or(2);
    let by = [("nsga2", By::Nsga2), ("sum", By::Sum), ("random", By::Random)];
    let by = named.take_choice("search", &by)?.unwrap_or(By::Nsga2);
    let start = named.take_choice("start", &Start::NAMES)?.unwrap_or(Start::Rules);
    let knee = named.take_choice("choose", &[("sum", false), ("knee", true)])?.unwrap_or(false);
    let mut weights = [1.0; OBJECTIVES];
    for (weight, objective) in weights.iter_mut().zip(ABOUT) {
        let given = named.take_within(objective.name, 0.0..=1_000.0, WEIGHT)?;
        if given.is_some() && knee && by != By::Sum {
            let expected = "`sum`, as the knee weighs all objectives equally, where a weight is given";
            return Err(NamedError::bad_value("mojs", "choose", "knee", expected));
        }
        *weight = given.unwrap_or(1.0);
    }
    if weights.iter().all(|weight| *weight == 0.0) {
        let expected =
            "above 0, as one of `makespan`, `idle`, `lateness`, `overspending` and `energy` must be";
        return Err(NamedError::bad_value("mojs", ABOUT[0].name, 0, expected));
    }
    let on_change = named.take_choice("on_change", &[("yes", true), ("no", false)])?.unwrap_or(true);
    let on_arrival = named.take_choice("on_arrival", &[("yes", true), ("no", false)])?.unwrap_or(true);
    let next =
        named.take_choice("order", &[("due", Next::Due), ("ready", Next::Ready)])?.unwrap_or(Next::Due);
    let per_gene = named.take("per_gene", "a duration")?.unwrap_or(Span::ZERO);
    let one = per_gene.micros().saturating_mul((population * generations) as u64);
    let interval = interval.unwrap_or(Span::from_secs(600));
    if one > interval.micros() {
        let most = Span::from_micros(interval.micros() / (population * generations) as u64);
        let expected = format!(
            "at most {most} s, with which a planning of one task by {population} x {generations} schedules takes the whole `interval` of {interval} s"
        );
        return Err(NamedError::bad_value("mojs", "per_gene", format!("{per_gene} s"), &expected));
    }
    let settings = Settings { population, generations, crossover, distinct: true, ..Settings::default() };
    let choice = if knee { Choice::Knee } else { Choice::Sum(weights) };
    let terms = Terms {
        interval,
        min_queued,
        most,
        points,
        by,
        start,
        choice,
        weights,
        on_change,
        on_arrival,
        next,
        per_gene,
    };
    let plans = BrokerAbilities { batch: true, workflows: true, random: true, ..BrokerAbilities::PLAIN };
    let abilities = BrokerAbilities { objectives: &ABOUT, takes_time: !per_gene.is_zero(), ..plans };
    Ok((Box::new(Mojs { terms, settings, seed, kept: Kept::default() }), abilities))
}

/// A generation that places fewer tasks is done before other threads have begun.
const WORTH_THREADS: u64 = 2_000;

/// How is searched.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
enum By {
    Nsga2,
    Sum,
    Random,
}

/// What the first population has beside random chromosomes.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
enum Start {
    Rules,
    /// The rules, and the mapping heuristics.
    Mappers,
    Random,
}

impl Start {
    const NAMES: [(&'static str, Self); 3] =
        [("rules", Self::Rules), ("mappers", Self::Mappers), ("random", Self::Random)];
}

/// The parameters beside those of the search.
#[derive(Clone, Debug, PartialEq)]
struct Terms {
    interval: Span,
    min_queued: usize,
    most: usize,
    points: usize,
    by: By,
    start: Start,
    choice: Choice,
    weights: [f64; OBJECTIVES],
    on_change: bool,
    on_arrival: bool,
    next: Next,
    per_gene: Span,
}

/// What a snapshot keeps.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
struct Kept {
    /// The number of plannings, by which each draws.
    plannings: u64,
    /// When the next one may be.
    next: Time,
    /// Which pools had processors at the last one.
    there: Vec<bool>,
    /// Whether the last one left no task waiting: all that could be planned start before the next one.
    idle: bool,
}

/// The multi-objective job scheduler.
#[derive(Debug)]
struct Mojs {
    terms: Terms,
    settings: Settings,
    seed: u64,
    kept: Kept,
}

/// The search for chromosomes.
struct Chromosomes<'a> {
    instance: &'a Instance,
    points: usize,
}

impl Chromosomes<'_> {
    /// A pool for a gene.
    fn drawn(&self, gene: usize, stream: &mut Stream) -> u32 {
        let choices = self.instance.choices(gene);
        choices[stream.below(choices.len() as u64) as usize]
    }
}

impl Problem for Chromosomes<'_> {
    type Genome = Vec<u32>;
    type Scratch = Scratch;

    fn objectives(&self) -> usize {
        OBJECTIVES
    }

    fn scratch(&self) -> Scratch {
        self.instance.scratch()
    }

    fn random(&self, stream: &mut Stream) -> Vec<u32> {
        (0..self.instance.genes()).map(|gene| self.drawn(gene, stream)).collect()
    }

    fn cross(&self, one: &mut Vec<u32>, other: &mut Vec<u32>, stream: &mut Stream) {
        match stream.below(3) {
            0 => {
                let genes = one.len() as u64;
                let mut cuts: SmallVec<[usize; 8]> =
                    (0..self.points).map(|_| stream.below(genes + 1) as usize).collect();
                cuts.sort_unstable();
                k_point(one, other, &cuts);
            }
            1 => by_mask(one, other, || stream.uniform() < 0.5),
            _ => by_fitness(one, other, &self.instance.merits, stream),
        }
    }

    fn mutate(&self, chromosome: &mut Vec<u32>, stream: &mut Stream) {
        let genes = chromosome.len() as u64;
        let gene = |stream: &mut Stream| stream.below(genes) as usize;
        match stream.below(3) {
            0 => {
                // One gene, and with probability 1/2 each another one.
                let mut moves = 1;
                while moves < genes && stream.uniform() < 0.5 {
                    moves += 1;
                }
                for _ in 0..moves {
                    let gene = gene(stream);
                    shift(chromosome, gene, self.drawn(gene, stream));
                }
            }
            1 => {
                let may = |gene: usize, pool: u32| self.instance.choices(gene).binary_search(&pool).is_ok();
                swap(chromosome, gene(stream), gene(stream), may);
            }
            _ => rebalance(chromosome, &self.instance.merits, |gene| self.instance.choices(gene), stream),
        }
    }

    fn evaluate(&self, chromosome: &Vec<u32>, scratch: &mut Scratch, objectives: &mut [f64]) -> f64 {
        objectives.copy_from_slice(&self.instance.decode(chromosome, scratch, |_, _, _| ()));
        0.0
    }
}

/// What a search has found: its front, and the chromosome of each of its points. The first is chosen.
struct Found {
    front: Front,
    chromosomes: Vec<Vec<u32>>,
    evaluations: u64,
}

impl Found {
    /// Those of these chromosomes, with these objectives, that are in the front that they make.
    fn new(chromosomes: &[&Vec<u32>], points: &[&[f64]], values: &[f64], evaluations: u64) -> Self {
        let front = Front::new(points, values);
        let chromosomes = front.places().iter().map(|at| chromosomes[*at].clone()).collect();
        Self { front, chromosomes, evaluations }
    }
}

/// The schedule that was chosen: its genes with the starts and the ends of their tasks, in microseconds from now, by start.
struct Chosen {
    chromosome: Vec<u32>,
    found: Found,
    starts: Vec<(u64, usize, u64)>,
}

impl Mojs {
    /// The schedule of an instance that has tasks.
    fn search(&self, instance: &Instance) -> Chosen {
        let mut scratch = instance.scratch();
        let mut rules = instance.of_rules();
        if self.terms.start == Start::Mappers {
            rules.extend(Mapper::ALL.map(|mapper| mapper.chromosome(instance)));
        }
        let reference = reference(instance.decode(&rules[0], &mut scratch, |_, _, _| ()), instance.budget);
        let only = |scratch: &mut Scratch| {
            let point = instance.decode(&rules[0], scratch, |_, _, _| ());
            let values = self.terms.choice.values(&[&point], &reference);
            Found::new(&[&rules[0]], &[&point], &values, 1)
        };
        let mut found = self.found(instance, &reference, &rules).unwrap_or_else(|| only(&mut scratch));
        found.front = found.front.counted_by(&reference);
        let mut starts = Vec::with_capacity(instance.genes());
        let chromosome = found.chromosomes.first().unwrap_or(&rules[0]).clone();
        instance.decode(&chromosome, &mut scratch, |gene, start, end| starts.push((start, gene, end)));
        starts.sort_by_key(|(start, ..)| *start);
        Chosen { chromosome, found, starts }
    }

    /// What the search finds; `None` if it cannot begin, which the parameters rule out.
    fn found(&self, instance: &Instance, reference: &[f64; OBJECTIVES], rules: &[Vec<u32>]) -> Option<Found> {
        let Terms { points, by, weights, .. } = &self.terms;
        let problem = Chromosomes { instance, points: *points };
        let settings = Settings {
            seed: Stream::new(self.seed, "mojs", &self.kept.plannings.to_string()).below(u64::MAX),
            // Not beside other runs, which have the threads of the pool.
            parallel: rayon::current_thread_index().is_none()
                && instance.genes() as u64 * self.settings.population as u64 >= WORTH_THREADS,
            ..self.settings
        };
        if instance.chromosomes() <= settings.budget() {
            let (front, evaluations) = exhaustive(&problem, instance.every()).ok()?;
            return Some(self.of_front(&front, reference, evaluations));
        }
        let method = match by {
            By::Nsga2 => Method::Nsga2,
            By::Random => Method::Random,
            By::Sum => {
                Method::WeightedSum(WeightedSum::new(weights, &reference.map(|worst| (0.0, worst))).ok()?)
            }
        };
        let first = if self.terms.start == Start::Random {
            &[]
        } else {
            &rules[..rules.len().min(settings.population)]
        };
        let found = Search::new(&problem, method, settings, first).ok()?.run().ok()?;
        // The last population may have lost, to others that are less crowded, what it began with.
        let mut front = Archive::unbounded(OBJECTIVES).ok()?;
        for at in found.population.best() {
            front.insert(&found.population.genomes()[at], found.population.points().get(at)?).ok()?;
        }
        let mut scratch = instance.scratch();
        for chromosome in first {
            front.insert(chromosome, &instance.decode(chromosome, &mut scratch, |_, _, _| ())).ok()?;
        }
        Some(self.of_front(&front, reference, found.evaluations))
    }

    /// What is found if no schedule is better than one of these.
    fn of_front(&self, front: &Archive<Vec<u32>>, reference: &[f64; OBJECTIVES], evaluations: u64) -> Found {
        let points: Vec<&[f64]> = front.points().iter().collect();
        let values = self.terms.choice.values(&points, reference);
        let chromosomes: Vec<&Vec<u32>> = front.genomes().iter().collect();
        Found::new(&chromosomes, &points, &values, evaluations)
    }

    /// How long a planning takes of tasks that have these pools to choose from.
    fn takes(&self, choices: &[Vec<u32>]) -> Span {
        let genes = choices.len() as u64;
        let evaluations = chromosomes(choices).min(self.settings.budget());
        Span::from_micros(self.terms.per_gene.micros().saturating_mul(evaluations).saturating_mul(genes))
    }

    /// How many tasks a planning considers at most: as many as it has time for in an interval.
    fn most(&self) -> usize {
        let one = self.terms.per_gene.micros().saturating_mul(self.settings.budget());
        let in_time = self.terms.interval.micros().checked_div(one).unwrap_or(u64::MAX);
        self.terms.most.min(usize::try_from(in_time).unwrap_or(usize::MAX)).max(1)
    }

    /// Plans what waits.
    fn planned(&mut self, view: &mut GridView<'_>) -> Answer {
        let (links, holes, now, most) = (view.links(), view.holes(), view.now(), self.most());
        let room: Vec<u32> = holes.0.iter().map(finally_free).collect();
        let has_pool = |task: &Task<'_>| {
            let fits = |at: usize| {
                let pool = &view.pools()[at];
                pool.procs_for(task) <= room[at]
                    && view.fits(*task, at, true)
                    && pool.run_now(task) < Span::MAX
            };
            (0..room.len()).any(fits)
        };
        let (tasks, is_whole) = due_first(view, has_pool, most);
        let mut group = Group::default();
        for workflow in view.workflows() {
            group.add(view, workflow, &tasks);
        }
        let alone = tasks.iter().filter(|task| is_alone(view, **task)).filter_map(|task| view.task(*task));
        alone.for_each(|task| group.add_alone(task));
        if group.is_empty() {
            return view.done();
        }
        let links: &Links = &links;
        // A workflow has no cycle.
        let Some((dag, open, workflows)) = group.opened(view, links) else { return view.done() };
        let limits = TaskLimits::of(view, &open, &workflows);
        let instance = Instance::new(
            (&dag, &open, &limits),
            (view.pools(), links, &holes),
            now,
            (self.terms.next, |choices: &[Vec<u32>]| self.takes(choices)),
        );
        if instance.genes() == 0 {
            return view.done();
        }
        let Chosen { chromosome, found, starts } = self.search(&instance);
        self.kept.plannings += 1;
        let takes = instance.takes;
        let interval = self.terms.interval.max(takes + Span::TICK);
        // The plan after this one arrives so much later.
        let until = (interval + takes).micros();
        let early = starts.partition_point(|(start, ..)| *start < until);
        let queued = early.max(self.terms.min_queued).min(starts.len());
        // If all these go, there may be time for others.
        self.kept.next = now + if early < starts.len() || is_whole { interval } else { takes + Span::TICK };
        // A task that is queued only because one must be waits: what comes then is planned together.
        self.kept.idle = early == starts.len() && is_whole;
        let (number, tasks) = (self.kept.plannings, instance.genes() as u64);
        let facts = PlanningFacts { number, tasks, evaluations: found.evaluations };
        let Found { front, chromosomes, .. } = found;
        let puts = |job, at: usize| put(job, chromosomes.get(at)?, &instance, &open, now);
        view.compared(front, facts, &ABOUT, self.terms.choice.told(), puts);
        let reason = Reason::Compromise;
        for (start, gene, end) in &starts[..queued] {
            let (task, pool) = (instance.tasks()[*gene] as usize, chromosome[*gene] as usize);
            let (start, end) = (now + Span::from_micros(*start), now + Span::from_micros(*end));
            view.plan(open.task(task), Planned { pool, start, end, reason });
        }
        let at = self.kept.next;
        match view.done() {
            Answer::Done(plan) => Answer::Later { at, takes, plan },
            answer => answer,
        }
    }
}

/// Where a chromosome puts a job, if its task is planned.
fn put(job: JobId, chromosome: &[u32], instance: &Instance, open: &OpenTasks<'_>, now: Time) -> Option<Put> {
    let mut found = None;
    instance.decode(chromosome, &mut instance.scratch(), |gene, start, end| {
        if open.task(instance.tasks()[gene] as usize).job() == job {
            let [start, end] = [start, end].map(|micros| now + Span::from_micros(micros));
            found = Some((chromosome[gene] as usize, start, end));
        }
    });
    found
}

impl BrokerPolicy for Mojs {
    fn plan(&mut self, view: &mut GridView<'_>) -> Answer {
        let there: Vec<bool> = view.pools().iter().map(|pool| pool.open && pool.report.present > 0).collect();
        let changed = !self.kept.there.is_empty() && self.kept.there != there;
        self.kept.there = there;
        let is_first = self.kept.idle && self.terms.on_arrival && !view.tasks().undecided().is_empty();
        if view.now() >= self.kept.next || is_first || changed && self.terms.on_change {
            return self.planned(view);
        }
        match view.done() {
            Answer::Done(plan) => Answer::Later { at: self.kept.next, takes: Span::ZERO, plan },
            answer => answer,
        }
    }

    fn save(&self) -> Vec<u8> {
        // A `Vec` takes all that is written.
        postcard::to_stdvec(&self.kept).unwrap_or_default()
    }

    fn restore(&mut self, saved: &[u8]) -> Result<(), String> {
        self.kept = postcard::from_bytes(saved).map_err(|error| error.to_string())?;
        Ok(())
    }
}
