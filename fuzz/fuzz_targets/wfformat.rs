//! `cargo +nightly fuzz run wfformat corpus/wfformat seeds/wfformat`
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| gridemu_fuzz::targets::wfformat(bytes));
