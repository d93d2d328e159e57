//! `cargo +nightly fuzz run series corpus/series seeds/series`
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| gridemu_fuzz::targets::series(bytes));
