//! Parses arbitrary bytes as WfFormat and checks that there is no panic and that what is read is written and read back.
//!
//! `cargo +nightly fuzz run wfformat corpus/wfformat seeds/wfformat`
#![no_main]

use std::io::Cursor;

use gridemu::formats::wfformat;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    if let Ok(read) = wfformat::read("fuzz", Box::new(Cursor::new(bytes.to_vec()))) {
        let mut written = Vec::new();
        wfformat::write(&read.workflow, &mut written).unwrap();
        let again = wfformat::read("again", Box::new(Cursor::new(written))).unwrap();
        assert!(again.workflow.draft().tasks == read.workflow.draft().tasks);
    }
});
