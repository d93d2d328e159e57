//! What is searched.

use crate::workload::random::Stream;

/// A problem of several objectives, all minimised: what a genome is, how genomes are drawn and changed, and what one is worth.
///
/// All draws must come from the stream handed in, and an evaluation must depend on the genome alone: then a search gives the same result
/// on any number of threads.
pub trait Problem: Sync {
    /// A solution as the operators change it.
    type Genome: Clone + Send + Sync;
    /// Working memory of evaluations, so that they need not allocate.
    type Scratch: Send;

    /// The number of objectives, at least 1.
    fn objectives(&self) -> usize;

    /// New working memory. A search asks for a few, whatever its length, and uses each for one evaluation at a time.
    fn scratch(&self) -> Self::Scratch;

    /// Draws a genome of the first population.
    fn random(&self, stream: &mut Stream) -> Self::Genome;

    /// Makes of copies of two parents two children.
    fn cross(&self, one: &mut Self::Genome, other: &mut Self::Genome, stream: &mut Stream);

    /// Changes a child.
    fn mutate(&self, genome: &mut Self::Genome, stream: &mut Stream);

    /// Writes the objectives of a genome to `objectives`, all of which must be finite numbers, and returns the total violation of
    /// constraints: 0 if it satisfies all, otherwise a finite number above.
    ///
    /// What `scratch` holds is left over from any other evaluation, and what `objectives` holds, too.
    fn evaluate(&self, genome: &Self::Genome, scratch: &mut Self::Scratch, objectives: &mut [f64]) -> f64;
}
