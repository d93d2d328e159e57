//! The generator itself, which makes one job after the other.

use serde::{Deserialize, Serialize};

use super::spec::{CwfSpec, Large, RuntimeSize};
use crate::model::{Elastic, ElasticCommand, Job};
use crate::units::{Span, Time};
use crate::workload::lublin::{ArrivalLaw, ArrivalParams, Clock, Made, RuntimeLaw};
use crate::workload::random::Stream;

/// The purpose of the stream that arrivals are drawn from.
pub(super) const ARRIVALS: &str = "cwf arrivals";

/// The constant part of a generator.
#[derive(Clone, Debug)]
pub struct Model {
    spec: CwfSpec,
    arrival: ArrivalLaw,
    runtime: RuntimeLaw,
    /// The factor on arrival times.
    pub(super) scale: f64,
}

/// The variable part of a generator: all that a mark holds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct State {
    arrivals: Stream,
    sizes: Stream,
    runtimes: Stream,
    dedicated: Stream,
    commands: Stream,
    pub(super) clock: Clock,
    pub(super) made: Made,
}

impl Model {
    /// The model with unscaled arrival times.
    pub(super) fn new(spec: &CwfSpec) -> Self {
        let arrival = ArrivalLaw::new(&spec.params.arrival, spec.start_hour, false);
        Self { arrival, runtime: RuntimeLaw::new(&spec.params.runtime), spec: spec.clone(), scale: 1.0 }
    }

    /// The arrivals if the scale of ln(gap) is `barr`.
    pub(super) fn arrivals_with(&self, barr: f64) -> ArrivalLaw {
        self.arrival.with_gaps(&ArrivalParams { barr, ..self.spec.params.arrival })
    }

    /// The same model with another scale of ln(gap).
    pub(super) fn with_arrivals(mut self, barr: f64) -> Self {
        self.arrival = self.arrivals_with(barr);
        self.spec.params.arrival.barr = barr;
        self
    }

    /// The state before the first job of `entity` in the run seeded with `seed`, whose arrival has already been
    /// drawn.
    pub(super) fn begin(&self, seed: u64, entity: &str) -> State {
        let stream = |purpose| Stream::new(seed, entity, purpose);
        let mut state = State {
            arrivals: stream(ARRIVALS),
            sizes: stream("cwf sizes"),
            runtimes: stream("cwf run times"),
            dedicated: stream("cwf dedicated jobs"),
            commands: stream("cwf commands"),
            clock: Clock::default(),
            made: Made::default(),
        };
        self.draw_arrival(&mut state);
        state
    }

    /// The scale of ln(gap).
    pub(super) const fn barr(&self) -> f64 {
        self.spec.params.arrival.barr
    }

    /// The next job.
    pub(super) fn draw(&self, state: &mut State, submit: Time) -> Job {
        let (procs, runtime) = self.draw_request(state);
        state.made.count(state.clock.arrival);
        self.draw_arrival(state);
        let mut job = Job::rigid(state.made.jobs, submit, procs, Span::from_secs(runtime));
        job.requested_start = self.draw_start(state, submit);
        job.elastic = self.draw_commands(state, submit, runtime);
        job
    }

    /// Processors and run time in seconds of the next job.
    pub(super) fn draw_request(&self, state: &mut State) -> (u32, u64) {
        let units = self.draw_units(&mut state.sizes);
        let procs = units * self.spec.unit;
        let size = match self.spec.runtime_size {
            RuntimeSize::Units => units,
            RuntimeSize::Procs => procs,
        };
        let runtime = self.runtime.draw(size, &mut state.runtimes);
        state.made.area += u128::from(procs) * u128::from(runtime);
        (procs, runtime)
    }

    fn draw_arrival(&self, state: &mut State) {
        self.arrival.advance(&mut state.clock, |gaps| gaps.sample(&mut state.arrivals));
    }

    fn draw_units(&self, sizes: &mut Stream) -> u32 {
        let spec = &self.spec;
        let (stage, place) = (sizes.uniform(), sizes.uniform());
        let between = |low: u32, high: u32| f64::from(low) + place * f64::from(high - low);
        let nearest = |value: f64| libm::floor(value + 0.5) as u32;
        if stage < spec.ps {
            return nearest(between(1, spec.split));
        }
        let drawn = between(spec.split + 1, spec.units());
        match spec.large {
            Large::Floor => drawn as u32,
            Large::Round => nearest(drawn),
        }
    }

    /// Draws a requested start strictly after the submission, in whole seconds.
    fn draw_start(&self, state: &mut State, submit: Time) -> Option<Time> {
        let (chosen, lead) = (state.dedicated.uniform(), state.dedicated.exponential());
        let lead = lead * self.spec.lead.as_secs_f64();
        (chosen < self.spec.pd).then(|| submit + Span::from_secs(lead as u64 + 1))
    }

    fn draw_commands(&self, state: &mut State, submit: Time, runtime: u64) -> Option<Box<[ElasticCommand]>> {
        let spec = &self.spec;
        let requested = runtime as f64;
        let mut draw = |share: f64, change: fn(Span) -> Elastic| {
            let stream = &mut state.commands;
            let (chosen, amount, place) = (stream.uniform(), stream.exponential(), stream.uniform());
            // A command with the amount zero is left out.
            let amount = (libm::round(amount * spec.amount * requested) as u64).max(1);
            let after = (place * spec.within * requested) as u64;
            let at = submit + Span::from_secs(after);
            (chosen < share).then(|| ElasticCommand { at, change: change(Span::from_secs(amount)) })
        };
        let drawn = [draw(spec.pe, Elastic::ExtendTime), draw(spec.pr, Elastic::ReduceTime)];
        let mut commands: Vec<_> = drawn.into_iter().flatten().collect();
        commands.sort_by_key(|command| command.at);
        (!commands.is_empty()).then(|| commands.into())
    }
}
