//! IGD and IGD+.

use proptest::prelude::*;

use super::{cases, fine, flat, points};
use crate::search::{SearchError, igd, igd_plus};

#[test]
fn by_hand() {
    let front = flat(&[[0.0, 2.0], [2.0, 0.0]]);
    let found = flat(&[[3.0, 2.0], [2.0, 1.0]]);
    let (front, found) = (points(&front, 2), points(&found, 2));
    // To (0, 2) it is √5 from (2, 1), and 3 from the other; to (2, 0) it is 1.
    assert_eq!(igd(found, front).unwrap(), (5_f64.sqrt() + 1.0) / 2.0);
    // (2, 1) is better than (0, 2) in the second, so only the 2 in the first count.
    assert_eq!(igd_plus(found, front).unwrap(), 1.5);
    assert_eq!(igd(front, front).unwrap(), 0.0);
}

/// Ishibuchi's example of two sets: IGD prefers the one that is dominated, IGD+ does not.
#[test]
fn igd_may_prefer_what_is_dominated_and_igd_plus_does_not() {
    let front = flat(&[[0.0, 10.0], [1.0, 6.0], [2.0, 2.0], [6.0, 1.0], [10.0, 0.0]]);
    let (better, worse) =
        (flat(&[[2.0, 4.0], [3.0, 3.0], [4.0, 2.0]]), flat(&[[2.0, 8.0], [4.0, 4.0], [8.0, 2.0]]));
    let (front, better, worse) = (points(&front, 2), points(&better, 2), points(&worse, 2));
    assert!((igd(better, front).unwrap() - 3.707).abs() < 1e-3);
    assert!((igd(worse, front).unwrap() - 2.591).abs() < 1e-3);
    assert!((igd_plus(better, front).unwrap() - 1.483).abs() < 1e-3);
    assert!((igd_plus(worse, front).unwrap() - 2.260).abs() < 1e-3);
}

#[test]
fn sets_that_do_not_match() {
    let (two, three) = (points(&[1.0, 2.0], 2), points(&[1.0, 2.0, 3.0], 3));
    assert_eq!(igd(two, three), Err(SearchError::Objectives { what: "what was found", found: 2, wanted: 3 }));
    assert_eq!(igd(points(&[], 2), two), Err(SearchError::NoPoints("what was found")));
    assert_eq!(igd_plus(two, points(&[], 2)), Err(SearchError::NoPoints("the front")));
}

proptest! {
    #![proptest_config(cases(32))]

    /// IGD+ counts a part of what IGD counts, and gets no better when all points get worse.
    #[test]
    fn igd_plus_is_below_igd_and_falls_with_domination(found in fine(3, 10), front in fine(3, 10), by in 0.0..1.0) {
        let (found, front) = (points(&found, 3), points(&front, 3));
        prop_assume!(!found.is_empty() && !front.is_empty());
        let worse: Vec<f64> = found.values().iter().map(|value| value + by).collect();
        let got = igd_plus(found, front).unwrap();
        prop_assert!(got <= igd(found, front).unwrap());
        prop_assert!(got <= igd_plus(points(&worse, 3), front).unwrap());
    }
}
