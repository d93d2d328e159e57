//! The generator as a source of jobs.

use super::calibration::settled;
use super::generator::{Model, State};
use super::spec::CwfSpec;
use crate::model::{Job, NamedError};
use crate::units::Time;
use crate::workload::generator::{drawn_by, mark, marked};
use crate::workload::lublin::{PILOT, Pace};
use crate::workload::{Drawn, Generator, Mark, Source, SourceError, Spec};

/// Generates the jobs of a [`CwfSpec`], one at a time. Estimates are exact.
#[derive(Clone, Debug)]
pub struct Cwf {
    spec: CwfSpec,
    model: Model,
    state: State,
    scale: f64,
    identity: u128,
}

impl Cwf {
    /// Generates the workload `spec` for the entity named `entity` in the run seeded with `run_seed`. A seed in the
    /// specification replaces both.
    ///
    /// # Errors
    /// [`NamedError`] if the specification makes no sense, or if its load cannot be reached.
    pub fn new(spec: CwfSpec, run_seed: u64, entity: &str) -> Result<Self, NamedError> {
        spec.check()?;
        let (seed, entity, identity) = drawn_by(&spec, run_seed, entity);
        let (model, scale, state) = settled(&spec, seed, entity)?;
        Ok(Self { spec, model, state, scale, identity })
    }

    /// The specification of the workload.
    pub const fn spec(&self) -> &CwfSpec {
        &self.spec
    }

    /// The scale of ln(gap) that jobs are drawn with: the one given, or the one found for the load.
    pub fn barr(&self) -> f64 {
        self.model.barr()
    }

    /// The factor on arrival times.
    pub const fn scale(&self) -> f64 {
        self.scale
    }

    /// Offered load of the jobs drawn so far; `None` while all of them have arrived at one time.
    pub fn offered_load(&self) -> Option<f64> {
        let span = self.scale * (self.state.last - self.state.first);
        (span > 0.0).then(|| self.state.area as f64 / (f64::from(self.spec.procs) * span))
    }
}

impl Generator for CwfSpec {
    type Jobs = Cwf;

    fn drawn(&self) -> Drawn {
        Drawn { jobs: self.jobs, procs: self.procs, seed: self.seed }
    }

    fn source(self, run_seed: u64, entity: &str) -> Result<Cwf, NamedError> {
        Cwf::new(self, run_seed, entity)
    }
}

impl Source for Cwf {
    fn peek_time(&mut self) -> Result<Option<Time>, SourceError> {
        let pending = self.model.pending(&self.state);
        Ok(pending.map(|arrival| Time::from_secs((arrival * self.scale) as u64)))
    }

    fn next_job(&mut self) -> Result<Option<Job>, SourceError> {
        Ok(self.model.next(&mut self.state, self.scale))
    }

    fn notes(&self) -> Vec<String> {
        match (self.spec.pace, self.spec.jobs > PILOT, self.offered_load()) {
            (Pace::Load(load), true, Some(offered)) => vec![format!(
                "cwf: arrivals are set for a load of {load} over the first {PILOT} jobs; the {} jobs drawn offer {offered:.4}",
                self.state.made
            )],
            _ => Vec::new(),
        }
    }

    fn mark(&self) -> Option<Mark> {
        mark(self.state.made, self.identity, &self.state)
    }

    fn seek(&mut self, mark: &Mark) -> Result<(), SourceError> {
        self.state = marked::<CwfSpec, State>(mark, self.identity, |state| {
            state.made == mark.position && state.is_sound(self.spec.jobs)
        })?;
        Ok(())
    }
}
