//! Whatever drives a grid, and however fast, the same records in the same order, and the same end.

use gridemu::grid::WindowOptions;
use gridemu::units::Span;
use proptest::prelude::*;

use crate::grids::{GridCase, GridRan, grids, random_ends};

/// Both are the same; else the first difference.
#[track_caller]
fn same(how: &str, found: &GridRan, expected: &GridRan) {
    if let Some(at) = found.records.iter().zip(&expected.records).position(|(a, b)| a != b) {
        panic!("{how}: record {at}\n{:#?}\nis not\n{:#?}", found.records[at], expected.records[at]);
    }
    assert_eq!(found.result, expected.result, "{how}");
    assert_eq!((found.records.len(), found.end), (expected.records.len(), expected.end), "{how}");
}

/// Runs it in all ways.
fn all_ways(case: &GridCase, ends: u64, lag: u64) {
    let expected = case.stepwise();
    same("windows", &case.windows(WindowOptions::default()).0, &expected);
    let blind = WindowOptions { promises: false, ..WindowOptions::default() };
    same("windows without promises", &case.windows(blind).0, &expected);
    let random = WindowOptions {
        ends: Some(random_ends(ends)),
        lag: (lag > 0).then(|| Span::from_micros(lag)),
        ..WindowOptions::default()
    };
    same("random windows", &case.windows(random).0, &expected);
    for threads in [1, 2, 8] {
        same(&format!("actors on {threads} threads"), &case.actors(threads, None), &expected);
    }
    same("paced actors", &case.actors(2, Some(1e9)), &expected);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(150))]

    #[test]
    fn every_engine_leaves_the_same_records(case in grids(), ends in any::<u64>(), lag in 0_u64..100_000_000) {
        all_ways(&case, ends, lag);
    }

    /// Without a broker there is nobody to wait for, and nothing else changes.
    #[test]
    fn sites_alone_leave_the_same_records(case in grids(), ends in any::<u64>()) {
        let mut case = case;
        case.spec.broker = None;
        case.portal.clear();
        all_ways(&case, ends, 0);
    }
}
