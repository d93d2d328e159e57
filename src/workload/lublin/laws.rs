//! The distributions of run times and arrivals, for this model and for others that use them with other parameters.

use super::cycle::{BUCKETS, Clock, weights};
use super::params::{ArrivalParams, RuntimeParams};
use crate::workload::random::{Gamma, Stream};

/// Greatest ln of a run time in seconds; draws beyond it are repeated.
pub(super) const RUNTIME_CAP: f64 = 12.0;
/// Greatest ln of a gap in seconds; draws beyond it are repeated.
pub(super) const GAP_CAP: f64 = 13.0;

/// A source of random numbers for a distribution.
pub(in crate::workload) trait Draws {
    /// Draws uniformly from [0, 1).
    fn uniform(&mut self) -> f64;
    /// Draws from `gamma`.
    fn gamma(&mut self, gamma: &Gamma) -> f64;
}

impl Draws for Stream {
    fn uniform(&mut self) -> f64 {
        Self::uniform(self)
    }

    fn gamma(&mut self, gamma: &Gamma) -> f64 {
        gamma.sample(self)
    }
}

/// The process of arrivals.
#[derive(Clone, Debug)]
pub(in crate::workload) struct ArrivalLaw {
    gaps: Gamma,
    weights: [f64; BUCKETS],
    /// The half-hour of the day at which the workload starts.
    start: u64,
    truncate: bool,
}

impl ArrivalLaw {
    pub(in crate::workload) fn new(params: &ArrivalParams, start_hour: u32, truncate: bool) -> Self {
        let (gaps, weights) = (params.gaps(), weights(params));
        Self { gaps, weights, start: u64::from(start_hour) * 2, truncate }
    }

    /// The same daily cycle with the gaps of `params`.
    pub(in crate::workload) fn with_gaps(&self, params: &ArrivalParams) -> Self {
        Self { gaps: params.gaps(), ..self.clone() }
    }

    /// Advances `clock` to the next arrival; `draw` is called for one gamma distribution and no others.
    pub(in crate::workload) fn advance(&self, clock: &mut Clock, mut draw: impl FnMut(&Gamma) -> f64) {
        let gap = below(GAP_CAP, || draw(&self.gaps));
        clock.advance(&self.weights, self.start, libm::exp(gap), self.truncate);
    }
}

/// The distribution of run times.
#[derive(Clone, Debug)]
pub(in crate::workload) struct RuntimeLaw {
    params: RuntimeParams,
    stages: [Gamma; 2],
}

impl RuntimeLaw {
    pub(in crate::workload) fn new(params: &RuntimeParams) -> Self {
        Self { params: *params, stages: params.stages() }
    }

    /// Draws the run time of a job of `size` in whole seconds, at least 1.
    pub(in crate::workload) fn draw(&self, size: u32, draws: &mut (impl Draws + ?Sized)) -> u64 {
        let short = self.params.short_probability(size);
        // A draw beyond the cap repeats both stages, so the cap changes the mixture as well as the tails.
        let log = below(RUNTIME_CAP, || {
            let stage = usize::from(draws.uniform() > short);
            draws.gamma(&self.stages[stage])
        });
        (libm::exp(log) as u64).max(1)
    }
}

/// Draws until a draw is at most `cap`. The check of the parameters ensures that this ends soon.
fn below(cap: f64, mut draw: impl FnMut() -> f64) -> f64 {
    loop {
        let value = draw();
        if value <= cap {
            return value;
        }
    }
}
