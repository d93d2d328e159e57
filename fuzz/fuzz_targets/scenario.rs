//! `cargo +nightly fuzz run scenario corpus/scenario seeds/scenario`
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| gridemu_fuzz::targets::scenario(bytes));
