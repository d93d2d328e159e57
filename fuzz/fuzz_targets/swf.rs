//! Parses arbitrary bytes as a log and checks that there is no panic, that jobs are in order, and that reading can continue from a
//! mark in the middle.
//!
//! `cargo +nightly fuzz run swf corpus/swf seeds/swf`
#![no_main]

use std::io::Cursor;

use gridemu::formats::swf::{SwfOptions, SwfSource};
use gridemu::units::Time;
use gridemu::workload::Source;
use libfuzzer_sys::fuzz_target;

fn open(bytes: &[u8]) -> Option<SwfSource> {
    let options = SwfOptions { feedback: true, partitions: true, ..SwfOptions::default() };
    SwfSource::open(Box::new(Cursor::new(bytes.to_vec())), options).ok()
}

fuzz_target!(|bytes: &[u8]| {
    let Some(mut source) = open(bytes) else { return };
    let mut last = Time::ZERO;
    let mut mark = None;
    let mut count = 0_u64;
    while let Ok(Some(job)) = source.next_job() {
        assert!(job.submit >= last && job.check().is_ok() && !job.runtime.is_zero());
        last = job.submit;
        count += 1;
        if count == 3 {
            mark = source.mark();
        }
    }
    if let Some(mark) = mark {
        let mut again = open(bytes).expect("it could be opened before");
        again.seek(&mark).expect("it is the same log");
        while let Ok(Some(_)) = again.next_job() {}
        assert_eq!(again.mark(), source.mark());
        assert_eq!(again.notes(), source.notes());
    }
});
