//! `cargo +nightly fuzz run dax corpus/dax seeds/dax`
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| gridemu_fuzz::targets::dax(bytes));
