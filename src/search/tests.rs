mod archive;
mod controls;
mod distance;
mod errors;
mod hypervolume;
mod problems;
mod ranking;
mod real;
mod search;

use super::Points;

/// So many random cases, times `GRIDEMU_CASES`, as in the integration tests.
#[expect(clippy::disallowed_methods, reason = "whoever wants more cases asks for them")]
fn times() -> u32 {
    std::env::var("GRIDEMU_CASES").map_or(1, |times| times.parse().expect("GRIDEMU_CASES is a number"))
}

pub(crate) fn cases(number: u32) -> proptest::test_runner::Config {
    proptest::test_runner::Config::with_cases(number * times())
}

/// The points of rows.
fn flat<const M: usize>(rows: &[[f64; M]]) -> Vec<f64> {
    rows.iter().flatten().copied().collect()
}

fn points(values: &[f64], objectives: usize) -> Points<'_> {
    Points::new(values, objectives).unwrap()
}

/// Sets of a few points of `objectives` coordinates on a coarse grid, so that ties, duplicates and dominated points are frequent, as flat
/// lists.
fn coarse(objectives: usize, most: usize) -> impl proptest::strategy::Strategy<Value = Vec<f64>> {
    use proptest::prelude::*;
    proptest::collection::vec(
        proptest::collection::vec((0..6_u8).prop_map(|value| f64::from(value) / 5.0), objectives),
        0..=most,
    )
    .prop_map(|rows| rows.concat())
}

/// Sets of points whose coordinates are all different, as flat lists.
fn fine(objectives: usize, most: usize) -> impl proptest::strategy::Strategy<Value = Vec<f64>> {
    use proptest::prelude::*;
    proptest::collection::vec(proptest::collection::vec(0.0..1.0, objectives), 0..=most)
        .prop_map(|rows| rows.concat())
}
