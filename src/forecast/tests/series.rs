//! Series of tests and of the page.

use crate::workload::random::Stream;

/// Normal noise with the variance 1 around a mean.
pub(super) fn noise(values: usize, mean: f64) -> Vec<f64> {
    let mut stream = Stream::new(1, "series", "noise");
    (0..values).map(|_| mean + stream.normal()).collect()
}

/// `days` cycles of a sine of amplitude 1, so many values each.
pub(super) fn cycle(a_day: usize, days: usize) -> Vec<f64> {
    let turn = |at: usize| 2.0 * std::f64::consts::PI * (at % a_day) as f64 / a_day as f64;
    (0..a_day * days).map(|at| libm::sin(turn(at))).collect()
}

/// The sum of two series.
pub(super) fn sum(one: &[f64], other: impl Iterator<Item = f64>) -> Vec<f64> {
    one.iter().zip(other).map(|(one, other)| one + other).collect()
}

/// A cycle of 24 values a day with noise, whose deviation is 0.3.
pub(super) fn noisy_cycle() -> Vec<f64> {
    let cycle = cycle(24, 60);
    sum(&cycle, noise(cycle.len(), 0.0).into_iter().map(|noise| 0.3 * noise))
}
