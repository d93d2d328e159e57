//! The jobs whose waits differ most between two runs.

use serde::{Deserialize, Serialize};

use super::jobs::{JobOutcome, Pair};

/// A job whose wait changed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct JobChange {
    /// The number of the job.
    pub job: u64,
    /// Its origin.
    pub origin: String,
    /// Its class.
    pub class: String,
    /// Time of its submission, in seconds.
    pub submit_s: f64,
    /// Requested processors.
    pub procs: u32,
    /// Its run time, in seconds.
    pub run_s: f64,
    /// Its wait in the baseline, in seconds.
    pub baseline_wait_s: f64,
    /// Its wait in the variant, in seconds.
    pub variant_wait_s: f64,
}

/// The jobs whose waits decreased most, and those whose waits increased most.
pub(super) fn changes(pairs: &[Pair<'_>], top: usize) -> (Vec<JobChange>, Vec<JobChange>) {
    let change = |pair: &Pair<'_>| {
        let wait = |job: &JobOutcome| Some(job.start?.since(job.ready).as_secs_f64());
        Some(JobChange {
            job: pair.a.job,
            origin: pair.a.origin.name().to_owned(),
            class: pair.a.class.to_string(),
            submit_s: pair.a.submit.as_secs_f64(),
            procs: pair.a.procs,
            run_s: pair.a.run.as_secs_f64(),
            baseline_wait_s: wait(pair.a)?,
            variant_wait_s: wait(pair.b)?,
        })
    };
    // Only the listed jobs become rows: a log has millions of jobs.
    let wait = |job: &JobOutcome| Some(i128::from(job.start?.since(job.ready).micros()));
    let by = |(at, pair): (usize, &Pair<'_>)| Some((wait(pair.b)? - wait(pair.a)?, at));
    let mut order: Vec<(i128, usize)> = pairs.iter().enumerate().filter_map(by).collect();
    order.sort_unstable();
    let row = |(_, at): &(i128, usize)| change(&pairs[*at]);
    let gained = order.iter().take(top).take_while(|(by, _)| *by < 0).filter_map(row).collect();
    let lost = order.iter().rev().take(top).take_while(|(by, _)| *by > 0).filter_map(row).collect();
    (gained, lost)
}
