//! The generator as a source of jobs.

use super::calibration::settled;
use super::generator::{Model, State};
use super::spec::CwfSpec;
use crate::model::{Job, NamedError};
use crate::units::Time;
use crate::workload::lublin::{PILOT, Pace};
use crate::workload::{Drawn, Generated, Generator, SourceError};

/// Generates the jobs of a [`CwfSpec`], one at a time. Estimates are exact.
pub type Cwf = Generated<CwfSpec>;

impl Cwf {
    /// The scale of ln(gap) that jobs are drawn with: the one given, or the one found for the load.
    pub const fn barr(&self) -> f64 {
        self.model.barr()
    }

    /// The factor on arrival times.
    pub const fn scale(&self) -> f64 {
        self.model.scale
    }

    /// Offered load of the jobs drawn so far; `None` while all of them have arrived at one time.
    pub fn offered_load(&self) -> Option<f64> {
        self.state.made.load(self.spec.procs, self.model.scale)
    }
}

impl Generator for CwfSpec {
    type Model = Model;
    type State = State;

    fn drawn(&self) -> Drawn {
        Drawn { jobs: self.jobs, procs: self.procs, seed: self.seed }
    }

    fn begin(&self, seed: u64, entity: &str) -> Result<(Model, State), NamedError> {
        settled(self, seed, entity)
    }

    fn pending(&self, model: &Model, state: &State) -> Result<Time, SourceError> {
        // Rounded down to a whole second.
        Ok(Time::from_secs((state.clock.arrival * model.scale) as u64))
    }

    fn draw(&self, model: &Model, state: &mut State, submit: Time) -> Job {
        model.draw(state, submit)
    }

    fn made(state: &State) -> u64 {
        state.made.jobs
    }

    fn is_sound(state: &State) -> bool {
        state.clock.is_sound()
    }

    fn notes(jobs: &Cwf) -> Vec<String> {
        match (jobs.spec.pace, jobs.spec.jobs > PILOT, jobs.offered_load()) {
            (Pace::Load(load), true, Some(offered)) => vec![format!(
                "cwf: arrivals are set for a load of {load} over the first {PILOT} jobs; the {} jobs drawn offer {offered:.4}",
                jobs.state.made.jobs
            )],
            _ => Vec::new(),
        }
    }
}
