//! Parses arbitrary bytes as a Batsim workload and checks that there is no panic and that jobs are valid.
//!
//! `cargo +nightly fuzz run batsim_json corpus/batsim_json seeds/batsim_json`
#![no_main]

use std::io::Cursor;

use gridemu::formats::batsim;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    if let Ok(workload) = batsim::read("fuzz", Box::new(Cursor::new(bytes.to_vec()))) {
        assert!(workload.jobs.iter().all(|job| job.check().is_ok()));
    }
});
