//! Search of all there is.

use super::{Archive, Points, Problem, SearchError};

/// So many genomes are evaluated before what they leave goes to the archive.
const BLOCK: usize = 256;

/// Evaluates each of `genomes`, for instance all that a small problem has, and returns those that satisfy all constraints and that no other
/// dominates, with the number of evaluations. Of genomes with equal objectives the first is kept.
///
/// # Errors
///
/// The problem has no objectives, or an evaluation gives what is no finite number.
pub fn exhaustive<P: Problem>(
    problem: &P,
    genomes: impl IntoIterator<Item = P::Genome>,
) -> Result<(Archive<P::Genome>, u64), SearchError> {
    let objectives = problem.objectives();
    let mut archive = Archive::unbounded(objectives)?;
    let mut scratch = problem.scratch();
    let mut genomes = genomes.into_iter();
    let (mut block, mut evaluations) = (Vec::with_capacity(BLOCK), 0);
    let (mut values, mut violations) = (vec![0.0; BLOCK * objectives], vec![0.0; BLOCK]);
    loop {
        block.clear();
        block.extend(genomes.by_ref().take(BLOCK));
        if block.is_empty() {
            return Ok((archive, evaluations));
        }
        evaluations += block.len() as u64;
        let rows = values.chunks_exact_mut(objectives).zip(&mut violations);
        for (genome, (values, violation)) in block.iter().zip(rows) {
            *violation = problem.evaluate(genome, &mut scratch, values);
        }
        let points = Points::new(&values[..block.len() * objectives], objectives)?;
        archive.extend(&block, points, &violations[..block.len()]);
    }
}
