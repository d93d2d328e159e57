//! A search, generation by generation.

use rayon::prelude::*;

use super::method::Survivor;
use super::{Archive, Method, Points, Population, Problem, SearchError, Settings};
use crate::workload::random::Stream;

/// A search under way.
///
/// Children come in pairs. All that is random about a pair (who of two equal rivals is chosen, crossover, mutation) is drawn from the
/// stream of its generation and of the number of its first child; who meets whom in the tournaments from the stream of the generation. So
/// neither threads nor other children shift it.
#[derive(Debug)]
pub struct Search<'a, P: Problem> {
    problem: &'a P,
    method: Method,
    settings: Settings,
    /// The individuals: `population` parents, and behind them as many places for children.
    all: Population<P::Genome>,
    /// What is known of the parents, in their order.
    parents: Vec<Survivor>,
    archive: Option<Archive<P::Genome>>,
    /// Working memory, one for each part that may be evaluated beside others.
    scratches: Vec<P::Scratch>,
    generation: usize,
}

/// What a search found.
#[derive(Clone, Debug, PartialEq)]
pub struct Found<G> {
    /// The last population. Some of it may be dominated, or violate constraints: [`Population::best`] says which are not.
    pub population: Population<G>,
    /// The points that satisfy all constraints and that no other point found dominates; `None` if the settings asked for no archive.
    pub archive: Option<Archive<G>>,
    /// The number of evaluations.
    pub evaluations: u64,
}

/// A part of a generation: genomes that are made and evaluated one after the other, and where their values go.
struct Part<'a, P: Problem> {
    /// The number of the first.
    first: usize,
    genomes: &'a mut [P::Genome],
    values: &'a mut [f64],
    violations: &'a mut [f64],
    scratch: &'a mut P::Scratch,
}

/// Parts for each thread, so that one is not waited for long.
const PARTS: usize = 4;

impl<'a, P: Problem> Search<'a, P> {
    /// A search that has evaluated its first generation: the genomes of `first`, and random ones.
    ///
    /// # Errors
    ///
    /// There are no objectives, the method is for another number of them, the settings are impossible (the population is odd or none, no
    /// generation, a probability outside [0, 1], an archive of nothing), `first` is more than the population, or an evaluation gives what is no
    /// finite number.
    pub fn new(
        problem: &'a P,
        method: Method,
        settings: Settings,
        first: &[P::Genome],
    ) -> Result<Self, SearchError> {
        let objectives = problem.objectives();
        if objectives == 0 {
            return Err(SearchError::NoObjectives);
        }
        settings.check()?;
        method.check(objectives)?;
        let population = settings.population;
        if first.len() > population {
            return Err(SearchError::First { given: first.len(), population });
        }
        let archive = Archive::of_size(settings.archive, objectives)?;
        let parts =
            if settings.parallel { (PARTS * rayon::current_num_threads()).min(population / 2) } else { 1 };
        let mut genomes = first.to_vec();
        genomes
            .extend((first.len()..population).map(|child| problem.random(&mut stream(&settings, 0, child))));
        let all = Population {
            genomes,
            values: vec![0.0; 2 * population * objectives],
            violations: vec![0.0; 2 * population],
            objectives,
        };
        let scratches = (0..parts).map(|_| problem.scratch()).collect();
        let mut search =
            Self { problem, method, settings, all, parents: Vec::new(), archive, scratches, generation: 0 };
        search.begin()?;
        Ok(search)
    }

    /// Evaluates the first generation.
    fn begin(&mut self) -> Result<(), SearchError> {
        let (population, objectives) = (self.settings.population, self.all.objectives);
        let (values, violations) = (&mut self.all.values[..], &mut self.all.violations[..]);
        let parts = parts(
            &mut self.all.genomes,
            &mut values[..population * objectives],
            &mut violations[..population],
            &mut self.scratches,
        );
        let problem = self.problem;
        each(self.settings.parallel, parts, |part| part.evaluate(problem));
        self.take(0..population)?;
        let points = Points::checked(&self.all.values[..population * objectives], objectives);
        let survivors = self.method.survivors(
            points,
            &self.all.violations[..population],
            population,
            self.settings.distinct,
        );
        // The places of children; what is in them is overwritten.
        self.all.genomes.extend_from_within(..);
        self.settle(survivors);
        Ok(())
    }

    /// The number of generations so far.
    pub fn generations(&self) -> usize {
        self.generation
    }

    /// The number of evaluations so far.
    pub fn evaluations(&self) -> u64 {
        self.generation as u64 * self.settings.population as u64
    }

    /// The objectives of the population.
    pub fn points(&self) -> Points<'_> {
        let objectives = self.all.objectives;
        Points::checked(&self.all.values[..self.settings.population * objectives], objectives)
    }

    /// The archive so far; `None` if the settings asked for none.
    pub fn archive(&self) -> Option<&Archive<P::Genome>> {
        self.archive.as_ref()
    }

    /// Carries out one more generation, unless there have been as many as the settings say; says whether there was one.
    ///
    /// # Errors
    ///
    /// An evaluation gives what is no finite number. The search is of no use then.
    pub fn step(&mut self) -> Result<bool, SearchError> {
        if self.generation >= self.settings.generations {
            return Ok(false);
        }
        let (population, objectives) = (self.settings.population, self.all.objectives);
        let rivals = self.rivals();
        let (parents, children) = self.all.genomes.split_at_mut(population);
        let maker = Maker {
            problem: self.problem,
            settings: &self.settings,
            is_random: self.method == Method::Random,
            generation: self.generation,
            parents,
            standings: &self.parents,
            rivals: &rivals,
        };
        let values = &mut self.all.values[population * objectives..];
        let parts = parts(children, values, &mut self.all.violations[population..], &mut self.scratches);
        each(self.settings.parallel, parts, |part| {
            maker.make(part);
            part.evaluate(maker.problem);
        });
        self.take(population..2 * population)?;
        let survivors = self.method.survivors(
            self.all.points(),
            &self.all.violations,
            population,
            self.settings.distinct,
        );
        self.settle(survivors);
        Ok(true)
    }

    /// Carries out all generations that are left, and gives what was found.
    ///
    /// # Errors
    ///
    /// Those of [`Search::step`].
    pub fn run(self) -> Result<Found<P::Genome>, SearchError> {
        let all = |mut search: Self| {
            while search.step()? {}
            Ok(search.finish())
        };
        // A thread of the pool goes through all generations: one outside would be put to sleep and woken for each.
        if self.settings.parallel { rayon::scope(|_| all(self)) } else { all(self) }
    }

    /// What was found so far.
    pub fn finish(self) -> Found<P::Genome> {
        let evaluations = self.evaluations();
        let (mut population, most) = (self.all, self.settings.population);
        population.genomes.truncate(most);
        population.values.truncate(most * population.objectives);
        population.violations.truncate(most);
        Found { population, archive: self.archive, evaluations }
    }

    /// Who meets whom in the tournaments of this generation: four parents for each pair of children, two for either parent of it. As in
    /// Deb's program, each individual is in two tournaments.
    fn rivals(&self) -> Vec<usize> {
        if self.method == Method::Random {
            return Vec::new();
        }
        let mut stream =
            Stream::new(self.settings.seed, "search", &format!("tournaments of {}", self.generation));
        let mut rivals = Vec::with_capacity(2 * self.settings.population);
        for _ in 0..2 {
            let begin = rivals.len();
            rivals.extend(0..self.settings.population);
            stream.shuffle(&mut rivals[begin..]);
        }
        rivals
    }

    /// Checks what was evaluated, the first child first, and offers it to the archive.
    fn take(&mut self, range: std::ops::Range<usize>) -> Result<(), SearchError> {
        let (objectives, generation) = (self.all.objectives, self.generation);
        let values = &self.all.values[range.start * objectives..range.end * objectives];
        if let Some(at) = values.iter().position(|value| !value.is_finite()) {
            let (child, objective) = (at / objectives, at % objectives);
            return Err(SearchError::Evaluated { generation, child, objective, value: values[at] });
        }
        let violations = &self.all.violations[range.clone()];
        if let Some(point) = violations.iter().position(|value| !(value.is_finite() && *value >= 0.0)) {
            return Err(SearchError::Violation { point, value: violations[point] });
        }
        if let Some(archive) = &mut self.archive {
            archive.extend(&self.all.genomes[range], Points::checked(values, objectives), violations);
        }
        self.generation += 1;
        Ok(())
    }

    /// Brings the survivors to the front, where parents are, in their order.
    fn settle(&mut self, mut survivors: Vec<Survivor>) {
        let objectives = self.all.objectives;
        // Where each individual is, and who is at each place.
        let mut places: Vec<usize> = (0..self.all.genomes.len()).collect();
        let mut holders = places.clone();
        for (to, survivor) in survivors.iter_mut().enumerate() {
            let from = places[survivor.index];
            if from != to {
                self.all.genomes.swap(to, from);
                self.all.violations.swap(to, from);
                for objective in 0..objectives {
                    self.all.values.swap(to * objectives + objective, from * objectives + objective);
                }
                let displaced = holders[to];
                holders.swap(to, from);
                (places[survivor.index], places[displaced]) = (to, from);
            }
            survivor.index = to;
        }
        self.parents = survivors;
    }
}

/// The stream of a child, or of the pair whose first child it is.
fn stream(settings: &Settings, generation: usize, child: usize) -> Stream {
    Stream::new(settings.seed, "search", &format!("child {child} of {generation}"))
}

/// Splits a generation into as many parts as there are scratches, each of whole pairs.
fn parts<'a, P: Problem>(
    genomes: &'a mut [P::Genome],
    values: &'a mut [f64],
    violations: &'a mut [f64],
    scratches: &'a mut [P::Scratch],
) -> Vec<Part<'a, P>> {
    let objectives = values.len() / violations.len();
    let size = 2 * (genomes.len() / 2).div_ceil(scratches.len());
    let rest = values.chunks_mut(size * objectives).zip(violations.chunks_mut(size)).zip(scratches);
    let parts = genomes.chunks_mut(size).zip(rest).enumerate();
    let part = |(at, (genomes, ((values, violations), scratch)))| Part {
        first: at * size,
        genomes,
        values,
        violations,
        scratch,
    };
    parts.map(part).collect()
}

/// Does the work of each part, on the threads of the pool if asked to.
fn each<P: Problem>(
    parallel: bool,
    mut parts: Vec<Part<'_, P>>,
    work: impl Fn(&mut Part<'_, P>) + Sync + Send,
) {
    if parallel { parts.par_iter_mut().for_each(work) } else { parts.iter_mut().for_each(work) }
}

impl<P: Problem> Part<'_, P> {
    /// Evaluates the genomes.
    fn evaluate(&mut self, problem: &P) {
        let objectives = self.values.len() / self.violations.len();
        let values = self.values.chunks_exact_mut(objectives);
        for ((genome, values), violation) in self.genomes.iter().zip(values).zip(&mut *self.violations) {
            *violation = problem.evaluate(genome, self.scratch, values);
        }
    }
}

/// What makes the children of a generation.
struct Maker<'a, P: Problem> {
    problem: &'a P,
    settings: &'a Settings,
    is_random: bool,
    generation: usize,
    parents: &'a [P::Genome],
    standings: &'a [Survivor],
    /// Those who meet in tournaments, four for each pair of children.
    rivals: &'a [usize],
}

impl<P: Problem> Maker<'_, P> {
    /// Makes the children of a part.
    fn make(&self, part: &mut Part<'_, P>) {
        for (at, pair) in part.genomes.chunks_exact_mut(2).enumerate() {
            let child = part.first + 2 * at;
            let [one, other] = pair else { continue };
            if self.is_random {
                *one = self.problem.random(&mut stream(self.settings, self.generation, child));
                *other = self.problem.random(&mut stream(self.settings, self.generation, child + 1));
            } else {
                self.make_pair(child, one, other);
            }
        }
    }

    fn make_pair(&self, child: usize, one: &mut P::Genome, other: &mut P::Genome) {
        let mut stream = stream(self.settings, self.generation, child);
        let rivals = &self.rivals[2 * child..2 * child + 4];
        one.clone_from(&self.parents[self.winner(rivals[0], rivals[1], &mut stream)]);
        other.clone_from(&self.parents[self.winner(rivals[2], rivals[3], &mut stream)]);
        if stream.uniform() < self.settings.crossover {
            self.problem.cross(one, other, &mut stream);
        }
        for genome in [one, other] {
            if stream.uniform() < self.settings.mutation {
                self.problem.mutate(genome, &mut stream);
            }
        }
    }

    /// The better one of two parents.
    fn winner(&self, a: usize, b: usize, stream: &mut Stream) -> usize {
        let (one, other) = (&self.standings[a], &self.standings[b]);
        let order = one.rank.cmp(&other.rank).then_with(|| other.crowding.total_cmp(&one.crowding));
        match order {
            std::cmp::Ordering::Less => a,
            std::cmp::Ordering::Greater => b,
            std::cmp::Ordering::Equal => [a, b][stream.below(2) as usize],
        }
    }
}
