//! Genomes that have been evaluated.

use super::Points;
use super::dominance::checked_fronts;

/// Genomes with their objectives and violations of constraints.
#[derive(Clone, Debug, PartialEq)]
pub struct Population<G> {
    pub(super) genomes: Vec<G>,
    pub(super) values: Vec<f64>,
    pub(super) violations: Vec<f64>,
    pub(super) objectives: usize,
}

impl<G> Population<G> {
    /// The number of individuals.
    pub fn len(&self) -> usize {
        self.genomes.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.genomes.is_empty()
    }

    /// The genomes.
    pub fn genomes(&self) -> &[G] {
        &self.genomes
    }

    /// The objectives of each genome.
    pub fn points(&self) -> Points<'_> {
        Points::checked(&self.values, self.objectives)
    }

    /// The total violation of constraints of each genome; 0 if it satisfies all.
    pub fn violations(&self) -> &[f64] {
        &self.violations
    }

    /// The indices of those that no other dominates, by [`constrained_dominates`](super::constrained_dominates), ascending.
    pub fn best(&self) -> Vec<usize> {
        checked_fronts(self.points(), &self.violations).into_iter().next().unwrap_or_default()
    }
}
