//! The settings of a search.

use super::{ArchiveSize, SearchError};

/// How long and how a problem is searched. The default is what the literature uses for NSGA-II: 100 individuals, 250 generations, crossover
/// with probability 0.9.
#[derive(Copy, Clone, Debug, PartialEq)]
pub struct Settings {
    /// The number of individuals, even.
    pub population: usize,
    /// The number of generations of `population` evaluations each. The first is the random one.
    pub generations: usize,
    /// The probability that two parents are crossed; otherwise the children are copies of them.
    pub crossover: f64,
    /// The probability that a child is mutated. Where the operator itself decides gene by gene, it is 1.
    pub mutation: f64,
    /// The seed of all that is random.
    pub seed: u64,
    /// How many points to keep beside the population. An archive costs a comparison with each point kept for each evaluation, less if there
    /// are two objectives.
    pub archive: ArchiveSize,
    /// Whether of individuals with equal objectives only the first takes part, and the others survive only where places are left. Deb's
    /// NSGA-II has no such rule. A problem of few distinct points, such as a mapping of few tasks, needs it: otherwise copies of its front
    /// fill the population, and nothing else is left to cross.
    pub distinct: bool,
    /// Whether evaluations run on the threads of the `rayon` pool that the caller is in. The result is the same.
    pub parallel: bool,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            population: 100,
            generations: 250,
            crossover: 0.9,
            mutation: 1.0,
            seed: 0,
            archive: ArchiveSize::None,
            distinct: false,
            parallel: false,
        }
    }
}

impl Settings {
    /// The largest population: sorting takes time with its square.
    pub const MOST_POPULATION: usize = 100_000;

    /// The number of evaluations that a whole search takes.
    pub const fn budget(&self) -> u64 {
        (self.population as u64).saturating_mul(self.generations as u64)
    }

    /// Fails if there cannot be such a search.
    pub(super) fn check(&self) -> Result<(), SearchError> {
        if !self.population.is_multiple_of(2) || !(2..=Self::MOST_POPULATION).contains(&self.population) {
            return Err(SearchError::Population(self.population));
        }
        if self.generations == 0 {
            return Err(SearchError::Generations);
        }
        for (of, value) in [("crossover", self.crossover), ("mutation", self.mutation)] {
            if !(0.0..=1.0).contains(&value) {
                return Err(SearchError::Probability { of, value });
            }
        }
        Ok(())
    }
}
