//! The model as a source of jobs.

use super::dice::Dice;
use super::generator::{LublinJob, Model, State};
use super::spec::{LublinSpec, Pace};
use crate::model::{Job, NamedError};
use crate::units::Time;
use crate::workload::generator::{drawn_by, mark, marked};
use crate::workload::{Drawn, Generator, Mark, Source, SourceError, Spec};

/// The largest number of jobs that are drawn in advance to find the scale of the arrival times for a load.
pub const PILOT: u64 = 200_000;

/// Generates the jobs of a [`LublinSpec`], one at a time.
///
/// It is a [`Source`] of jobs for a run, and an [`Iterator`] of [`LublinJob`]s for writing a log; both take from the
/// same sequence.
#[derive(Clone, Debug)]
pub struct Lublin {
    spec: LublinSpec,
    model: Model,
    state: State,
    scale: f64,
    identity: u128,
}

impl Lublin {
    /// Generates the workload `spec` for the entity named `entity` in the run seeded with `run_seed`. A seed in the
    /// specification replaces both.
    ///
    /// # Errors
    /// [`NamedError`] if the specification makes no sense, or if its load cannot be reached because all jobs arrive
    /// at once.
    pub fn new(spec: LublinSpec, run_seed: u64, entity: &str) -> Result<Self, NamedError> {
        spec.check()?;
        let (seed, entity, identity) = drawn_by(&spec, run_seed, entity);
        let dice = if spec.reference { Dice::reference(seed) } else { Dice::streams(seed, entity) };
        let model = Model::new(&spec);
        let state = model.begin(dice);
        let scale = match spec.pace {
            Pace::AsModelled => 1.0,
            Pace::Factor(factor) => factor,
            Pace::Load(load) => scale_for(load, &spec, &model, state.clone())?,
        };
        Ok(Self { spec, model, state, scale, identity })
    }

    /// The specification of the workload.
    pub const fn spec(&self) -> &LublinSpec {
        &self.spec
    }

    /// The factor on arrival times.
    pub const fn scale(&self) -> f64 {
        self.scale
    }

    /// Offered load of the jobs drawn so far; `None` while all of them have arrived at one time.
    pub fn offered_load(&self) -> Option<f64> {
        load_of(&self.state, self.spec.procs).map(|load| load / self.scale)
    }
}

/// Offered load with unscaled arrivals; `None` if the jobs so far all arrived at once.
fn load_of(state: &State, procs: u32) -> Option<f64> {
    let span = state.last - state.first;
    (span > 0.0).then(|| state.area as f64 / (f64::from(procs) * span))
}

/// The scale of the arrival times for an offered load of `load`, from a dry run.
fn scale_for(load: f64, spec: &LublinSpec, model: &Model, mut state: State) -> Result<f64, NamedError> {
    while state.made < PILOT && model.next(&mut state, 1.0).is_some() {}
    load_of(&state, spec.procs).map(|natural| natural / load).ok_or_else(|| {
        let expected = format!("possible with `jobs={}`: all jobs arrive at one time", spec.jobs);
        LublinSpec::bad("load", load, &expected)
    })
}

impl Iterator for Lublin {
    type Item = LublinJob;

    fn next(&mut self) -> Option<LublinJob> {
        self.model.next(&mut self.state, self.scale)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        let left = usize::try_from(self.spec.jobs - self.state.made);
        (left.unwrap_or(usize::MAX), left.ok())
    }
}

impl Generator for LublinSpec {
    type Jobs = Lublin;

    fn drawn(&self) -> Drawn {
        Drawn { jobs: self.jobs, procs: self.procs, seed: self.seed }
    }

    fn source(self, run_seed: u64, entity: &str) -> Result<Lublin, NamedError> {
        Lublin::new(self, run_seed, entity)
    }
}

impl Source for Lublin {
    fn peek_time(&mut self) -> Result<Option<Time>, SourceError> {
        let pending = self.model.pending(&self.state);
        Ok(pending.map(|arrival| Time::from_secs((arrival * self.scale) as u64)))
    }

    fn next_job(&mut self) -> Result<Option<Job>, SourceError> {
        Ok(self.next().map(Job::from))
    }

    fn notes(&self) -> Vec<String> {
        let mut notes = Vec::new();
        if let (Pace::Load(load), true, Some(offered)) =
            (self.spec.pace, self.spec.jobs > PILOT, self.offered_load())
        {
            notes.push(format!(
                "lublin: arrival times are scaled by {:.6} for a load of {load} over the first {PILOT} jobs; the \
                 {} jobs drawn offer {offered:.4}",
                self.scale, self.state.made
            ));
        }
        if self.state.held > 0 {
            notes.push(format!(
                "lublin: {} jobs were drawn larger than the machine and given its {} processors",
                self.state.held, self.spec.procs
            ));
        }
        notes
    }

    fn mark(&self) -> Option<Mark> {
        mark(self.state.made, self.identity, &self.state)
    }

    fn seek(&mut self, mark: &Mark) -> Result<(), SourceError> {
        self.state = marked::<LublinSpec, State>(mark, self.identity, |state| {
            state.made == mark.position && state.is_sound(self.spec.jobs)
        })?;
        Ok(())
    }
}
