//! Parses arbitrary bytes as DAX and checks that there is no panic and that what is read is a valid workflow.
//!
//! `cargo +nightly fuzz run dax corpus/dax seeds/dax`
#![no_main]

use std::io::Cursor;

use gridemu::formats::dax;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    if let Ok(read) = dax::read("fuzz", Box::new(Cursor::new(bytes.to_vec()))) {
        assert!(read.workflow.draft().build().is_ok());
    }
});
