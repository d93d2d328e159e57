//! `cargo +nightly fuzz run answers corpus/answers seeds/answers`
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| gridemu_fuzz::targets::answers(bytes));
