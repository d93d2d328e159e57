//! What generators have in common: seeds, identities and marks.

use std::fmt::Debug;

use serde::Serialize;
use serde::de::DeserializeOwned;
use xxhash_rust::xxh3::xxh3_128;

use super::{Mark, Source, SourceError, Spec};
use crate::model::{Job, NamedError};
use crate::units::Time;

/// A spec of a generated workload.
pub trait Generator: Spec + Debug + Send {
    /// The constant part of a generator: values that follow from the spec.
    type Model: Clone + Debug + Send;

    /// The variable part of a generator: all that a mark holds.
    type State: Clone + Debug + Send + Serialize + DeserializeOwned;

    /// The parameters that every generator has.
    fn drawn(&self) -> Drawn;

    /// The model, and the state before the first job of `entity` in the run seeded with `seed`.
    ///
    /// # Errors
    /// [`NamedError`] if the load of the specification cannot be met.
    fn begin(&self, seed: u64, entity: &str) -> Result<(Self::Model, Self::State), NamedError>;

    /// The submission of the next job, which is not the last.
    ///
    /// # Errors
    /// [`SourceError`] if it is beyond the time axis.
    fn pending(&self, model: &Self::Model, state: &Self::State) -> Result<Time, SourceError>;

    /// Draws the next job, whose `submit` time [`Generator::pending`] has announced.
    fn draw(&self, model: &Self::Model, state: &mut Self::State, submit: Time) -> Job;

    /// The number of jobs made so far.
    fn made(state: &Self::State) -> u64;

    /// True if a workload can be in this state, apart from the number of its jobs.
    fn is_sound(_: &Self::State) -> bool {
        true
    }

    /// What [`Source::notes`] says about the jobs drawn so far.
    fn notes(_: &Generated<Self>) -> Vec<String> {
        Vec::new()
    }
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

/// The jobs of a [`Generator`], made one at a time. Estimates are exact.
#[derive(Clone, Debug)]
pub struct Generated<G: Generator> {
    pub(super) spec: G,
    pub(super) model: G::Model,
    pub(super) state: G::State,
    /// A hash that identifies these jobs uniquely.
    identity: u128,
}

impl<G: Generator> Generated<G> {
    /// Generates the workload `spec` for the entity named `entity` in the run seeded with `run_seed`. A seed in the
    /// specification replaces both.
    ///
    /// # Errors
    /// [`NamedError`] if the specification makes no sense, or if its load cannot be met.
    pub fn new(spec: G, run_seed: u64, entity: &str) -> Result<Self, NamedError> {
        spec.check()?;
        let (seed, entity) = spec.drawn().seed.map_or((run_seed, entity), |seed| (seed, ""));
        let identity = xxh3_128(format!("{seed} {entity} {}", spec.to_named()).as_bytes());
        let (model, state) = spec.begin(seed, entity)?;
        Ok(Self { spec, model, state, identity })
    }

    /// The specification of the workload.
    pub const fn spec(&self) -> &G {
        &self.spec
    }
}

impl<G: Generator> Source for Generated<G> {
    fn peek_time(&mut self) -> Result<Option<Time>, SourceError> {
        if G::made(&self.state) >= self.spec.drawn().jobs {
            return Ok(None);
        }
        self.spec.pending(&self.model, &self.state).map(Some)
    }

    fn next_job(&mut self) -> Result<Option<Job>, SourceError> {
        let Some(submit) = self.peek_time()? else { return Ok(None) };
        Ok(Some(self.spec.draw(&self.model, &mut self.state, submit)))
    }

    fn notes(&self) -> Vec<String> {
        G::notes(self)
    }

    fn mark(&self) -> Option<Mark> {
        // Writing plain numbers cannot fail.
        let state = postcard::to_stdvec(&self.state).ok()?;
        Some(Mark { position: G::made(&self.state), content: self.identity, state })
    }

    fn seek(&mut self, mark: &Mark) -> Result<(), SourceError> {
        let fail =
            |problem: &str| SourceError::Mark { place: G::NAME.to_owned(), problem: problem.to_owned() };
        if mark.content != self.identity {
            return Err(fail("the mark was made with other parameters or another seed"));
        }
        let most = self.spec.drawn().jobs;
        let sound =
            |state: &G::State| G::made(state) == mark.position && mark.position <= most && G::is_sound(state);
        let state = postcard::from_bytes(&mark.state).ok().filter(sound);
        self.state = state.ok_or_else(|| fail("the mark is damaged"))?;
        Ok(())
    }
}
