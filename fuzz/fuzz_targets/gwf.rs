//! `cargo +nightly fuzz run gwf corpus/gwf seeds/gwf`
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| gridemu_fuzz::targets::gwf(bytes));
