//! `cargo +nightly fuzz run cwf corpus/cwf seeds/cwf`
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| gridemu_fuzz::targets::cwf(bytes));
