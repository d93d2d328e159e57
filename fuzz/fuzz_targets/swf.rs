//! `cargo +nightly fuzz run swf corpus/swf seeds/swf`
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| gridemu_fuzz::targets::swf(bytes));
