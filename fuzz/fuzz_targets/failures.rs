//! `cargo +nightly fuzz run failures corpus/failures seeds/failures`
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| gridemu_fuzz::targets::failures(bytes));
