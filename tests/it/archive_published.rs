//! Outcomes that other simulators published, to their digits and start by start, if the files are at hand (see `archive_swf`).

use std::collections::BTreeMap;
use std::fs::File;
use std::path::{Path, PathBuf};

use flate2::read::GzDecoder;
use gridemu::experiment::{Progress, Replay, ReplayOptions, Workload};
use gridemu::formats::swf::Clean;
use gridemu::local::Registry;
use gridemu::metrics::RunSummary;
use gridemu::model::InstantOrder;
use serde::Deserialize;

use crate::archive_swf::data;
use crate::validating::legal;

/// One pass an event on `file`, under one policy.
pub(crate) fn replay(file: PathBuf, change: impl FnOnce(&mut ReplayOptions), policy: &str) -> RunSummary {
    let mut options = ReplayOptions::new(Workload::File(file), vec![policy.parse().unwrap()]);
    options.order = InstantOrder::Event;
    change(&mut options);
    let replay = Replay::new(options, Registry::standard()).unwrap();
    replay.run(&replay.policies()[0], &Progress::default()).unwrap()
}

/// A row of `jobs.csv`.
#[derive(Debug, Deserialize)]
pub(crate) struct Row {
    pub(crate) job: u64,
    pub(crate) submit: f64,
    pub(crate) start: f64,
    pub(crate) end: f64,
    pub(crate) procs: u32,
    pub(crate) outcome: String,
}

pub(crate) fn rows(folder: &Path) -> BTreeMap<u64, Row> {
    let mut table = csv::Reader::from_path(folder.join("jobs.csv")).unwrap();
    table.deserialize::<Row>().map(|row| row.unwrap()).map(|row| (row.job, row)).collect()
}

const KTH_OF_THE_STUDY: &str = "reference/predictsim-KTH-SP2-input-log.swf.gz";

/// Gaussier, Glesser, Reis and Trystram, "Improving backfilling by using machine learning to predict running times", SC 2015:
/// the log as they cleaned it, bound of the slowdown 10 s, all jobs.
#[test]
fn the_digits_of_the_study_on_predicted_run_times() {
    let Some(data) = data() else { return };
    // Policy, estimates; mean bounded slowdown and mean response with as many decimals as are published.
    let published = [
        ("easy", "log", ("92.57653973", 8), Some("15696.798181")),
        ("easy", "exact", ("71.72", 2), None),
        ("easy[order=sjf]", "log", ("69.40540058", 8), Some("14764.002668")),
        ("easy[order=sjf]", "exact", ("49.84771893", 8), Some("14295.946842")),
    ];
    for (policy, estimates, (slowdown, digits), response) in published {
        let change = |options: &mut ReplayOptions| {
            options.shaping.clean = Clean::Strict;
            options.shaping.procs = Some(100);
            options.shaping.estimates = estimates.parse().unwrap();
        };
        let run = replay(data.join(KTH_OF_THE_STUDY), change, policy);
        let told = format!("{policy}, estimates {estimates}");
        assert_eq!((run.measures.jobs, run.measures.measured), (28_481, 28_481), "{told}");
        let found = run.measures.mean_bounded_slowdown.unwrap();
        assert_eq!(format!("{found:.digits$}"), slowdown, "{told}");
        if let Some(response) = response {
            assert_eq!(format!("{:.6}", run.measures.mean_response.unwrap()), response, "{told}");
        }
        if (policy, estimates) == ("easy", "log") {
            assert_eq!(format!("{:.1}", run.measures.max_bounded_slowdown.unwrap()), "14805.2");
            assert_eq!(run.measures.max_response, Some(309_231.0));
        }
    }
}

/// pyss, EASY with the log's estimates on KTH-SP2-1996-2.1-cln.
#[test]
fn every_start_on_kth_sp2_is_that_of_pyss() {
    #[derive(Debug, Deserialize)]
    struct Theirs {
        job_id: u64,
        submit: u64,
        start: u64,
        end: u64,
        procs: u32,
    }
    let Some(data) = data() else { return };
    let folder = tempfile::tempdir().unwrap();
    let change = |options: &mut ReplayOptions| options.out = Some(folder.path().to_owned());
    replay(data.join("swf/KTH-SP2-1996-2.1-cln.swf.gz"), change, "easy");
    legal(folder.path());
    let ours = rows(folder.path());
    let first = ours.values().map(|row| row.submit).fold(f64::INFINITY, f64::min);
    let file = File::open(data.join("reference/kth-sp2-easy-schedule.csv.gz")).unwrap();
    let mut table = csv::Reader::from_reader(GzDecoder::new(file));
    let mut jobs = 0;
    for theirs in table.deserialize::<Theirs>() {
        let theirs = theirs.unwrap();
        let row = &ours[&theirs.job_id];
        let shifted = [row.submit, row.start, row.end].map(|time| time - first);
        let expected = [theirs.submit, theirs.start, theirs.end].map(|time| time as f64);
        assert_eq!((shifted, row.procs), (expected, theirs.procs), "job {}", theirs.job_id);
        jobs += 1;
    }
    assert_eq!((jobs, ours.len()), (28_467, 28_467));
}
