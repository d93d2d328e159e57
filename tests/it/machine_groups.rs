//! Partitions of several groups of machines.

use std::fs;

use gridemu::broker::{Pool, PoolFacts, PoolGroup, Rates, Task};
use gridemu::model::{
    CommandRefusal, Elastic, Equipment, GridContext, Job, MachineGroup, PartitionSpec, PlacementRule, PoolId,
    SiteSpec, Speedup, TaskContext, TaskTimes,
};
use gridemu::units::{Power, Price, Rate, Span};

use crate::cli::gridemu;
use crate::elastic::{refused, with};
use crate::support::{Law, Ran, With, check, job, reserve, run, site};

/// Machines 0 to 3 of speed 1, and 4 and 5 of speed 2, under EASY.
fn two_groups(placement: PlacementRule) -> SiteSpec {
    let mut spec = site(4, "easy");
    let fast = MachineGroup { speed: Rate::ratio(2, 1), ..MachineGroup::plain("new", 2) };
    spec.partitions[0].groups.push(fast);
    SiteSpec { placement, ..spec }
}

fn lawful(spec: &SiteSpec, jobs: &[Job]) -> Ran {
    let ran = run(spec, jobs);
    check(spec, jobs, &ran, Law::default());
    ran
}

/// Plans count on the slowest machines, and jobs run at the speed of the slowest that they got. Job 1 gets the fast ones and ends at 50, not at
/// 100. At 50 job 4, which is expected until 100, may run before job 3, which can start at 101; at 75 job 5 may not: it is expected
/// until 119, although it would end at 97. Job 3 takes the fast ones and three slow ones, so all are slow.
#[test]
fn estimates_count_on_the_slowest_machines() {
    let jobs = [job(1, 0, 2, 100), job(2, 1, 4, 100), job(3, 2, 5, 60), job(4, 3, 2, 50), job(5, 4, 2, 44)];
    let ran = lawful(&two_groups(PlacementRule::Fastest), &jobs);
    let times = [1, 2, 3, 4, 5].map(|id| ran.times(id));
    assert_eq!(times, [(0, 50), (1, 101), (101, 161), (50, 75), (161, 183)]);
    // Run times and estimates of records are those on the slowest machines.
    let secs = Span::from_secs;
    assert_eq!((ran.job(1).run, ran.job(1).estimate), (secs(100), secs(100)));
    let on = |id| ran.segments().find(|segment| segment.job.0 == id).expect("it ran");
    assert_eq!((on(1).procs.to_string().as_str(), on(1).rate), ("4-5", Rate::ratio(2, 1)));
    assert_eq!((on(3).procs.to_string().as_str(), on(3).rate), ("0-2 4-5", Rate::FULL));
    // With the lowest numbers first, job 1 takes slow ones and job 2 slow and fast ones.
    let ran = lawful(&two_groups(PlacementRule::Lowest), &jobs[..2]);
    assert_eq!([ran.times(1), ran.times(2)], [(0, 100), (1, 101)]);
}

/// On the two fast processors the job would end at 50. At 5 it gets a slow one too: the 90 s of work that are left run at 3/2 × 1, to 65. Not
/// if two processors are reserved from 55 on: it would keep three of four until then.
#[test]
fn a_job_that_grows_onto_slow_machines_gets_slower() {
    let mut spec = two_groups(PlacementRule::Fastest);
    spec.partitions[0].groups[0].machines = 2;
    spec.policy = "easy-e".parse().unwrap();
    let grows = with(job(1, 0, 2, 100).malleable(2, 4, Speedup::Linear), &[(5, Elastic::ExtendProcs(1))]);
    assert_eq!(lawful(&spec, std::slice::from_ref(&grows)).times(1), (0, 65));
    let spec = reserve(spec, "class", 55, 60, 2);
    let ran = lawful(&spec, &[grows]);
    assert_eq!((ran.times(1), refused(&ran)), ((0, 50), vec![CommandRefusal::NoRoom]));
}

/// The second group is the fastest, the third the cheapest; the first needs 10 W a core for speed 1, the second 30 W for speed 2, the third 9 W
/// for half of it.
#[test]
fn groups_are_ranked() {
    let group = |speed: (u64, u64), watts: u64, price: u64| MachineGroup {
        speed: Rate::ratio(speed.0, speed.1),
        busy: Power::from_milliwatts(watts * 1_000),
        price: Price::from_nanos(price),
        ..MachineGroup::plain("any", 1)
    };
    let groups = vec![group((1, 1), 10, 5), group((2, 1), 30, 5), group((1, 2), 9, 1), group((2, 1), 20, 7)];
    let spec = PartitionSpec { groups, ..PartitionSpec::plain(1) };
    use PlacementRule::{Cheapest, Fastest, LeastPower, Lowest};
    let ranked = [Lowest, Fastest, Cheapest, LeastPower].map(|rule| rule.ranked(&spec));
    assert_eq!(ranked, [[0, 1, 2, 3], [1, 3, 0, 2], [2, 0, 1, 3], [0, 3, 1, 2]]);
}

/// Of 16 processors 4 are of speed 2, which are given first. A job of 4 would get these and take 30 s; with two of them taken, or a job of two on
/// its way, it would get slow ones too, and where it has to wait nobody knows. The estimate of plans is that on slow ones. A task that takes
/// 20 s on the slow ones by its table of classes takes 10 s on the fast ones.
#[test]
fn the_broker_expects_the_speed_that_a_job_would_get_now() {
    let group = |processors, speed| PoolGroup { processors, speed: Rate::ratio(speed, 1) };
    let facts = PoolFacts {
        id: PoolId::default(),
        site: "delft".to_owned(),
        partition: "batch".to_owned(),
        processors: 16,
        allocation_unit: 1,
        cores: 1,
        equipment: Equipment::default(),
        speed: Rate::FULL,
        groups: vec![group(4, 2), group(12, 1)],
        idle: Power::ZERO,
        busy: Power::ZERO,
        pue_ppm: 1_000_000,
        rates: Rates::default(),
        latency: Span::ZERO,
        bandwidth: None,
    };
    let pool = Pool::unreported(facts);
    let four = job(1, 0, 4, 60);
    let secs = |pool: &Pool, job: &Job| pool.run_now(&Task::new(job, &[])).as_secs_f64();
    assert_eq!((secs(&pool, &four), secs(&pool, &job(2, 0, 5, 60))), (30.0, 60.0));
    assert_eq!(pool.run_of(&Task::new(&four, &[])), Span::from_secs(60));
    let mut taken = pool.clone();
    (taken.report.free, taken.report.free_by_group) = (14, vec![2, 12]);
    assert_eq!((secs(&taken, &four), secs(&taken, &job(2, 0, 2, 60))), (60.0, 30.0));
    let mut ahead = pool.clone();
    ahead.in_flight.procs = 2;
    assert_eq!((secs(&ahead, &four), secs(&ahead, &job(2, 0, 2, 60))), (60.0, 30.0));
    let mut queue = pool.clone();
    queue.report.waiting = 1;
    assert_eq!(secs(&queue, &four), 60.0);
    let mut task = four.clone();
    let times = TaskTimes { runtime: Span::from_secs(20), estimate: Span::from_secs(20) };
    let context = TaskContext { by_class: [("batch".to_owned(), times)].into(), ..TaskContext::default() };
    task.grid = Some(Box::new(GridContext { task: Some(Box::new(context)), ..GridContext::default() }));
    assert_eq!((secs(&pool, &task), secs(&queue, &task)), (10.0, 20.0));
}

const SITE: &str = "[[site]]\nname = \"ada\"\n";

fn told(more: &str, says: &str, code: i32) {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("run.toml");
    fs::write(&file, format!("{SITE}{more}\n")).unwrap();
    gridemu(&["check", file.to_str().unwrap()]).ends(code, &[says]);
}

#[test]
fn mistakes_in_partitions_are_told_with_their_place() {
    let classes = |a: &str, b: &str| {
        format!("machines = [{{ class = \"a\", count = 4, {a} }}, {{ class = \"b\", count = 2, {b} }}]")
    };
    let both = r#"partition = "batch""#;
    for (a, b, says) in [
        (
            "partition = \"batch\", cores = 2",
            both,
            "`site.ada.machines[1].cores`: the machines of a partition have the same `cores`: 1 here, 2 in `a`, the first class of `batch`",
        ),
        (
            both,
            "partition = \"batch\", allocation_unit = 2",
            "`site.ada.machines[1].allocation_unit`: the machines of a partition have the same `allocation_unit`: 2 here, 1 in `a`",
        ),
        (
            "partition = \"b\"",
            "cores = 1",
            "`site.ada.machines[0].partition`: there is a class `b`, which is a partition of its own",
        ),
        ("partition = \"\"", both, "`site.ada.machines[0].partition`: the partition has no name"),
        ("partition = \"a b\"", both, "`a b` has ` ` in it"),
        (
            "partition = \"batch\", absent = 1",
            both,
            "`site.ada.machines[1].absent`: machines of an earlier class of `batch` are absent",
        ),
    ] {
        told(&classes(a, b), says, 2);
    }
    let twice = r#"machines = [{ class = "a", partition = "p" }, { class = "a", partition = "q" }]"#;
    told(twice, "the class `a` is there twice", 2);
    told(&format!("{}\nplacement = \"slowest\"", classes(both, both)), "there are `lowest`, `fastest`", 2);
    let idle = "`site.ada.placement`: it has no effect: no partition has machines of several classes";
    told(&format!("{}\nplacement = \"fastest\"", classes("cores = 1", "cores = 1")), idle, 0);
    let more = "`site.ada.machines[0]`: what `a` of `batch` has of memory and tags more than the other classes has no effect";
    told(
        &classes("partition = \"batch\", memory = \"2 GB\"", "partition = \"batch\", memory = \"1 GB\""),
        more,
        0,
    );
}
