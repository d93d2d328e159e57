//! Parses arbitrary bytes as GWF and checks that there is no panic and that what is read are valid workflows.
//!
//! `cargo +nightly fuzz run gwf corpus/gwf seeds/gwf`
#![no_main]

use std::io::Cursor;

use gridemu::formats::gwf;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    if let Ok(read) = gwf::read("fuzz", Box::new(Cursor::new(bytes.to_vec()))) {
        assert!(read.workflows.iter().all(|(_, workflow)| workflow.draft().build().is_ok()));
    }
});
