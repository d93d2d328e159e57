//! Parses arbitrary bytes as a log in the cloud workload format and checks that there is no panic, that jobs are in order with
//! starts and commands after their submission, that streaming gives the same jobs as reading the whole log, and that reading can
//! continue from a mark in the middle.
//!
//! `cargo +nightly fuzz run cwf corpus/cwf seeds/cwf`
#![no_main]

use std::io::Cursor;

use gridemu::formats::swf::{SwfOptions, SwfSource};
use gridemu::model::Job;
use gridemu::units::Time;
use gridemu::workload::Source;
use libfuzzer_sys::fuzz_target;

fn options(once: bool) -> SwfOptions {
    SwfOptions { cwf: true, once, ..SwfOptions::default() }
}

fn input(bytes: &[u8]) -> Box<Cursor<Vec<u8>>> {
    Box::new(Cursor::new(bytes.to_vec()))
}

fn open(bytes: &[u8]) -> Option<SwfSource> {
    let commands = SwfSource::gather_commands(input(bytes), options(false)).ok()?;
    Some(SwfSource::open(input(bytes), options(false)).ok()?.with_commands(commands))
}

fn drain(source: &mut dyn Source) -> Vec<Job> {
    let mut jobs = Vec::new();
    while let Ok(Some(job)) = source.next_job() {
        jobs.push(job);
    }
    jobs
}

fuzz_target!(|bytes: &[u8]| {
    let Some(mut source) = open(bytes) else { return };
    let jobs = drain(&mut source);
    let mut last = Time::ZERO;
    for job in &jobs {
        assert!(job.submit >= last && job.check().is_ok() && !job.runtime.is_zero());
        assert!(job.requested_start.is_none_or(|start| start >= job.submit));
        let commands = job.elastic.as_deref().unwrap_or_default();
        assert!(commands.iter().all(|command| command.at >= job.submit));
        assert!(commands.is_sorted_by_key(|command| command.at));
        last = job.submit;
    }
    let whole = SwfSource::open(input(bytes), options(true)).expect("it could be opened before");
    let mut whole = whole.into_jobs().expect("it could be read before");
    assert_eq!(whole.notes(), source.notes());
    assert_eq!(drain(&mut whole), jobs);
    let mut half = open(bytes).expect("it could be opened before");
    (0..jobs.len() / 2).for_each(|_| drop(half.next_job()));
    let mark = half.mark().expect("it can be opened again");
    let mut again = open(bytes).expect("it could be opened before");
    again.seek(&mark).expect("it is the same log");
    assert_eq!(drain(&mut again), jobs[jobs.len() / 2..]);
});
