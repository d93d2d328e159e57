//! The model itself, which makes one job after the other.

use serde::{Deserialize, Serialize};

use super::cycle::Clock;
use super::dice::{Dice, Purpose};
use super::laws::{ArrivalLaw, RuntimeLaw};
use super::params::{JobParams, Kind, SizeParams};
use super::spec::LublinSpec;
use crate::model::Job;
use crate::units::{Span, Time};

/// The constant part of a generator: parameters, and values computed from them.
#[derive(Clone, Debug)]
pub struct Model {
    populations: Vec<Population>,
    /// The factor on arrival times.
    pub(super) scale: f64,
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
pub struct State {
    dice: Dice,
    pub(super) clocks: [Clock; 2],
    pub(super) made: Made,
    /// Number of jobs whose size was limited to the machine.
    pub(super) held: u64,
}

/// The jobs made so far.
#[derive(Copy, Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(in crate::workload) struct Made {
    /// Their number.
    pub(in crate::workload) jobs: u64,
    /// Arrival of the first job in seconds, unscaled.
    first: f64,
    /// Arrival of the latest job in seconds, unscaled.
    last: f64,
    /// Σ size × run time, in processor seconds.
    pub(in crate::workload) area: u128,
}

impl Made {
    /// Counts the job that arrives at `arrival`.
    pub(in crate::workload) fn count(&mut self, arrival: f64) {
        if self.jobs == 0 {
            self.first = arrival;
        }
        self.jobs += 1;
        self.last = arrival;
    }

    /// Offered load with arrival times multiplied by `scale`; `None` while all jobs have arrived at one time.
    pub(in crate::workload) fn load(&self, procs: u32, scale: f64) -> Option<f64> {
        let span = scale * (self.last - self.first);
        (span > 0.0).then(|| self.area as f64 / (f64::from(procs) * span))
    }
}

impl Model {
    /// The model with unscaled arrival times.
    pub(super) fn new(spec: &LublinSpec) -> Self {
        let population = |(kind, params): &(Kind, JobParams)| Population {
            kind: *kind,
            size: params.size,
            runtime: RuntimeLaw::new(&params.runtime),
            arrival: ArrivalLaw::new(&params.arrival, spec.start_hour, spec.truncate),
        };
        Self { populations: spec.params.kinds().iter().map(population).collect(), scale: 1.0 }
    }

    /// The state before the first job, whose arrival has already been drawn.
    pub(super) fn begin(&self, dice: Dice) -> State {
        let clocks = [Clock::default(); 2];
        let mut state = State { dice, clocks, made: Made::default(), held: 0 };
        // The authors' program draws the first arrival of batch jobs before that of the others, even if there are
        // none.
        if matches!(state.dice, Dice::Reference(_)) || self.populations.len() > 1 {
            self.draw_arrival(&mut state, 1);
        }
        self.draw_arrival(&mut state, 0);
        state
    }

    /// The submission of the next job: its scaled arrival, rounded down to a whole second.
    pub(super) fn pending(&self, state: &State) -> Time {
        Time::from_secs((state.clocks[self.next_kind(state)].arrival * self.scale) as u64)
    }

    /// The next job: rigid, with an exact estimate, of an unknown user.
    pub(super) fn draw(&self, state: &mut State, submit: Time, most_procs: u32) -> Job {
        let at = self.next_kind(state);
        let arrival = state.clocks[at].arrival;
        self.draw_arrival(state, at);
        let population = &self.populations[at];
        let procs = draw_size(state, population, most_procs);
        let runtime = population.runtime.draw(procs, state.dice.of(Purpose::Runtime));
        state.made.count(arrival);
        state.made.area += u128::from(procs) * u128::from(runtime);
        let job = Job::rigid(state.made.jobs, submit, procs, Span::from_secs(runtime));
        Job { queue: population.kind.queue(), ..job }
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
}

fn draw_size(state: &mut State, population: &Population, most: u32) -> u32 {
    let size = &population.size;
    let dice = state.dice.of(Purpose::Size);
    let mut uniform = || dice.uniform();
    let shape = uniform();
    if shape <= size.serial {
        return 1;
    }
    let (low, high) = if uniform() <= size.uprob { (size.ulow, size.umed) } else { (size.umed, size.uhi) };
    let mut exponent = uniform() * (high - low) + low;
    // The draw that separated parallel from serial jobs decides this too: `pow2` is a share of all jobs.
    if shape <= size.serial + size.pow2 {
        exponent = libm::floor(exponent + 0.5);
    }
    let procs = libm::floor(libm::exp2(exponent) + 0.5) as u32;
    state.held += u64::from(procs > most);
    procs.clamp(1, most)
}
