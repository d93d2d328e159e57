//! The model as a source of jobs.

use super::cycle::Clock;
use super::dice::Dice;
use super::generator::{Model, State};
use super::spec::{LublinSpec, Pace};
use crate::model::{Job, NamedError};
use crate::units::Time;
use crate::workload::{Drawn, Generated, Generator, SourceError, Spec};

/// The largest number of jobs that are drawn in advance to find the scale of the arrival times for a load.
pub const PILOT: u64 = 200_000;

/// Generates the jobs of a [`LublinSpec`], one at a time.
pub type Lublin = Generated<LublinSpec>;

impl Lublin {
    /// The factor on arrival times.
    pub const fn scale(&self) -> f64 {
        self.model.scale
    }

    /// Offered load of the jobs drawn so far; `None` while all of them have arrived at one time.
    pub fn offered_load(&self) -> Option<f64> {
        self.state.made.load(self.spec.procs, self.model.scale)
    }
}

/// The scale of the arrival times for an offered load of `load`, from a dry run.
fn scale_for(load: f64, spec: &LublinSpec, model: &Model, mut state: State) -> Result<f64, NamedError> {
    for _ in 0..spec.jobs.min(PILOT) {
        model.draw(&mut state, Time::ZERO, spec.procs);
    }
    state.made.load(spec.procs, 1.0).map(|natural| natural / load).ok_or_else(|| {
        let expected = format!("possible with `jobs={}`: all jobs arrive at one time", spec.jobs);
        LublinSpec::bad("load", load, &expected)
    })
}

impl Generator for LublinSpec {
    type Model = Model;
    type State = State;

    fn drawn(&self) -> Drawn {
        Drawn { jobs: self.jobs, procs: self.procs, seed: self.seed }
    }

    fn begin(&self, seed: u64, entity: &str) -> Result<(Model, State), NamedError> {
        let dice = if self.reference { Dice::reference(seed) } else { Dice::streams(seed, entity) };
        let mut model = Model::new(self);
        let state = model.begin(dice);
        model.scale = match self.pace {
            Pace::AsModelled => 1.0,
            Pace::Factor(factor) => factor,
            Pace::Load(load) => scale_for(load, self, &model, state.clone())?,
        };
        Ok((model, state))
    }

    fn pending(&self, model: &Model, state: &State) -> Result<Time, SourceError> {
        Ok(model.pending(state))
    }

    fn draw(&self, model: &Model, state: &mut State, submit: Time) -> Job {
        model.draw(state, submit, self.procs)
    }

    fn made(state: &State) -> u64 {
        state.made.jobs
    }

    fn is_sound(state: &State) -> bool {
        state.clocks.iter().all(Clock::is_sound)
    }

    fn notes(jobs: &Lublin) -> Vec<String> {
        let Generated { spec, model, state, .. } = jobs;
        let mut notes = Vec::new();
        if let (Pace::Load(load), true, Some(offered)) = (spec.pace, spec.jobs > PILOT, jobs.offered_load()) {
            notes.push(format!(
                "lublin: arrival times are scaled by {:.6} for a load of {load} over the first {PILOT} jobs; the \
                 {} jobs drawn offer {offered:.4}",
                model.scale, state.made.jobs
            ));
        }
        if state.held > 0 {
            notes.push(format!(
                "lublin: {} jobs were drawn larger than the machine and given its {} processors",
                state.held, spec.procs
            ));
        }
        notes
    }
}
