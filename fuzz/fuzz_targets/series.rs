//! Reads arbitrary bytes as prices over time, and checks that there is no panic, and that steps are in order and within reason.
//!
//! `cargo +nightly fuzz run series corpus/series seeds/series`
#![no_main]

use std::io::Cursor;

use gridemu::formats::series::{SeriesOptions, Unit, read};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let unit = Unit::price("EUR/MWh").expect("it is a unit");
    let zone = "Europe/Brussels".parse().expect("it is a zone");
    let options = SeriesOptions { time: None, column: None, unit, zone };
    let Ok(series) = read("fuzzed", Box::new(Cursor::new(bytes.to_vec())), &options) else { return };
    assert!(series.steps[0].0.is_zero() && series.steps.is_sorted_by(|a, b| a.0 < b.0));
    assert!(series.steps.iter().all(|(_, value)| value.abs() <= 100_000_000_000_000));
    assert!(series.facts.rows >= series.steps.len() as u64);
    series.facts.warnings();
});
