//! When an arriving job could start, where running jobs shrink for it: cases worked by hand, and what happens then.

use gridemu::local::Registry;
use gridemu::model::{Job, SiteSpec, Speedup};
use gridemu::units::Time;
use proptest::prelude::*;

use crate::driver::{Driver, Script};
use crate::support::{With, job, run, site};

/// By the partition at an instant, in seconds: up to so many processors start then.
fn estimates(spec: &SiteSpec, jobs: &[Job], secs: u64) -> Vec<(u32, f64)> {
    let registry = Registry::standard();
    let mut driver = Driver::new(&registry, spec, jobs, &Script::default());
    let steps = driver.until(secs).partition.start_estimates(Time::from_secs(secs)).steps;
    steps.into_iter().map(|(procs, time)| (procs, rounded(time))).collect()
}

/// In seconds, to thousandths: what is left of a job that is resized is rounded up to a microsecond.
fn rounded(time: Time) -> f64 {
    (time.as_secs_f64() * 1e3).round() / 1e3
}

/// All 64 processors are held by a job that may shrink to 16. Each interval of 300 s halves what it has above that: 40, 28, 22, 19, 17, 16.
#[test]
fn a_job_that_can_shrink_makes_room() {
    let jobs = [job(1, 0, 64, 1_000).malleable(16, 64, Speedup::Linear)];
    let spec = |more: &str| site(64, &format!("gang[variant=fcfs-wa,level=1,slice=none{more}]"));
    // After 300 s at full rate 700 are left, and after intervals on 40, 28, 22, 19 and 17 processors 109.375, which take four times as long on 16.
    let told = [(16, 300.0), (32, 600.0), (64, 1_800.0 + 437.5)];
    assert_eq!(estimates(&spec(""), &jobs, 10), told);
    for (procs, start) in told {
        let ran = run(&spec(""), &[jobs[0].clone(), job(2, 11, procs, 500)]);
        assert_eq!(ran.job(2).start.map(rounded), Some(start), "and so it is");
    }
    // At each event, 40 are left as soon as a job comes, and nothing else happens before the end: 990 s take 1,584 on 40 of 64.
    assert_eq!(estimates(&spec(",resizes=event"), &jobs, 10), [(16, 10.0), (64, 1_594.0)]);
    // With slices of 8 s, at the first end of one.
    let sliced = site(64, "gang[variant=fcfs-wa,level=1,slice=8 s]");
    assert_eq!(estimates(&sliced, &jobs, 10)[..2], [(16, 304.0), (32, 600.0)]);
    // Of jobs that cannot shrink, and where sizes do not follow the load, the end counts.
    assert_eq!(estimates(&spec(""), &[job(1, 0, 64, 1_000)], 10), [(64, 1_000.0)]);
    assert_eq!(estimates(&site(64, "gang[variant=fcfs,level=1,slice=none]"), &jobs, 10), [(64, 1_000.0)]);
}

/// Two jobs on each of 64 processors, of which one may shrink. The other has half of the time, and ends at 800.
#[test]
fn it_makes_room_in_its_slot() {
    let jobs = [job(1, 0, 64, 5_000).malleable(16, 64, Speedup::Linear), job(2, 0, 64, 400)];
    let spec = site(64, "gang[variant=fcfs-wa,level=2,slice=none]");
    let told = [(16, 300.0), (32, 600.0), (64, 800.0)];
    assert_eq!(estimates(&spec, &jobs, 10), told);
    for (procs, start) in told {
        let ran = run(&spec, &[jobs[0].clone(), jobs[1].clone(), job(3, 11, procs, 500)]);
        assert_eq!(ran.job(3).start.map(rounded), Some(start));
    }
}

/// Rigid and malleable jobs that fit on 32 processors beside each other: kind, processors, the least of them, run time.
fn running() -> impl Strategy<Value = Vec<Job>> {
    let one = (any::<bool>(), 1_u32..12, 1_u32..12, 100_u64..2_000);
    prop::collection::vec(one, 1..7).prop_map(|all| {
        let (mut left, mut jobs) = (32, Vec::new());
        for (id, (is_malleable, procs, least, runtime)) in (1..).zip(all) {
            if procs <= left {
                left -= procs;
                let rigid = job(id, 0, procs, runtime);
                jobs.push(if is_malleable {
                    rigid.malleable(least.min(procs), 32, Speedup::Linear)
                } else {
                    rigid
                });
            }
        }
        jobs
    })
}

proptest! {
    #![proptest_config(crate::support::cases(100))]

    /// If all jobs end when they are expected to, and none comes before, the estimate is the start.
    #[test]
    fn an_estimate_is_when_the_job_starts(jobs in running(), at in 1_u64..1_500, size in 0_u32..6) {
        // Between two reconfigurations.
        prop_assume!(at % 100 != 0);
        let (procs, spec) = (1 << size, site(32, "gang[variant=fcfs-wa,level=1,slice=none,reconfigure=100 s]"));
        let told = estimates(&spec, &jobs, at).into_iter().find(|(most, _)| *most >= procs).unwrap().1;
        let mut all = jobs;
        all.push(job(99, at, procs, 500));
        let start = run(&spec, &all).job(99).start.unwrap().as_secs_f64();
        prop_assert!((start - told).abs() < 2e-3, "told {told}, and it is {start}");
    }
}
