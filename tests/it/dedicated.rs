//! Hand-worked cases of dedicated jobs: under policies without support for them they are held until their start; and their waits.

use gridemu::entity::ToSite;
use gridemu::local::{Reason, Registry};
use gridemu::metrics::{DedicatedMeasures, Definitions, Summary};
use gridemu::model::{InstantOrder, Job, JobId, JobRef, Origin, Outcome, SiteId, SiteSpec};
use gridemu::units::{Span, Time};

use crate::hand_worked::starts;
use crate::support::{self, Ran, With, command, grid, job, reserve, site, through_bytes};

fn at(secs: u64) -> Time {
    Time::from_secs(secs)
}

/// Policies that know no dedicated jobs, under both orders of an instant.
fn plain() -> Vec<SiteSpec> {
    let orders = [InstantOrder::Instant, InstantOrder::Event];
    let spec = |policy: &&str, order| SiteSpec { order, ..site(4, policy) };
    ["fcfs", "easy", "conservative", "los"]
        .iter()
        .flat_map(|policy| orders.map(|order| spec(policy, order)))
        .collect()
}

#[test]
fn a_dedicated_job_is_kept_back_until_its_start() {
    // Job 1 (2) asks for 50: job 2 (4) starts at once and is over at 30; job 3 (4) would wait for job 1 if that stood before it.
    // At 50 job 1 comes behind nobody; job 4 (4), which came at 40 with 20 to run, is there until 60.
    let jobs = [job(1, 0, 2, 10).from(50), job(2, 1, 4, 29), job(3, 2, 4, 10), job(4, 40, 4, 20)];
    for spec in plain() {
        assert_eq!(starts(&spec, &jobs), [60, 1, 30, 40], "{} {:?}", spec.policy, spec.order);
    }
}

#[test]
fn those_whose_start_has_come_arrive_in_the_order_of_start_and_arrival_before_others() {
    // At 20: job 3 came first of those that ask for 20, then job 1; job 2 asked for 10 and waits already; job 4 arrives at 20.
    let jobs = [
        job(9, 0, 4, 25),
        job(3, 1, 4, 1).from(20),
        job(1, 2, 4, 1).from(20),
        job(2, 3, 4, 1).from(10),
        job(4, 20, 4, 1),
    ];
    for spec in plain() {
        assert_eq!(starts(&spec, &jobs), [0, 26, 27, 25, 28], "{}", spec.policy);
    }
}

#[test]
fn a_start_in_the_past_is_none() {
    let jobs = [job(1, 10, 2, 10).from(3), job(2, 10, 2, 10).from(10)];
    for policy in ["fcfs", "easy", "los-d", "hybrid-los"] {
        let ran = support::run(&site(4, policy), &jobs);
        assert_eq!((ran.times(1), ran.times(2)), ((10, 20), (10, 20)), "{policy}");
        assert_eq!(ran.job(1).wait(), Span::ZERO, "from its submission, not from before it");
        assert_eq!(ran.job(1).response(), Span::from_secs(10));
    }
}

#[test]
fn waits_count_from_the_start_that_was_asked_for() {
    // Job 1 asks for 100 and has it; job 2 asks for 105 and waits for job 1 until 130; job 3 asks for 400 and is withdrawn before.
    let jobs =
        [job(1, 0, 4, 30).from(100), job(2, 1, 4, 5).from(105), job(3, 2, 1, 5).from(400), job(4, 3, 1, 7)];
    let spec = site(4, "easy");
    let mut grid = grid(&Registry::standard(), &spec, &jobs).expect("a grid");
    grid.command(command(at(200), ToSite::Cancel(JobId(3)))).expect("it is to come");
    let mut records = Vec::new();
    grid.run(&mut records).expect("it ends");
    let ran = Ran::of(&grid, records);
    let told = |id: u64| (ran.job(id).wait().as_secs_f64(), ran.job(id).response().as_secs_f64());
    assert_eq!((told(1), told(2), told(4)), ((0.0, 30.0), (25.0, 30.0), (0.0, 7.0)));
    assert_eq!(ran.job(3).outcome, Outcome::Cancelled);
    assert_eq!((ran.job(3).end, ran.job(3).wait()), (at(200), Span::ZERO));
    let mut summary = Summary::new(Definitions::default());
    ran.jobs().for_each(|job| summary.add(job));
    let measures = summary.whole();
    let expected =
        DedicatedMeasures { jobs: 3, on_time: 1, delayed: 1, mean_delay: Some(12.5), max_delay: Some(25.0) };
    assert_eq!(measures.dedicated, Some(expected));
    assert_eq!(measures.mean_wait, Some(25.0 / 3.0));
    let mut batch = Summary::new(Definitions::default());
    ran.jobs().filter(|job| job.requested_start.is_none()).for_each(|job| batch.add(job));
    assert_eq!(batch.whole().dedicated, None);
    let json = serde_json::to_value(batch.whole()).expect("JSON");
    assert!(json.get("dedicated").is_none(), "nothing is said where there is nothing to say");
    batch.merge(&summary).expect("of the same definitions");
    assert_eq!(batch.whole().dedicated, Some(expected));
}

#[test]
fn one_that_is_kept_back_says_so_and_survives_a_snapshot() {
    let jobs = [job(1, 0, 4, 10).from(50), job(2, 0, 4, 20)];
    let registry = Registry::standard();
    let spec = site(4, "easy");
    let mut first = grid(&registry, &spec, &jobs).expect("a grid");
    let mut records = Vec::new();
    first.run_until(at(10), &mut records).expect("it runs");
    let partition = &first.sites().next().expect("a site").partitions()[0];
    let key = partition.find(JobRef::new(Origin::Local, SiteId(0), JobId(1))).expect("it is there");
    let told = partition.explain(key, at(10)).expect("it waits");
    assert_eq!((told.reason(), told.start), (Reason::Early, Some(at(50))));
    let rule = gridemu::report::explained_rule(&told);
    assert!(rule.contains("50 s"), "{rule}");
    assert_eq!((partition.waiting(), partition.backlog()), (1, 4 * 10_000_000), "the grid is told of it");
    let saved = through_bytes(&first.snapshot().expect("a state"));
    let mut second = grid(&registry, &spec, &jobs).expect("a grid");
    second.restore(saved, false).expect("it fits");
    second.run(&mut records).expect("it ends");
    assert_eq!(Ran::of(&second, records).times(1), (50, 60));
}

#[test]
fn another_policy_takes_over_those_that_are_kept_back_and_gives_them_up() {
    // EASY keeps job 1 back and lets job 2 in at 10, until 60. LOS-D, from 10 on, knows that it is to start at 50.
    let jobs = [job(1, 0, 4, 10).from(50), job(3, 0, 4, 10), job(2, 1, 4, 50)];
    let registry = Registry::standard();
    let forked = |from: &str, to: &str| {
        let mut grid = support::grid(&registry, &site(4, from), &jobs).expect("a grid");
        let mut records = Vec::new();
        grid.run_until(at(5), &mut records).expect("it runs");
        let saved = grid.snapshot().expect("a state");
        let mut grid = support::grid(&registry, &site(4, to), &jobs).expect("a grid");
        grid.restore(saved, true).expect("it fits");
        grid.run(&mut records).expect("it ends");
        let ran = Ran::of(&grid, records);
        [1, 2, 3].map(|id| ran.times(id).0)
    };
    assert_eq!(forked("easy", "easy"), [60, 10, 0]);
    assert_eq!(forked("easy", "los-d"), [50, 60, 0]);
    assert_eq!(forked("los-d", "easy"), [60, 10, 0]);
    assert_eq!(forked("los-d", "los-d"), [50, 60, 0]);
}

#[test]
fn one_that_asks_for_more_than_is_there_is_refused_at_once() {
    let ran = support::run(&site(4, "easy"), &[job(1, 0, 9, 10).from(50)]);
    assert!(matches!(ran.job(1).outcome, Outcome::Rejected(_)));
    assert_eq!(ran.job(1).end, at(0));
}

#[test]
fn the_book_and_dedicated_jobs_go_together() {
    // 3 of 4 are reserved from 40 to 80; job 1 (2) asks for 50 and waits until 80.
    let spec = reserve(site(4, "easy"), "r", 40, 80, 3);
    let jobs: [Job; 2] = [job(1, 0, 2, 10).from(50), job(2, 0, 1, 100)];
    assert_eq!(starts(&spec, &jobs), [80, 0]);
}

#[test]
fn easy_d_reserves_for_dedicated_jobs_and_backfills_around_them() {
    // Job 1 (3 of 4) asks for 50. Job 2 (2) would run until 60 and waits for it; job 3 (2) is over by then; job 4 (1) fits beside it.
    let jobs = [job(1, 0, 3, 10).from(50), job(2, 0, 2, 60), job(3, 1, 2, 40), job(4, 2, 1, 100)];
    // Job 2 is the head and has the reservation at 60: from there on 4 - 2 - 1 are spare.
    assert_eq!(starts(&site(4, "easy-d"), &jobs), [50, 60, 1, 2]);
    // Who knows no dedicated jobs lets job 2 in, and job 1 waits for it.
    assert_eq!(starts(&site(4, "easy"), &jobs), [60, 0, 1, 41]);
    assert_eq!(starts(&site(4, "easy-de"), &jobs), [50, 60, 1, 2]);
}

#[test]
fn under_easy_d_a_dedicated_job_without_room_stands_at_the_head_of_the_queue() {
    // Job 1 was expected to be over at 20, but job 2 (dedicated, 4) asks for 10: it starts at 20, before job 3, which came long before it,
    // and job 4 (dedicated, for 15), which comes behind it; job 5 (1) may run beside nobody.
    let jobs = [
        job(1, 0, 3, 20),
        job(3, 1, 2, 5),
        job(2, 2, 4, 10).from(10),
        job(4, 3, 4, 10).from(15),
        job(5, 4, 1, 16),
    ];
    assert_eq!(starts(&site(4, "easy-d"), &jobs), [0, 40, 20, 30, 4]);
    // The plain twin: all that is dedicated comes to the end of the queue.
    let late = [
        job(1, 0, 3, 20),
        job(3, 1, 2, 5),
        job(2, 2, 4, 10).from(10),
        job(4, 3, 4, 10).from(15),
        job(5, 4, 1, 16),
    ];
    assert_eq!(starts(&site(4, "easy"), &late), [0, 20, 25, 35, 4]);
}

#[test]
fn two_dedicated_jobs_of_one_start_that_do_not_fit_together_start_one_after_the_other() {
    let jobs = [job(1, 0, 3, 10).from(50), job(2, 1, 3, 10).from(50), job(3, 2, 2, 100)];
    for policy in ["easy-d", "los-d"] {
        assert_eq!(starts(&site(4, policy), &jobs), [50, 60, 70], "{policy}");
    }
}
