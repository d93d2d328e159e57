//! A program can distinguish the ways in which a run fails; the tests cause each of them once.

use std::path::Path;

use gridemu::entity::Address;
use gridemu::experiment::{Anew, Control, Progress, ReplayScenario, Run, RunError, RunErrorKind};
use gridemu::grid::Policies;
use gridemu::local::{Abilities, Actions, Change, LocalPolicy, PolicyInfo, View};
use gridemu::model::{JobKey, SiteId};
use gridemu::scenario::Override;
use gridemu::units::Time;

/// Does nothing, what cannot be, or worse.
#[derive(Clone, Copy, Debug)]
enum Bad {
    Idle,
    Twice,
    Panics,
}

impl LocalPolicy for Bad {
    fn on(&mut self, _: Change, _: &View<'_>) {}

    fn schedule(&mut self, _: &View<'_>, actions: &mut Actions) {
        match self {
            Self::Idle => {}
            Self::Twice => {
                actions.start(JobKey(0), 1);
                actions.start(JobKey(0), 1);
            }
            Self::Panics => panic!("out of tune"),
        }
    }

    fn adopt(&mut self, _: &View<'_>) {}
}

fn bad(name: &'static str, bad: Bad) -> PolicyInfo {
    PolicyInfo::new(name, move |_| Ok((Box::new(bad), Abilities::PLAIN)))
}

fn run(workload: &str, sets: &[&str]) -> Result<Run, RunError> {
    let mut policies = Policies::standard();
    for (name, kind) in [("idle", Bad::Idle), ("twice", Bad::Twice), ("panics", Bad::Panics)] {
        policies.local = policies.local.with(bad(name, kind));
    }
    let sets: Vec<Override> = sets.iter().map(|set| Override::set(set)).collect();
    ReplayScenario::new(workload.parse().unwrap()).run(&sets, &policies)
}

fn fails(workload: &str, sets: &[&str]) -> RunError {
    run(workload, sets).unwrap().run(&Progress::default()).expect_err("it does not end well")
}

const FIVE: &str = "poisson[jobs=5,every=1 min,size=1,runtime=1 h,procs=4]";

#[test]
fn what_makes_no_sense_is_a_bad_request() {
    let error = run(FIVE, &["site.site.policy=esy"]).expect_err("there is none such");
    assert!(matches!(error.kind, RunErrorKind::Request), "{error:?}");
    assert_eq!(error.exit_code(), 2);
}

#[test]
fn jobs_that_nothing_starts_leave_a_run_stuck() {
    for engine in ["direct", "actors"] {
        let error = fails(FIVE, &["site.site.policy=idle", &format!("engine={engine}")]);
        let RunErrorKind::Stuck { at, jobs: 5 } = &error.kind else { panic!("{error:?}") };
        assert!(*at > Time::ZERO && error.problem.contains("5 jobs are left"), "{error}");
        assert_eq!(error.exit_code(), 1);
    }
}

#[test]
fn a_policy_that_wants_what_cannot_be_is_told_by_name() {
    for engine in ["direct", "actors"] {
        let error = fails(FIVE, &["site.site.policy=twice", &format!("engine={engine}")]);
        assert!(matches!(error.kind, RunErrorKind::Policy), "{error:?}");
        assert!(error.to_string().contains("twice"), "{error}");
    }
}

#[test]
fn a_panic_is_told_by_name() {
    let error = fails(FIVE, &["site.site.policy=panics", "engine=actors"]);
    let RunErrorKind::Panicked { entity, message, .. } = &error.kind else { panic!("{error:?}") };
    assert_eq!((*entity, &**message), (Address::Site(SiteId(0)), "out of tune"));
}

#[test]
fn a_workload_that_breaks_off_is_told_apart() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("cut.swf");
    let row = |at: u64| format!("{at} {at} -1 10 1 -1 -1 1 10 -1 1 1 1 1 1 1 -1 -1\n");
    let rows: String = (1..4_000).map(row).collect();
    let packed = crate::cli::gzipped(format!("; MaxProcs: 4\n{rows}").as_bytes());
    std::fs::write(&path, &packed[..packed.len() / 2]).unwrap();
    let error = fails(path.to_str().unwrap(), &[]);
    assert!(matches!(error.kind, RunErrorKind::Workload), "{error:?}");
    assert!(error.hint().is_some_and(|hint| hint.contains("cut short")), "{error:?}");
}

#[test]
fn a_disk_that_is_full_is_told_apart() {
    if !Path::new("/dev/full").exists() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    std::os::unix::fs::symlink("/dev/full", folder.path().join("jobs.csv")).unwrap();
    let out = format!("output.folder={}", folder.path().display());
    let error = fails(FIVE, &[&out]);
    assert!(matches!(error.kind, RunErrorKind::Output), "{error:?}");
}

#[test]
fn a_run_that_was_stopped_says_where() {
    let folder = tempfile::tempdir().unwrap();
    let store = format!("checkpoint.store={}", folder.path().join("store").display());
    let control = Control::new();
    control.stop();
    let run = run(FIVE, &[&store]).unwrap();
    let ran = run.run_with_snapshots(&Progress::default(), &control, Anew::Refuse, None);
    let error = ran.expect_err("it was asked to stop");
    let RunErrorKind::Stopped { at: Some(_) } = &error.kind else { panic!("{error:?}") };
    assert_eq!(error.exit_code(), 130);
}

#[test]
#[cfg(unix)]
fn a_workload_that_can_be_read_only_once_is_not_run_twice() {
    let folder = tempfile::tempdir().unwrap();
    let pipe = folder.path().join("jobs.swf");
    assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let written = pipe.clone();
    let writer = std::thread::spawn(move || {
        let jobs = "; MaxProcs: 4\n1 0 0 60 4 -1 -1 4 60 -1 1 1 1 -1 -1 -1 -1 -1\n";
        std::fs::write(written, jobs).unwrap();
    });
    let run = run(pipe.to_str().unwrap(), &[]).unwrap();
    let summary = run.run(&Progress::default()).unwrap();
    writer.join().unwrap();
    assert_eq!(summary.submitted, 1);
    let error = run.clone().run(&Progress::default()).expect_err("it has been read");
    assert!(matches!(error.kind, RunErrorKind::Request), "{error:?}");
    assert_eq!(error.to_string(), "jobs.swf cannot be read twice, as a second run needs");
}
