//! Results that other simulators published, reproduced to their last digit and start by start, if the files are available (see
//! `archive_swf`).

use std::collections::BTreeMap;
use std::fs::File;
use std::path::{Path, PathBuf};

use flate2::read::GzDecoder;
use gridemu::experiment::{Progress, ReplayScenario};
use gridemu::formats::swf::Clean;
use gridemu::grid::Policies;
use gridemu::metrics::GridSummary;
use gridemu::scenario::{Override, Shaping, Workload};
use serde::Deserialize;

use crate::archive_swf::data;
use crate::validating::legal;

/// One pass an event on `file`, under one policy.
pub(crate) fn replay(file: PathBuf, shaping: Shaping, policy: &str, more: &[String]) -> GridSummary {
    let replay = ReplayScenario { shaping, ..ReplayScenario::new(Workload::File(file)) };
    let fixed = [format!("site.site.policy={policy}"), "site.site.order=event".to_owned()];
    let sets: Vec<Override> = fixed.iter().chain(more).map(|set| Override::set(set)).collect();
    let run = replay.run(&sets, &Policies::standard()).unwrap();
    run.run(&Progress::default()).unwrap()
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
        let shaping = Shaping {
            clean: Clean::Strict,
            procs: Some(100),
            estimates: estimates.parse().unwrap(),
            ..Shaping::default()
        };
        let run = replay(data.join(KTH_OF_THE_STUDY), shaping, policy, &[]);
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
    let out = format!("output.folder={}", folder.path().display());
    replay(data.join("swf/KTH-SP2-1996-2.1-cln.swf.gz"), Shaping::default(), "easy", &[out]);
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
