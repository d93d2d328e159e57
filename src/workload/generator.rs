//! What generators have in common: seeds, identities and marks.

use serde::Serialize;
use serde::de::DeserializeOwned;
use xxhash_rust::xxh3::xxh3_128;

use super::{Mark, Source, SourceError, Spec};
use crate::model::NamedError;

/// A spec of a generated workload.
pub trait Generator: Spec {
    /// The source of the generated jobs.
    type Jobs: Source + 'static;

    /// The parameters that every generator has.
    fn drawn(&self) -> Drawn;

    /// Creates the source of the entity named `entity` in the run seeded with `run_seed`.
    ///
    /// # Errors
    /// [`NamedError`] if the specification makes no sense, or if its load cannot be met.
    fn source(self, run_seed: u64, entity: &str) -> Result<Self::Jobs, NamedError>;
}

/// The parameters that every generator has.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Drawn {
    /// The number of jobs.
    pub jobs: u64,
    /// Processors of the machine that the jobs are for.
    pub procs: u32,
    /// A seed of its own; the jobs then depend neither on the run's seed nor on where they are used.
    pub seed: Option<u64>,
}

/// The seed and the entity name that the jobs of `spec` are drawn with, and a hash that identifies these jobs
/// uniquely.
pub(super) fn drawn_by<'a>(spec: &impl Generator, run_seed: u64, entity: &'a str) -> (u64, &'a str, u128) {
    let (seed, entity) = spec.drawn().seed.map_or((run_seed, entity), |seed| (seed, ""));
    (seed, entity, xxh3_128(format!("{seed} {entity} {}", spec.to_named()).as_bytes()))
}

/// The mark of a generator that has made `made` jobs; `None` if the state cannot be written, which does not happen to
/// plain numbers.
pub(super) fn mark(made: u64, identity: u128, state: &impl Serialize) -> Option<Mark> {
    Some(Mark { position: made, content: identity, state: postcard::to_stdvec(state).ok()? })
}

/// Decodes the state in a mark of the generator `G` and checks that it is `sound`.
///
/// # Errors
/// [`SourceError::Mark`] if the mark belongs to other jobs or is damaged.
pub(super) fn marked<G: Generator, T: DeserializeOwned>(
    mark: &Mark,
    identity: u128,
    sound: impl FnOnce(&T) -> bool,
) -> Result<T, SourceError> {
    let fail = |problem: &str| SourceError::Mark { place: G::NAME.to_owned(), problem: problem.to_owned() };
    if mark.content != identity {
        return Err(fail("the mark was made with other parameters or another seed"));
    }
    let state = postcard::from_bytes(&mark.state).ok().filter(sound);
    state.ok_or_else(|| fail("the mark is damaged"))
}
