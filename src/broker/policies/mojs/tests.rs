//! The worked examples of the paper, and what holds of any search.

use proptest::collection::vec;
use proptest::prelude::*;

use super::operators::{k_point, share};
use super::schedule::{Instance, Merits, Next, TaskTable};
use super::*;
use crate::broker::mapping::Dag;
use crate::broker::{Asked, LiveWorkflow, Pool, PoolFacts, Rates, Tasks};
use crate::model::{Equipment, GridContext, Job, Limits, PoolId, SiteId, TaskId};
use crate::search::ArchiveSize;
use crate::search::tests::cases;
use crate::units::{Bytes, Power, Rate};

const PARENT_1: [u32; 20] = [2, 1, 3, 2, 3, 4, 1, 3, 2, 2, 1, 3, 4, 2, 1, 4, 3, 3, 1, 3];
const PARENT_2: [u32; 20] = [1, 4, 4, 2, 1, 3, 2, 2, 1, 2, 3, 1, 4, 4, 2, 3, 1, 1, 4, 1];

/// The table of the fitness-based crossover: probabilities as printed, cut off after three digits. Pools have numbers from 1 there.
#[test]
fn the_probabilities_of_the_paper() {
    let energy = [0.9, 0.85, 1.0, 0.7];
    let processing = [0.85, 0.6, 0.7, 1.0];
    let printed = |merits: &[f64]| -> Vec<u32> {
        let genes = PARENT_1.iter().zip(&PARENT_2);
        // What is exact to three digits must not fall below by rounding.
        genes.map(|(one, other)| (share(merits, one - 1, other - 1) * 1_000.0 + 1e-9) as u32).collect()
    };
    let first =
        [485, 562, 588, 500, 526, 411, 514, 540, 485, 500, 473, 526, 500, 548, 514, 411, 526, 526, 562, 526];
    let second =
        [413, 459, 411, 500, 451, 588, 586, 538, 413, 500, 548, 451, 500, 375, 586, 588, 451, 451, 459, 451];
    assert_eq!(printed(&energy), first);
    assert_eq!(printed(&processing), second);
}

/// The figures of the mutations: genes 4, 12 and 20 move; 4 and 12, 7 and 20 change places.
#[test]
fn the_mutations_of_the_paper() {
    let before = [2, 4, 1, 2, 4, 4, 1, 3, 4, 2, 1, 1, 4, 3, 1, 2, 3, 3, 2, 3];
    let mut moved = before;
    for (gene, to) in [(4, 3), (12, 2), (20, 4)] {
        operators::shift(&mut moved, gene - 1, to);
    }
    assert_eq!(moved, [2, 4, 1, 3, 4, 4, 1, 3, 4, 2, 1, 2, 4, 3, 1, 2, 3, 3, 2, 4]);
    let mut swapped = before;
    for (one, other) in [(4, 12), (7, 20)] {
        operators::swap(&mut swapped, one - 1, other - 1, |_, _| true);
    }
    assert_eq!(swapped, [2, 4, 1, 1, 4, 4, 3, 3, 4, 2, 1, 2, 4, 3, 1, 2, 3, 3, 2, 1]);
    // A task that may not go there stays, and so does the other.
    let mut refused = before;
    operators::swap(&mut refused, 3, 11, |task, _| task != 11);
    assert_eq!(refused, before);
}

#[test]
fn cuts_exchange_every_second_piece() {
    let (mut one, mut other) = (vec![1; 6], vec![2; 6]);
    k_point(&mut one, &mut other, &[2, 4]);
    assert_eq!((one, other), (vec![1, 1, 2, 2, 1, 1], vec![2, 2, 1, 1, 2, 2]));
    let (mut one, mut other) = (vec![1; 6], vec![2; 6]);
    k_point(&mut one, &mut other, &[1, 3, 5]);
    assert_eq!((one, other), (vec![1, 2, 2, 1, 1, 2], vec![2, 1, 1, 2, 2, 1]));
}

/// The pool with most tasks a processor gives one away to a pool with fewer where it may run.
#[test]
fn rebalancing_moves_from_the_most_loaded_pool() {
    let merits = Merits { processors: vec![4, 1, 1], ..Merits::default() };
    // Loads of 3/4, 2 and 0; the first task of pool 1 may go to pools 1 and 2 only, the other to 0 and 1 only.
    let choices: [&[u32]; 5] = [&[0, 1, 2], &[0, 1, 2], &[0, 1, 2], &[1, 2], &[0, 1]];
    let mut seen = std::collections::BTreeSet::new();
    for seed in 0..40 {
        let mut chromosome = [0, 0, 0, 1, 1];
        let mut stream = Stream::new(seed, "test", "rebalance");
        rebalance(&mut chromosome, &merits, |gene| choices[gene], &mut stream);
        seen.insert(chromosome);
    }
    assert_eq!(seen.into_iter().collect::<Vec<_>>(), [[0, 0, 0, 1, 0], [0, 0, 0, 2, 1]]);
}

/// Two pools of one processor, the second twice as fast for half the energy an hour; tasks of 10, 20 and 30 s there, the third waits for the first
/// and gets 8 s of data if it is elsewhere. All is worked by hand.
fn three() -> Instance {
    let secs = |secs: u64| secs * 1_000_000;
    Instance::of_table(TaskTable {
        processors: vec![1, 1],
        free: vec![vec![0], vec![secs(5)]],
        runs: vec![vec![secs(10), secs(5)], vec![secs(20), secs(10)], vec![secs(30), secs(15)]],
        energy: vec![vec![10.0, 2.5], vec![20.0, 5.0], vec![30.0, 7.5]],
        over: vec![vec![0.0, 3.0], vec![0.0, 0.0], vec![0.0, 0.0]],
        due: vec![secs(12), u64::MAX, secs(28)],
        edges: vec![(0, 2, 1.0)],
        latency: secs(8),
    })
}

#[test]
fn the_objectives_by_hand() {
    let instance = three();
    assert_eq!(instance.tasks(), [0, 2, 1]);
    let mut placed = Vec::new();
    let mut scratch = instance.scratch();
    // Due first is task 0, then task 2, then task 1: task 0 from 0 to 10 in pool 0; task 2 waits for its data until 18 in pool 1 and ends at 33, so that
    // pool 1, free from 5 on, idles for 13 s; task 1 ends in pool 0 at 30.
    let objectives = instance.decode(&[0, 1, 0], &mut scratch, |gene, start, end| {
        placed.push((instance.tasks()[gene], start / 1_000_000, end / 1_000_000))
    });
    assert_eq!(placed, [(0, 0, 10), (2, 18, 33), (1, 10, 30)]);
    let [makespan, idle, lateness, over, energy] = objectives;
    assert_eq!((makespan, idle, over, energy), (33.0, 13.0 / 2.0, 0.0, 37.5));
    // The mean slack is 20 s; task 2 is 5 s late; three tasks.
    assert!((lateness - libm::expm1(0.25) / 3.0).abs() < 1e-12);
    // All in pool 1: 5 to 10, then task 2 to 25, then task 1 to 35; nothing idles after 5 s, and task 0 costs 3 beyond its budget.
    let objectives = instance.decode(&[1, 1, 1], &mut scratch, |_, _, _| ());
    assert_eq!(objectives, [35.0, 0.0, 0.0, 1.0, 15.0]);
}

/// Task 2 waits for its data until 18, and is due before task 1: by due dates it gets pool 1 first, and task 1 has to wait for its end although the pool is free from 5 on.
#[test]
fn the_task_that_is_ready_first_goes_first_if_wanted() {
    let decoded = |next| {
        let (instance, mut placed) = (three().with(next), Vec::new());
        let objectives = instance.decode(&[0, 1, 1], &mut instance.scratch(), |task, start, end| {
            placed.push((task, start / 1_000_000, end / 1_000_000))
        });
        (placed, objectives[0], objectives[1])
    };
    let by_gene = |next| {
        let (mut placed, makespan, idle) = decoded(next);
        placed.sort_unstable_by_key(|(_, start, end)| (*start, *end));
        (placed.iter().map(|(_, start, end)| (*start, *end)).collect::<Vec<_>>(), makespan, idle)
    };
    assert_eq!(by_gene(Next::Due), (vec![(0, 10), (18, 33), (33, 43)], 43.0, 13.0 / 2.0));
    assert_eq!(by_gene(Next::Ready), (vec![(0, 10), (5, 15), (18, 33)], 33.0, 3.0 / 2.0));
    // Where each ends first: task 0 in pool 0, the other two in pool 1.
    let first = three().with(Next::Ready);
    let earliest = first.decode(&first.earliest(), &mut first.scratch(), |_, _, _| ());
    assert_eq!(earliest[..2], [33.0, 3.0 / 2.0]);
}

/// Of all chromosomes of a small instance: the archive of a long search has the whole front.
#[test]
fn a_long_search_finds_the_whole_front() {
    let secs = |secs: u64| secs * 1_000_000;
    let table = |seed: u64| {
        let mut stream = Stream::new(seed, "test", "table");
        let rows = |stream: &mut Stream, most: u64| -> Vec<Vec<u64>> {
            (0..6).map(|_| (0..3).map(|_| secs(1 + stream.below(most))).collect()).collect()
        };
        let runs = rows(&mut stream, 50);
        let floats = |stream: &mut Stream| -> Vec<Vec<f64>> {
            rows(stream, 20).iter().map(|row| row.iter().map(|value| *value as f64 / 1e6).collect()).collect()
        };
        let (energy, over) = (floats(&mut stream), floats(&mut stream));
        Instance::of_table(TaskTable {
            processors: vec![1, 1, 1],
            free: vec![vec![0], vec![secs(stream.below(20))], vec![secs(stream.below(20))]],
            runs,
            energy,
            over,
            due: (0..6).map(|_| secs(10 + stream.below(60))).collect(),
            edges: vec![(0, 3, 1.0), (1, 4, 0.0)],
            latency: secs(2),
        })
    };
    for seed in 0..3 {
        let instance = table(seed);
        let mut scratch = instance.scratch();
        assert_eq!(instance.chromosomes(), 729);
        let all: Vec<[f64; OBJECTIVES]> = (0..3_u32.pow(6))
            .map(|number| (0..6).map(|gene| number / 3_u32.pow(gene) % 3).collect::<Vec<u32>>())
            .map(|chromosome| instance.decode(&chromosome, &mut scratch, |_, _, _| ()))
            .collect();
        let betters = |one: &[f64; OBJECTIVES], other: &[f64; OBJECTIVES]| {
            one != other && one.iter().zip(other).all(|(one, other)| one <= other)
        };
        let mut front: Vec<[f64; OBJECTIVES]> =
            all.iter().filter(|point| !all.iter().any(|other| betters(other, point))).copied().collect();
        front.sort_by(|a, b| a.partial_cmp(b).unwrap());
        front.dedup();
        let problem = Chromosomes { instance: &instance, points: 2 };
        let settings = Settings {
            population: 60,
            generations: 150,
            archive: ArchiveSize::Unbounded,
            seed,
            ..Settings::default()
        };
        let found = Search::new(&problem, Method::Nsga2, settings, &[]).unwrap().run().unwrap();
        let (every, evaluations) = exhaustive(&problem, instance.every()).unwrap();
        assert_eq!(evaluations, 729);
        for (how, archive) in [("search", found.archive.unwrap()), ("all", every)] {
            let mut points: Vec<[f64; OBJECTIVES]> =
                archive.iter().map(|(_, point)| point.try_into().unwrap()).collect();
            points.sort_by(|a, b| a.partial_cmp(b).unwrap());
            assert_eq!(points, front, "{how}, seed {seed}: {} of {}", points.len(), front.len());
        }
    }
}

#[test]
fn what_chose_is_told() {
    let told = |weights| Choice::Sum(weights).told().rule;
    let each = "each as a share of its reference";
    assert_eq!(told([1.0; 5]), format!("the least weighted sum of 5 objectives, {each}"));
    assert_eq!(
        told([2.0, 0.0, 0.0, 0.0, 0.5]),
        format!("the least weighted sum of 2 objectives (makespan 2, energy 0.5), {each}")
    );
    assert!(
        told([0.0, 0.0, 1.0, 0.0, 0.0])
            .starts_with("the least value of its only weighted objective (lateness 1)")
    );
    assert!(Choice::Knee.told().rule.starts_with("the knee"));
}

/// Plannings once a minute of at most ten tasks.
fn terms() -> Terms {
    Terms {
        interval: Span::from_secs(60),
        min_queued: 1,
        most: 10,
        points: 2,
        by: By::Nsga2,
        start: Start::Rules,
        choice: Choice::Sum([1.0; 5]),
        weights: [1.0; 5],
        on_change: true,
        on_arrival: true,
        next: Next::Due,
        per_gene: Span::ZERO,
    }
}

/// The front of a search has each point once, no point that another one dominates, and the chromosome of each; what it is chosen by is least in the first.
#[test]
fn the_front_of_a_search_is_one() {
    let instance = three();
    for choose in ["sum", "knee"] {
        let choice = if choose == "knee" { Choice::Knee } else { Choice::Sum([1.0; 5]) };
        let settings = Settings { population: 8, generations: 5, ..Settings::default() };
        let mojs = Mojs { terms: Terms { choice, ..terms() }, settings, seed: 3, kept: Kept::default() };
        let Chosen { chromosome, found, .. } = mojs.search(&instance);
        let points = found.front.points();
        assert!(points.len() > 1 && found.chromosomes.len() == points.len());
        assert_eq!(found.chromosomes[0], chromosome);
        for (at, (point, genes)) in points.iter().zip(&found.chromosomes).enumerate() {
            let decoded = instance.decode(genes, &mut instance.scratch(), |_, _, _| ());
            assert_eq!(point.objectives, decoded);
            assert!(points[0].value <= point.value);
            let betters = |other: &&crate::model::FrontPoint| {
                other.objectives.iter().zip(&point.objectives).all(|(other, own)| other <= own)
            };
            assert_eq!(
                points.iter().filter(betters).count(),
                1,
                "{choose}: only itself is no worse than {at}"
            );
        }
    }
}

/// The matrices of known makespans under each heuristic; on machines of one processor no order changes a makespan.
#[test]
fn the_mappers_make_their_known_makespans() {
    let table = |rows: &[[u64; 3]]| {
        let tasks = rows.len();
        Instance::of_table(TaskTable {
            processors: vec![1; 3],
            free: vec![vec![0]; 3],
            runs: rows.iter().map(|row| row.map(|secs| secs * 1_000_000).to_vec()).collect(),
            energy: vec![vec![1.0; 3]; tasks],
            over: vec![vec![0.0; 3]; tasks],
            due: vec![u64::MAX; tasks],
            edges: Vec::new(),
            latency: 0,
        })
    };
    let makespans = |rows: &[[u64; 3]]| {
        let instance = table(rows);
        Mapper::ALL.map(|mapper| {
            let chromosome = mapper.chromosome(&instance);
            instance.decode(&chromosome, &mut instance.scratch(), |_, _, _| ())[0]
        })
    };
    let a = [[13, 8, 17], [22, 15, 9], [4, 12, 7], [30, 21, 26], [11, 6, 18], [9, 19, 5]];
    assert_eq!(makespans(&a), [34.0, 27.0, 28.0]);
    let b = [[40, 20, 60], [30, 30, 30], [100, 10, 20], [15, 45, 25], [50, 50, 10]];
    assert_eq!(makespans(&b), [40.0, 35.0, 40.0]);
}

/// A mapper maps a task when what it waits for is mapped, and counts its data.
#[test]
fn the_mappers_know_what_waits() {
    let instance = three();
    // By task: the first ends in both pools at 10 s, and goes to the first; the second would be alone in the fast pool until 15 s. The third gets its data there at 18 s.
    let of_tasks = |chromosome: Vec<u32>| {
        let mut pools = [0; 3];
        instance.tasks().iter().zip(chromosome).for_each(|(task, pool)| pools[*task as usize] = pool);
        pools
    };
    assert_eq!(of_tasks(Mapper::MinMin.chromosome(&instance)), [0, 1, 1]);
}

#[test]
fn references_that_would_vanish_do_not() {
    use super::choice::reference;
    assert_eq!(reference([100.0, 0.001, 0.2, 0.5, 7.0], 3.0), [100.0, 100.0, 1.0, 3.0, 7.0]);
    assert_eq!(reference([100.0, 0.0, 4.0, 5.0, 0.0], 0.0), [100.0, 100.0, 4.0, 5.0, 1.0]);
}

/// What is too late to be told apart by its exponent is still later or less late.
#[test]
fn the_penalty_of_lateness_grows_for_ever() {
    let late = [0.5, 1.0, 50.0, 50.5, 400.0];
    let penalties = late.map(super::schedule::penalty);
    assert!((penalties[1] - (std::f64::consts::E - 1.0)).abs() < 1e-12);
    assert!(penalties.windows(2).all(|two| two[0] < two[1] && two[1].is_finite()));
}

#[test]
fn what_no_search_can_be_is_refused_by_name() {
    let built = |written: &str| {
        crate::broker::BrokerRegistry::standard()
            .build(&written.parse().unwrap(), 1)
            .map(|_| ())
            .map_err(|error| error.to_string())
    };
    built("mojs").unwrap();
    built("mojs[population=4,generations=1,interval=1 min,per_gene=1 us]").unwrap();
    for (written, says) in [
        ("mojs[population=1]", "population"),
        ("mojs[population=7]", "an even number"),
        ("mojs[makespan=0,idle=0,lateness=0,overspending=0,energy=0]", "as one of `makespan`"),
        ("mojs[interval=0 s]", "interval"),
        ("mojs[search=tabu]", "nsga2"),
        ("mojs[min_queued=0]", "min_queued"),
        ("mojs[choose=knee,energy=2]", "where a weight is given"),
        ("mojs[population=10,generations=100,interval=10 s,per_gene=11 ms]", "at most 0.01 s"),
    ] {
        let problem = built(written).unwrap_err();
        assert!(problem.contains(says), "{written}: {problem}");
    }
}

/// An idle pool of a site of its own.
fn pool(site: u32, processors: u32) -> Pool {
    Pool::unreported(PoolFacts {
        id: PoolId { site: SiteId(site), ..PoolId::default() },
        site: format!("site {site}"),
        partition: "default".to_owned(),
        processors,
        allocation_unit: 1,
        cores: 1,
        equipment: Equipment::default(),
        speed: Rate::FULL,
        groups: Vec::new(),
        idle: Power::ZERO,
        busy: Power::ZERO,
        pue_ppm: 1_000_000,
        rates: Rates::default(),
        latency: Span::ZERO,
        bandwidth: None,
    })
}

/// A job of so many processors for a minute, with this number at the portal.
fn numbered(number: u64, procs: u32) -> Box<Job> {
    let mut job = Job::rigid(number, Time::ZERO, procs, Span::from_secs(60));
    job.grid = Some(Box::new(GridContext { number, ..GridContext::default() }));
    Box::new(job)
}

/// The same job, due in this minute; from the fifth on it has no deadline, and comes last.
fn due(mut job: Box<Job>, minutes: u64) -> Box<Job> {
    let deadline = (minutes < 4).then(|| Time::from_secs(60 * (minutes + 1)));
    job.limits = Some(Box::new(Limits { deadline, ..Limits::default() }));
    job
}

/// A workflow: for each task its processors, and of the others those before it that it waits for.
fn workflows() -> impl Strategy<Value = Vec<(u32, Vec<bool>)>> {
    vec((1..9_u32, vec(proptest::bool::weighted(0.2), 30)), 0..30)
}

proptest! {
    #![proptest_config(cases(200))]

    /// As many tasks are planned as there is time for in an interval and `most` allows, at least one; and a planning of no more of them, to whichever pools they may go, is over before the next one.
    #[test]
    fn as_many_are_planned_as_there_is_time_for(
        (per_gene, half, generations) in (0..100_000_u64, 2..5_000_usize, 1..1_000_usize),
        more in 0..100_000_000_000_u64,
        (most, counts) in (1..600_usize, vec(1..7_u32, 1..20)),
        share in 0.0..=1.0,
    ) {
        let settings = Settings { population: 2 * half, generations, ..Settings::default() };
        // What one task takes is in the interval, or there is no such policy.
        let one = per_gene * settings.budget();
        let (interval, per_gene) = (Span::from_micros(one + more + 1), Span::from_micros(per_gene));
        let terms = Terms { interval, per_gene, most, ..terms() };
        let mojs = Mojs { terms, settings, seed: 1, kept: Kept::default() };
        let at_most = mojs.most();
        prop_assert!((1..=most).contains(&at_most));
        prop_assert!(at_most == most || one * (at_most as u64 + 1) > interval.micros());
        let genes = (at_most as f64 * share) as usize;
        let choices: Vec<Vec<u32>> =
            (0..genes).map(|gene| (0..counts[gene % counts.len()]).collect()).collect();
        let takes = mojs.takes(&choices);
        prop_assert!(takes <= interval, "{genes} tasks take {takes} s of {interval} s");
        // It evaluates what there is, if that is less.
        let all = choices.iter().try_fold(1_u128, |all, pools| all.checked_mul(pools.len() as u128));
        let evaluations = all.unwrap_or(u128::MAX).min(settings.budget().into());
        prop_assert_eq!(u128::from(takes.micros()), u128::from(per_gene.micros()) * evaluations * genes as u128);
    }
}

proptest! {
    #![proptest_config(cases(40))]

    /// The same where most tasks are of a workflow, which is looked at as a whole. What is planned of it waits for nothing that is not, and starts when the planning is over and what it waits for has ended.
    #[test]
    fn a_planning_of_a_workflow_fits_into_its_interval(
        workflow in workflows(),
        alone in vec(1..9_u32, 0..10),
        dues in vec(0..5_u64, 40),
        pools in vec(1..9_u32, 1..4),
        (half, generations, most) in (2..5_usize, 1..4_usize, 1..40_usize),
        (per_gene, more) in (1..1_000_u64, 0..100_000_u64),
    ) {
        let tasks = workflow.len();
        let pairs = (0..tasks).flat_map(|at| (0..at).map(move |before| (before, at)));
        let edges: Vec<(usize, usize)> = pairs.filter(|(before, at)| workflow[*at].1[*before]).collect();
        let sends = edges.iter().map(|(from, to)| (*from, *to, Bytes::new(1)));
        let live = LiveWorkflow::new(TaskId(0), Dag::new(tasks, sends).expect("no cycle"), vec![0; tasks]);
        let mut table = Tasks::new(pools.len());
        for (at, (procs, _)) in workflow.iter().enumerate() {
            let (job, missing) = (due(numbered(at as u64, *procs), dues[at]), edges.iter().filter(|(_, to)| *to == at).count() as u32);
            if missing == 0 { table.enter(job, Vec::new()) } else { table.block(job, missing, Vec::new()) }
        }
        let numbers = tasks as u64..;
        let entered = numbers.zip(&alone).zip(&dues[tasks..]);
        entered.for_each(|((number, procs), at)| table.enter(due(numbered(number, *procs), *at), Vec::new()));
        // One after the other, of all that could be next the one that is due first.
        let most_procs = pools.iter().copied().max().unwrap_or(0);
        let procs: Vec<u32> = workflow.iter().map(|(procs, _)| *procs).chain(alone.iter().copied()).collect();
        let mut expected = Vec::new();
        let is_next = |task: &usize, chosen: &[usize]| {
            let mut before = edges.iter().filter(|(_, to)| to == task).map(|(from, _)| from);
            procs[*task] <= most_procs && !chosen.contains(task) && before.all(|from| chosen.contains(from))
        };
        while expected.len() < most
            && let Some(next) = (0..procs.len())
                .filter(|task| is_next(task, &expected))
                .min_by_key(|task| (dues[*task], *task))
        {
            expected.push(next);
        }
        let settings = Settings { population: 2 * half, generations, distinct: true, ..Settings::default() };
        let interval = Span::from_micros(per_gene * settings.budget() + more);
        let per_gene = Span::from_micros(per_gene);
        let terms = Terms { interval, per_gene, most, min_queued: 1_000, ..terms() };
        let mut mojs = Mojs { terms, settings, seed: 1, kept: Kept::default() };
        let mut pools: Vec<Pool> = (0..).zip(pools).map(|(site, procs)| pool(site, procs)).collect();
        let links = Links::uniform(pools.len(), Span::from_secs(1), None);
        let now = Time::from_secs(10);
        let mut view = GridView::new(now, &mut pools, &table, Asked::All, true)
            .showing(if tasks > 0 { vec![&live] } else { Vec::new() }, &links, true);
        let answer = mojs.plan(&mut view);
        let Some(front) = view.take_front() else {
            prop_assert!(matches!(answer, Answer::Done(plan) if plan.is_empty()));
            return Ok(());
        };
        let Answer::Later { at, takes, plan } = answer else { return Err(TestCaseError::fail("no later")) };
        prop_assert!(takes <= interval && at > now + takes);
        prop_assert_eq!(takes.micros(), per_gene.micros() * front.tasks * front.evaluations);
        prop_assert_eq!(front.tasks, plan.len() as u64);
        expected.truncate(mojs.most());
        expected.sort_unstable();
        let mut planned: Vec<usize> = plan.iter().map(|decision| decision.task.0 as usize).collect();
        planned.sort_unstable();
        prop_assert_eq!(planned, expected);
        let of = |task: usize| plan.iter().find(|decision| decision.task == TaskId(task as u64));
        prop_assert!(plan.iter().all(|decision| decision.start >= now + takes));
        for (from, to) in edges {
            let Some(after) = of(to) else { continue };
            let before = of(from).map(|before| before.end);
            prop_assert!(before.is_some_and(|end| end <= after.start), "{from} before {to}");
        }
    }
}
