//! What generators have in common: who draws their jobs, and how they are marked.

use serde::Serialize;
use serde::de::DeserializeOwned;
use xxhash_rust::xxh3::xxh3_128;

use super::{Mark, Source, SourceError, Spec};
use crate::model::NamedError;

/// A spec of jobs that are drawn.
pub trait Generator: Spec {
    /// The source of those jobs.
    type Jobs: Source + 'static;

    /// What every such spec says.
    fn drawn(&self) -> Drawn;

    /// The jobs of the entity named `entity` in the run seeded with `run_seed`.
    ///
    /// # Errors
    /// [`NamedError`] if the specification makes no sense, or if its load cannot be met.
    fn source(self, run_seed: u64, entity: &str) -> Result<Self::Jobs, NamedError>;
}

/// What every spec of jobs that are drawn says.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Drawn {
    /// How many jobs.
    pub jobs: u64,
    /// Processors of the machine that they are for.
    pub procs: u32,
    /// A seed of its own; the jobs then do not depend on the run's seed nor on where they are used.
    pub seed: Option<u64>,
}

/// The seed and the entity that the jobs of `spec` are drawn with, and the identity of those jobs: no others have the same.
pub(super) fn drawn_by<'a>(spec: &impl Generator, run_seed: u64, entity: &'a str) -> (u64, &'a str, u128) {
    let (seed, entity) = spec.drawn().seed.map_or((run_seed, entity), |seed| (seed, ""));
    (seed, entity, xxh3_128(format!("{seed} {entity} {}", spec.to_named()).as_bytes()))
}

/// The mark of a generator that has made so many jobs. Its state is plain numbers, so nothing can fail; without a state there is no mark.
pub(super) fn mark(made: u64, identity: u128, state: &impl Serialize) -> Option<Mark> {
    Some(Mark { position: made, content: identity, state: postcard::to_stdvec(state).ok()? })
}

/// The state that a mark of the generator `G` holds, if it is `sound`.
///
/// # Errors
/// [`SourceError::Mark`] if the mark is of other jobs, or damaged.
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
