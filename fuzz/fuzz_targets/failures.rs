//! Reads arbitrary bytes as a trace of failures, and checks that there is no panic, and that outages are in order and apart.
//!
//! `cargo +nightly fuzz run failures corpus/failures seeds/failures`
#![no_main]

use std::io::Cursor;

use gridemu::formats::failures::{FailureOptions, read};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    for system in [None, Some(20)] {
        let options = FailureOptions { system, ..FailureOptions::default() };
        let Ok(of) = read("fuzzed", Box::new(Cursor::new(bytes.to_vec())), &options) else { continue };
        for node in 0..of.nodes.names().len() as u32 {
            let outages = of.nodes.of(node);
            assert!(outages.iter().all(|outage| outage.from < outage.to));
            assert!(outages.is_sorted_by(|a, b| a.to < b.from));
        }
        of.facts.line(&of.nodes, of.begin, of.end);
        of.facts.warnings();
    }
});
