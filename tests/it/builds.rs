//! Settings that every build of this crate must have, whatever its profile.

use std::hint::black_box;
use std::panic::catch_unwind;

#[test]
fn a_sum_that_does_not_fit_panics() {
    let panics = |sum: fn() -> u64| catch_unwind(sum).is_err();
    assert!(panics(|| black_box(u64::MAX) + 1));
    assert!(panics(|| black_box(0) - 1));
    assert!(panics(|| black_box(u64::MAX) * 2));
}

/// The tests are seldom run with optimisation: the file says what releases are built with.
#[test]
fn releases_check_their_sums() {
    let manifest: toml::Table = include_str!("../../Cargo.toml").parse().unwrap();
    let profile = |name: &str| manifest["profile"][name].as_table().unwrap().clone();
    assert_eq!(profile("release").get("overflow-checks"), Some(&true.into()));
    for (name, of) in [("dist", "release"), ("profiling", "release")] {
        assert_eq!(profile(name)["inherits"].as_str(), Some(of));
        assert_eq!(profile(name).get("overflow-checks"), None);
    }
}
