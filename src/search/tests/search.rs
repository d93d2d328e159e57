//! NSGA-II itself: the same on any number of threads, elitist, and right where the front is known.

use std::sync::Mutex;

use super::problems::known;
use crate::search::dominance::lexicographic;
use crate::search::{
    Archive, ArchiveSize, Method, Problem, Search, Settings, WeightedSum, dominates, fronts, hypervolume,
};
use crate::workload::random::Stream;

/// Tasks are mapped to machines: the makespan, and the cost of the busy time. Machines have different speeds and prices, and may hold
/// so many tasks only, if there is a limit. All values are integers, so that no order of sums matters.
pub(super) struct Mapping {
    pub(super) tasks: usize,
    pub(super) most: usize,
}

const SPEEDS: [f64; 3] = [1.0, 2.0, 4.0];
const PRICES: [f64; 3] = [1.0, 3.0, 7.0];

impl Mapping {
    pub(super) fn values(&self, genome: &[u8]) -> ([f64; 2], f64) {
        let (mut busy, mut held) = ([0.0; 3], [0_usize; 3]);
        for (task, machine) in genome.iter().enumerate() {
            let machine = usize::from(*machine);
            busy[machine] += (60 + 22 * task) as f64 / SPEEDS[machine];
            held[machine] += 1;
        }
        let makespan = busy.iter().copied().fold(0.0, f64::max);
        let cost = busy.iter().zip(PRICES).map(|(busy, price)| busy * price).sum();
        let violation: usize = held.iter().map(|held| held.saturating_sub(self.most)).sum();
        ([makespan, cost], violation as f64)
    }

    /// All mappings that hold no more than they may, and that no other such mapping dominates: their objectives, and all of
    /// theirs that are different, in lexicographic order.
    pub(super) fn exhaustive(&self) -> Archive<Vec<u8>> {
        let mut archive = Archive::unbounded(2).unwrap();
        for mut number in 0..3_usize.pow(self.tasks as u32) {
            let genome: Vec<u8> = (0..self.tasks)
                .map(|_| {
                    let machine = number % 3;
                    number /= 3;
                    machine as u8
                })
                .collect();
            let (point, violation) = self.values(&genome);
            if violation == 0.0 {
                archive.insert(&genome, &point).unwrap();
            }
        }
        archive
    }
}

impl Problem for Mapping {
    type Genome = Vec<u8>;
    type Scratch = ();

    fn objectives(&self) -> usize {
        2
    }

    fn scratch(&self) {}

    fn random(&self, stream: &mut Stream) -> Vec<u8> {
        (0..self.tasks).map(|_| stream.below(3) as u8).collect()
    }

    fn cross(&self, one: &mut Vec<u8>, other: &mut Vec<u8>, stream: &mut Stream) {
        for (a, b) in one.iter_mut().zip(other) {
            if stream.below(2) == 0 {
                std::mem::swap(a, b);
            }
        }
    }

    fn mutate(&self, genome: &mut Vec<u8>, stream: &mut Stream) {
        let at = stream.below(self.tasks as u64) as usize;
        genome[at] = stream.below(3) as u8;
    }

    fn evaluate(&self, genome: &Vec<u8>, (): &mut (), objectives: &mut [f64]) -> f64 {
        let (point, violation) = self.values(genome);
        objectives.copy_from_slice(&point);
        violation
    }
}

const SMALL: Settings = Settings {
    population: 40,
    generations: 40,
    crossover: 0.9,
    mutation: 0.8,
    seed: 3,
    archive: ArchiveSize::Unbounded,
    distinct: false,
    parallel: false,
};

fn controls() -> [Method; 3] {
    let sum = WeightedSum::new(&[1.0, 2.0], &[(0.0, 10.0), (0.0, 50.0)]).unwrap();
    [Method::Nsga2, Method::WeightedSum(sum), Method::Random]
}

#[test]
fn any_number_of_threads_gives_the_same() {
    let mapping = Mapping { tasks: 12, most: 5 };
    for method in controls() {
        let alone = Search::new(&mapping, method.clone(), SMALL, &[]).unwrap().run().unwrap();
        for threads in [1, 2, 3, 8] {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            let settings = Settings { parallel: true, ..SMALL };
            let beside =
                pool.install(|| Search::new(&mapping, method.clone(), settings, &[]).unwrap().run().unwrap());
            assert_eq!(beside, alone, "{threads} threads");
        }
        let other = Search::new(&mapping, method, Settings { seed: 4, ..SMALL }, &[]).unwrap().run().unwrap();
        assert_ne!(other.population, alone.population);
    }
}

/// Populations that are no multiple of four, or smaller than the parts for all threads.
#[test]
fn small_populations_are_the_same_on_threads_too() {
    let mapping = Mapping { tasks: 6, most: 6 };
    let pool = rayon::ThreadPoolBuilder::new().num_threads(4).build().unwrap();
    for population in [2, 4, 6, 10, 34] {
        let settings = Settings { population, generations: 5, ..SMALL };
        let alone = Search::new(&mapping, Method::Nsga2, settings, &[]).unwrap().run().unwrap();
        let beside = Settings { parallel: true, ..settings };
        assert_eq!(
            pool.install(|| Search::new(&mapping, Method::Nsga2, beside, &[]).unwrap().run().unwrap()),
            alone
        );
        assert_eq!((alone.population.len(), alone.evaluations), (population, 5 * population as u64));
    }
}

/// What an exhaustive search finds of 3^6 mappings, with a limit to what machines hold and without.
#[test]
fn the_archive_has_the_whole_front_of_a_small_problem() {
    for most in [3, 6] {
        let mapping = Mapping { tasks: 6, most };
        let exact = mapping.exhaustive();
        assert!(exact.len() > 5);
        let settings = Settings { population: 100, generations: 80, distinct: true, ..SMALL };
        let found = Search::new(&mapping, Method::Nsga2, settings, &[]).unwrap().run().unwrap();
        let archive = found.archive.unwrap();
        assert_eq!(archive.points(), exact.points());
        assert!(archive.iter().all(|(genome, point)| mapping.values(genome).0 == point));
        // The population itself has the extremes.
        let points: Vec<&[f64]> = found.population.points().iter().collect();
        assert!(points.contains(&exact.points().get(0).unwrap()));
        assert!(points.contains(&exact.points().get(exact.len() - 1).unwrap()));
    }
}

/// Where there are few distinct points, copies of the front fill the population unless they are told apart: less of it is found then.
#[test]
fn distinct_individuals_find_more_of_a_small_front() {
    let mapping = Mapping { tasks: 6, most: 3 };
    let exact = mapping.exhaustive();
    let found = |distinct: bool| -> usize {
        let of_seed = |seed: u64| {
            let settings = Settings { population: 100, generations: 20, distinct, seed, ..SMALL };
            let found = Search::new(&mapping, Method::Nsga2, settings, &[]).unwrap().run().unwrap();
            if distinct {
                let mut points: Vec<&[f64]> = found.population.points().iter().collect();
                points.sort_by(|a, b| lexicographic(a, b));
                assert!(points.windows(2).all(|two| two[0] != two[1]));
            }
            let archive = found.archive.unwrap();
            exact.points().iter().filter(|point| archive.points().iter().any(|other| other == *point)).count()
        };
        (0..8).map(of_seed).sum()
    };
    let (with, without) = (found(true), found(false));
    assert!(with > without, "{with} and {without} of {}", 8 * exact.len());
}

/// A problem whose evaluations are written down.
struct Watched<'a>(&'a Mapping, Mutex<Vec<(Vec<f64>, f64)>>);

impl Problem for Watched<'_> {
    type Genome = Vec<u8>;
    type Scratch = ();

    fn objectives(&self) -> usize {
        2
    }

    fn scratch(&self) {}

    fn random(&self, stream: &mut Stream) -> Vec<u8> {
        self.0.random(stream)
    }

    fn cross(&self, one: &mut Vec<u8>, other: &mut Vec<u8>, stream: &mut Stream) {
        self.0.cross(one, other, stream);
    }

    fn mutate(&self, genome: &mut Vec<u8>, stream: &mut Stream) {
        self.0.mutate(genome, stream);
    }

    fn evaluate(&self, genome: &Vec<u8>, (): &mut (), objectives: &mut [f64]) -> f64 {
        let violation = self.0.evaluate(genome, &mut (), objectives);
        self.1.lock().unwrap().push((objectives.to_vec(), violation));
        violation
    }
}

/// The budget is what was spent, the archive is the filter of all that was evaluated, and no survivor is worse than what has gone.
#[test]
fn what_is_kept_is_the_best_of_what_was_evaluated() {
    let mapping = Mapping { tasks: 10, most: 4 };
    for method in controls() {
        let watched = Watched(&mapping, Mutex::default());
        let found = Search::new(&watched, method, SMALL, &[]).unwrap().run().unwrap();
        let seen = watched.1.into_inner().unwrap();
        assert_eq!((found.evaluations, SMALL.budget()), (seen.len() as u64, seen.len() as u64));
        let feasible: Vec<f64> = seen
            .iter()
            .filter(|(_, violation)| *violation == 0.0)
            .flat_map(|(point, _)| point.clone())
            .collect();
        let all = super::points(&feasible, 2);
        let mut best: Vec<&[f64]> =
            fronts(all, &[]).unwrap()[0].iter().map(|at| all.get(*at).unwrap()).collect();
        best.sort_by(|a, b| lexicographic(a, b));
        best.dedup();
        let archive = found.archive.unwrap();
        assert_eq!(archive.points().iter().collect::<Vec<_>>(), best);
        // Values belong to their genomes, in spite of all the moving.
        let population = &found.population;
        for ((genome, point), violation) in
            population.genomes().iter().zip(population.points().iter()).zip(population.violations())
        {
            assert_eq!((&mapping.values(genome).0[..], mapping.values(genome).1), (point, *violation));
        }
    }
}

/// No child of a later generation repeats the draws of the child of its number before.
#[test]
fn each_generation_draws_anew() {
    let mapping = Mapping { tasks: 30, most: 30 };
    let watched = Watched(&mapping, Mutex::default());
    Search::new(&watched, Method::Random, SMALL, &[]).unwrap().run().unwrap();
    let mut seen: Vec<Vec<f64>> =
        watched.1.into_inner().unwrap().into_iter().map(|(point, _)| point).collect();
    seen.sort_by(|a, b| lexicographic(a, b));
    seen.dedup();
    assert!(seen.len() > 1_500, "{} of 1600", seen.len());
}

/// With an archive beside it, the hypervolume of all that was found never falls; nor does the best value of each objective.
#[test]
fn no_generation_loses_an_extreme() {
    let known = known("ZDT1");
    let settings = Settings { generations: 30, archive: ArchiveSize::Unbounded, ..Settings::default() };
    let mut search = Search::new(&known.problem, Method::Nsga2, settings, &[]).unwrap();
    let mut before: Option<(f64, [f64; 2])> = None;
    loop {
        let least = |objective: usize| {
            search.points().iter().map(|point| point[objective]).fold(f64::INFINITY, f64::min)
        };
        let volume = hypervolume(search.archive().unwrap().points(), &[1.1, 10.0]).unwrap();
        let now = (volume, [least(0), least(1)]);
        if let Some((volume, least)) = before {
            assert!(now.0 >= volume - 1e-12 && now.1[0] <= least[0] && now.1[1] <= least[1]);
        }
        before = Some(now);
        if !search.step().unwrap() {
            break;
        }
    }
    assert_eq!((search.generations(), search.evaluations()), (30, 3_000));
}

/// Genomes given beforehand are in the first population, and what they reach is never lost.
#[test]
fn given_genomes_are_where_a_search_begins() {
    let mapping = Mapping { tasks: 30, most: 30 };
    // All on the cheapest machine: no random search finds it.
    let cheapest = vec![0; 30];
    let cost = mapping.values(&cheapest).0[1];
    for (method, keeps) in controls().into_iter().zip([true, false, true]) {
        let first = Search::new(
            &mapping,
            method.clone(),
            Settings { generations: 1, ..SMALL },
            std::slice::from_ref(&cheapest),
        )
        .unwrap();
        assert!(first.points().iter().any(|point| point[1] == cost));
        let found = first.run().unwrap();
        assert_eq!(found.evaluations, 40);
        let found = Search::new(&mapping, method.clone(), SMALL, std::slice::from_ref(&cheapest))
            .unwrap()
            .run()
            .unwrap();
        assert!(found.archive.unwrap().points().iter().any(|point| point[1] == cost));
        assert!(!keeps || found.population.points().iter().any(|point| point[1] == cost));
        let without = Search::new(&mapping, Method::Random, SMALL, &[]).unwrap().run().unwrap();
        assert!(without.archive.unwrap().points().iter().all(|point| point[1] > cost));
    }
}

/// Where few genomes satisfy the constraints, the population gets there.
#[test]
fn constraints_are_met() {
    let mapping = Mapping { tasks: 30, most: 10 };
    let found = Search::new(&mapping, Method::Nsga2, SMALL, &[]).unwrap().run().unwrap();
    assert!(found.population.violations().iter().all(|violation| *violation == 0.0));
    // They cannot be met: the smallest violation is what is looked for, and the archive stays empty.
    let tight = Mapping { tasks: 30, most: 5 };
    let found = Search::new(&tight, Method::Nsga2, SMALL, &[]).unwrap().run().unwrap();
    assert!(found.archive.unwrap().is_empty());
    assert!(found.population.violations().iter().all(|violation| *violation == 15.0));
    assert_eq!(found.population.best().len(), 40);
}

#[test]
fn a_bounded_archive_holds_no_more() {
    let known = known("DTLZ2");
    let settings = Settings { generations: 10, archive: ArchiveSize::Bounded(50), ..Settings::default() };
    let archive =
        Search::new(&known.problem, Method::Nsga2, settings, &[]).unwrap().run().unwrap().archive.unwrap();
    assert_eq!(archive.len(), 50);
    let points: Vec<&[f64]> = archive.points().iter().collect();
    assert!(points.iter().all(|one| !points.iter().any(|other| dominates(other, one))));
}
