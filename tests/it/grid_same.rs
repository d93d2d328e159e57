//! Every engine, at any pace, gives the same records in the same order, and the same end.

use gridemu::grid::WindowOptions;
use gridemu::units::{Bandwidth, Span};
use proptest::prelude::*;

use crate::grids::{GridCase, GridRan, grouped_grids, random_ends};

/// Both are the same; else the first difference.
#[track_caller]
fn same(how: &str, found: &GridRan, expected: &GridRan) {
    if let Some(at) = found.records.iter().zip(&expected.records).position(|(a, b)| a != b) {
        panic!("{how}: record {at}\n{:#?}\nis not\n{:#?}", found.records[at], expected.records[at]);
    }
    assert_eq!(found.result, expected.result, "{how}");
    assert_eq!((found.records.len(), found.end), (expected.records.len(), expected.end), "{how}");
}

/// Runs it by the plain loop in all ways.
pub(crate) fn all_windows(case: &GridCase, ends: u64, lag: u64) {
    let expected = case.stepwise();
    same("windows", &case.windows(WindowOptions::default()).0, &expected);
    let random = WindowOptions {
        ends: Some(random_ends(ends)),
        lag: (lag > 0).then(|| Span::from_micros(lag)),
        ..WindowOptions::default()
    };
    same("random windows", &case.windows(random).0, &expected);
}

/// Runs it as actors in all ways.
pub(crate) fn all_actors(case: &GridCase) {
    let expected = case.stepwise();
    for threads in [1, 2, 8] {
        same(&format!("actors on {threads} threads"), &case.actors(threads, None), &expected);
    }
    same("paced actors", &case.actors(2, Some(1e9)), &expected);
}

/// The same grid with uplinks, narrow enough to matter.
fn with_uplinks(mut case: GridCase, bits: &[u64]) -> GridCase {
    // None, so narrow that a link of the case is not, wide.
    let choices = [None, Some(2_000_000), Some(1_000_000_000)];
    let bandwidth = |bits: &u64| choices[*bits as usize % 3].map(Bandwidth::from_bits);
    case.spec.network.uplinks = bits.iter().map(bandwidth).collect();
    case
}

/// The same grid without a broker: nobody waits for anybody.
fn alone(mut case: GridCase) -> GridCase {
    case.spec.broker = None;
    case.portal.clear();
    case
}

proptest! {
    #![proptest_config(crate::support::cases(120))]

    #[test]
    fn windows_change_no_record(case in grouped_grids(), ends in any::<u64>(), lag in 0_u64..100_000_000) {
        all_windows(&case, ends, lag);
        all_windows(&alone(case), ends, lag);
    }

    #[test]
    fn windows_change_no_record_of_jobs_with_limits_on_machines_with_loads(
        case in grouped_grids(),
        ends in any::<u64>(),
        lag in 0_u64..100_000_000,
    ) {
        let case = case.limited().loaded();
        all_windows(&case, ends, lag);
        all_windows(&alone(case), ends, lag);
    }

    #[test]
    fn windows_change_no_record_where_forecasts_are_believed(
        case in grouped_grids(),
        within in 1_u64..200,
        ends in any::<u64>(),
        lag in 0_u64..100_000_000,
    ) {
        all_windows(&case.believing_forecasts(within), ends, lag);
    }

    #[test]
    fn windows_change_no_record_with_uplinks(
        case in grouped_grids(),
        bits in proptest::collection::vec(0_u64..3, 4),
        ends in any::<u64>(),
        lag in 0_u64..100_000_000,
    ) {
        all_windows(&with_uplinks(case, &bits), ends, lag);
    }
}

proptest! {
    // Threads that wait for each other take their time.
    #![proptest_config(crate::support::cases(25))]

    #[test]
    fn actors_change_no_record(case in grouped_grids()) {
        all_actors(&case);
        all_actors(&alone(case));
    }
}
