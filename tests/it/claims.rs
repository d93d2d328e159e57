//! Reservations that are kept for a job, by hand.

use std::fs;

use gridemu::local::Registry;
use gridemu::model::{Outcome, SiteSpec};
use gridemu::units::Time;

use crate::cli::gridemu;
use crate::driver::{Act, Driver, Script};
use crate::support::{self, With, job, reserve_for, site};

const PLANNED: [&str; 4] = ["easy", "easy[order=lxf]", "conservative", "los"];

/// Ten processors. Job 1 has 6 until 80 s, and job 2 waits for 8. From 100 s on 6 are kept for job 3: job 2 would run into that, and job 3 starts at 100 s. It needs them for 60 of
/// the 100 s, and gives up the rest: job 2 starts at 160 s.
#[test]
fn a_job_starts_on_its_reservation_and_gives_up_the_rest() {
    let jobs = [job(1, 0, 6, 80), job(2, 10, 8, 50), job(3, 20, 6, 60)];
    for policy in PLANNED {
        let ran = support::run(&reserve_for(3, site(10, policy), 100, 200, 6), &jobs);
        assert_eq!([1, 2, 3].map(|id| ran.times(id)), [(0, 80), (160, 210), (100, 160)], "{policy}");
        // Six for 20 s before job 3 comes, and none after it.
        let late = [jobs[0].clone(), jobs[1].clone(), job(3, 120, 6, 60)];
        let ran = support::run(&reserve_for(3, site(10, policy), 100, 200, 6), &late);
        assert_eq!([1, 2, 3].map(|id| ran.times(id)), [(0, 80), (180, 230), (120, 180)], "{policy}");
        assert_eq!(ran.usage[0].reserved, 6 * 20_000_000 * support::SHARE, "{policy}");
    }
}

/// One that is too large for its reservation, or would not be over in time, queues like any other, and the reservation is given up at once.
#[test]
fn a_job_that_does_not_fit_queues() {
    for policy in PLANNED {
        let spec = reserve_for(2, site(10, policy), 100, 150, 6);
        for (procs, runtime) in [(7, 40), (6, 51)] {
            let ran = support::run(&spec, &[job(1, 0, 10, 20), job(2, 10, procs, runtime)]);
            assert_eq!(ran.times(2), (20, 20 + runtime), "{policy}");
            assert_eq!(ran.usage[0].reserved, 0, "{policy}");
        }
        // It itself requests a start at 120 s.
        let late = job(2, 10, 6, 30).from(120);
        let ran = support::run(&spec, &[job(1, 0, 10, 20), late]);
        assert_eq!((ran.times(2), ran.usage[0].reserved), ((120, 150), 0), "{policy}");
        // 40 s are left when it comes.
        let ran = support::run(&spec, &[job(2, 110, 6, 40)]);
        assert_eq!(ran.times(2), (110, 150), "{policy}");
    }
}

/// On a site that lets jobs overrun, job 1 has its reservation until 100 s, and works for 50 s more. It goes on there, and job 2, which was to start at 100 s, starts when it ends.
#[test]
fn a_job_that_overruns_its_reservation_goes_on() {
    let jobs = [job(1, 0, 6, 110).estimate(60), job(2, 10, 8, 50), job(3, 20, 2, 100)];
    for policy in PLANNED {
        let spec = SiteSpec { overrun: true, ..reserve_for(1, site(10, policy), 40, 100, 6) };
        let ran = support::run(&spec, &jobs);
        assert_eq!((ran.times(1), ran.times(2)), ((40, 150), (150, 200)), "{policy}");
    }
}

/// Job 1 loses machine 0 in its reservation. The rest of that is given up, and it waits in the queue: there is room for it at once on the others.
#[test]
fn a_job_that_loses_a_machine_loses_its_reservation() {
    for policy in PLANNED {
        let spec = reserve_for(1, site(10, policy), 10, 100, 4);
        let act = (Time::from_secs(30), Act::Leave([0].into_iter().collect()));
        let script = Script { acts: vec![act], ..Script::default() };
        let (ran, _) = Driver::new(&Registry::standard(), &spec, &[job(1, 0, 4, 60)], &script).run();
        let record = ran.job(1);
        assert_eq!((record.attempts, record.outcome), (2, Outcome::Completed), "{policy}");
        assert_eq!(record.end, Time::from_secs(90), "{policy}");
    }
}

/// Job 1 has 6 of 10 machines, of which 4 drain at 20 s: it goes on there, and job 2 gets the four that are left.
#[test]
fn a_job_whose_machines_drain_goes_on_like_any_other() {
    for policy in PLANNED {
        let spec = reserve_for(1, site(10, policy), 10, 100, 6);
        let act = (Time::from_secs(20), Act::Drain([0, 1, 2, 3].into_iter().collect()));
        let script = Script { acts: vec![act], ..Script::default() };
        let jobs = [job(1, 0, 6, 60), job(2, 30, 4, 50)];
        let (ran, _) = Driver::new(&Registry::standard(), &spec, &jobs, &script).run();
        assert_eq!((ran.times(1), ran.times(2)), ((10, 70), (30, 80)), "{policy}");
    }
}

/// One that is refused leaves nothing reserved.
#[test]
fn a_refused_job_forfeits_its_reservation() {
    let spec = reserve_for(1, site(10, "easy"), 50, 500, 6);
    let ran = support::run(&spec, &[job(1, 10, 60, 20), job(2, 20, 6, 100)]);
    assert_eq!(ran.times(2), (20, 120));
    assert!(matches!(ran.job(1).outcome, Outcome::Rejected(_)));
}

/// Four of five processors are enough for a job of four on a reservation of five.
#[test]
fn a_job_needs_no_more_than_its_own_processors() {
    let spec = reserve_for(1, site(6, "easy"), 10, 100, 6);
    let script = Script { down: [5].into_iter().collect(), ..Script::default() };
    let (ran, _) = Driver::new(&Registry::standard(), &spec, &[job(1, 0, 4, 50)], &script).run();
    assert_eq!(ran.times(1), (10, 60));
}

/// Cancelled before its time or in it, it gives its reservation up.
#[test]
fn a_cancelled_job_gives_its_reservation_up() {
    for (cancelled, starts) in [(50, 50), (120, 120)] {
        let spec = reserve_for(1, site(10, "easy"), 100, 200, 6);
        let act = (Time::from_secs(cancelled), Act::Cancel(1));
        let script = Script { acts: vec![act], ..Script::default() };
        let jobs = [job(1, 0, 6, 90), job(2, 10, 8, 95)];
        let (ran, _) = Driver::new(&Registry::standard(), &spec, &jobs, &script).run();
        assert_eq!((ran.job(1).outcome, ran.times(2).0), (Outcome::Cancelled, starts));
    }
}

/// The site of the first test as a user writes it.
const SCENARIO: &str = "\
[[site]]
name     = 'a'
policy   = 'easy'
machines = [{ class = 'node', count = 10 }]
workload = { log = 'jobs.swf' }

[[site.reservation]]
name  = 'demo'
procs = 6
from  = '100 s'
to    = '200 s'
job   = 3
";

const LOG: &str = "; MaxProcs: 10
1 0 -1 80 6 -1 -1 6 80 -1 1 1 1 1 1 1 -1 -1
2 10 -1 50 8 -1 -1 8 50 -1 1 1 1 1 1 1 -1 -1
3 20 -1 60 6 -1 -1 6 60 -1 1 1 1 1 1 1 -1 -1
";

#[test]
fn a_reservation_for_a_job_is_run_validated_and_explained() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    fs::write(path("jobs.swf"), LOG).unwrap();
    fs::write(path("run.toml"), SCENARIO).unwrap();
    let out = path("out");
    let ran = gridemu(&["run", &path("run.toml"), "--out", &out]);
    assert!(ran.well().out.contains("with --reserve 100..200:6:3\n"), "{}", ran.out);
    gridemu(&["validate", &out]).well();
    let jobs = fs::read_to_string(format!("{out}/jobs.csv")).unwrap();
    let same = path("same");
    let typed =
        ["replay", &path("jobs.swf"), "--policy", "easy", "--reserve", "100..200:6:3", "--out", &same];
    gridemu(&typed).well();
    let times = |jobs: &str| -> Vec<String> {
        jobs.lines().map(|row| row.split(',').take(5).collect::<Vec<_>>().join(" ")).collect()
    };
    assert_eq!(times(&fs::read_to_string(format!("{same}/jobs.csv")).unwrap()), times(&jobs));
    let told = |job: &str| {
        let ran = gridemu(&["explain", &out, "--job", job]);
        ran.well();
        ran.out.split_whitespace().collect::<Vec<_>>().join(" ")
    };
    let own = told("3");
    assert!(
        own.contains("the processors of reservation `demo` are kept for it, from 100 s to 200 s"),
        "{own}"
    );
    let other = told("2");
    assert!(other.contains("kept for job 3"), "{other}");
    for (from, to, says) in [
        (
            "workload = { log = 'jobs.swf' }",
            "",
            "kept for a job of the site's own workload, and the site has none",
        ),
        (
            "job   = 3",
            "job   = 3\n[[site.reservation]]\nname = 'again'\nprocs = 1\nfrom = '5 h'\nto = '6 h'\njob = 3",
            "another reservation of the partition is kept for job 3",
        ),
    ] {
        fs::write(path("bad.toml"), SCENARIO.replace(from, to)).unwrap();
        gridemu(&["check", &path("bad.toml")]).ends(2, &["bad.toml, line", says]);
    }
}
