//! The model itself, which makes one job after the other.

use serde::{Deserialize, Serialize};

use super::cycle::Clock;
use super::dice::{Dice, Purpose};
use super::laws::{ArrivalLaw, RuntimeLaw};
use super::params::{JobParams, Kind, SizeParams};
use super::spec::LublinSpec;
use crate::model::Job;
use crate::units::{Span, Time};

/// A job made by the model.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct LublinJob {
    /// Job number, from 1.
    pub number: u64,
    /// Submission, in whole seconds since the start of the workload.
    pub submit: u64,
    /// Processors.
    pub procs: u32,
    /// Run time in whole seconds, at least 1.
    pub runtime: u64,
    /// The population it belongs to.
    pub kind: Kind,
}

impl LublinJob {
    /// The number of its queue: by the convention of the Standard Workload Format 0 for interactive and 1 for batch
    /// jobs; −1 (unknown) if jobs have no type.
    pub const fn queue(&self) -> i32 {
        match self.kind {
            Kind::Typeless => -1,
            Kind::Active => 0,
            Kind::Batch => 1,
        }
    }
}

impl From<LublinJob> for Job {
    /// A rigid job with an exact estimate, of an unknown user.
    fn from(job: LublinJob) -> Self {
        let (submit, runtime) = (Time::from_secs(job.submit), Span::from_secs(job.runtime));
        Self { queue: job.queue(), ..Self::rigid(job.number, submit, job.procs, runtime) }
    }
}

/// The constant part of a generator: parameters, and values computed from them.
#[derive(Clone, Debug)]
pub(super) struct Model {
    populations: Vec<Population>,
    procs: u32,
    jobs: u64,
}

#[derive(Clone, Debug)]
struct Population {
    kind: Kind,
    size: SizeParams,
    runtime: RuntimeLaw,
    arrival: ArrivalLaw,
}

/// The variable part of a generator: all that a mark holds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct State {
    dice: Dice,
    clocks: [Clock; 2],
    /// Number of jobs made so far.
    pub(super) made: u64,
    /// Arrival of the first job in seconds, unscaled.
    pub(super) first: f64,
    /// Arrival of the latest job in seconds, unscaled.
    pub(super) last: f64,
    /// Σ size × run time so far, in processor seconds.
    pub(super) area: u128,
    /// Number of jobs whose size was limited to the machine.
    pub(super) held: u64,
}

impl Model {
    pub(super) fn new(spec: &LublinSpec) -> Self {
        let population = |(kind, params): (Kind, JobParams)| Population {
            kind,
            size: params.size,
            runtime: RuntimeLaw::new(&params.runtime),
            arrival: ArrivalLaw::new(&params.arrival, spec.start_hour, spec.truncate),
        };
        Self {
            populations: spec.params.kinds().into_iter().map(population).collect(),
            procs: spec.procs,
            jobs: spec.jobs,
        }
    }

    /// The state before the first job, whose arrival has already been drawn.
    pub(super) fn begin(&self, dice: Dice) -> State {
        let clocks = [Clock::default(); 2];
        let mut state = State { dice, clocks, made: 0, first: 0.0, last: 0.0, area: 0, held: 0 };
        // The authors' program draws the first arrival of batch jobs before that of the others, even if there are
        // none.
        if matches!(state.dice, Dice::Reference(_)) || self.populations.len() > 1 {
            self.draw_arrival(&mut state, 1);
        }
        self.draw_arrival(&mut state, 0);
        state
    }

    /// The arrival of the next job in seconds, unscaled; `None` after the last.
    pub(super) fn pending(&self, state: &State) -> Option<f64> {
        (state.made < self.jobs).then(|| state.clocks[self.next_kind(state)].arrival)
    }

    /// The next job, if there is one. Its submission is `scale` times its arrival, rounded down.
    pub(super) fn next(&self, state: &mut State, scale: f64) -> Option<LublinJob> {
        let arrival = self.pending(state)?;
        let at = self.next_kind(state);
        self.draw_arrival(state, at);
        let population = self.populations.get(at)?;
        let procs = self.draw_size(state, population);
        let runtime = population.runtime.draw(procs, state.dice.of(Purpose::Runtime));
        if state.made == 0 {
            state.first = arrival;
        }
        state.made += 1;
        state.last = arrival;
        state.area += u128::from(procs) * u128::from(runtime);
        let submit = (arrival * scale) as u64;
        Some(LublinJob { number: state.made, submit, procs, runtime, kind: population.kind })
    }

    /// Batch jobs come first only if they are strictly earlier.
    fn next_kind(&self, state: &State) -> usize {
        usize::from(self.populations.len() > 1 && state.clocks[1].arrival < state.clocks[0].arrival)
    }

    fn draw_arrival(&self, state: &mut State, at: usize) {
        let Some(population) = self.populations.get(at).or(self.populations.first()) else { return };
        let dice = state.dice.of(Purpose::Arrival(at));
        population.arrival.advance(&mut state.clocks[at], |gaps| dice.gamma(gaps));
    }

    fn draw_size(&self, state: &mut State, population: &Population) -> u32 {
        let size = &population.size;
        let dice = state.dice.of(Purpose::Size);
        let mut uniform = || dice.uniform();
        let shape = uniform();
        if shape <= size.serial {
            return 1;
        }
        let (low, high) =
            if uniform() <= size.uprob { (size.ulow, size.umed) } else { (size.umed, size.uhi) };
        let mut exponent = uniform() * (high - low) + low;
        // The draw that separated parallel from serial jobs decides this too: `pow2` is a share of all jobs.
        if shape <= size.serial + size.pow2 {
            exponent = libm::floor(exponent + 0.5);
        }
        let procs = libm::floor(libm::exp2(exponent) + 0.5) as u32;
        state.held += u64::from(procs > self.procs);
        procs.clamp(1, self.procs)
    }
}

impl State {
    /// True if a workload of `jobs` jobs can be in this state.
    pub(super) fn is_sound(&self, jobs: u64) -> bool {
        self.made <= jobs && self.clocks.iter().all(Clock::is_sound)
    }
}
