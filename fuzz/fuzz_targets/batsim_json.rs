//! `cargo +nightly fuzz run batsim_json corpus/batsim_json seeds/batsim_json`
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| gridemu_fuzz::targets::batsim_json(bytes));
