//! Tasks whose attempts fail by themselves: by hand from their draws, the same draws under every policy, and runs that go on from a snapshot.

use std::collections::BTreeMap;

use gridemu::grid::{Grid, Policies};
use gridemu::model::{
    CheckpointInterval, Checkpointing, EventCause, EventKind, EventRecord, GridSpec, Outcome, Record,
    TaskFailures, TaskRecord, WorkflowSpec,
};
use gridemu::platform::Usage;
use gridemu::units::{Span, Time};
use gridemu::workflow::WorkflowSource;
use gridemu::workload::random::Stream;
use proptest::prelude::*;

use crate::enactment::{instant, tasks, workflow, workflows};
use crate::support::{cases, through_bytes};

fn failing(others: f64, by_type: &[(&str, f64)], attempts: u32) -> TaskFailures {
    let ppb = |odds: f64| (odds * 1e9).round() as u32;
    let by_type = by_type.iter().map(|(kind, odds)| ((*kind).to_owned(), ppb(*odds))).collect();
    TaskFailures { by_type, others: ppb(others), attempts }
}

fn built(grid: &GridSpec, spec: &WorkflowSpec, failures: &TaskFailures, group: &str) -> Grid {
    let source = WorkflowSource::given("test", vec![(Time::ZERO, spec.clone())], 1, "portal");
    let source = source.failing(Some(failures.clone())).expect("types that it has");
    let source = source.grouped(&group.parse().expect("a grouping")).expect("it is known");
    Grid::build(grid, Vec::new(), Some(Box::new(source)), &Policies::standard()).expect("a grid")
}

fn to_its_end(mut grid: Grid, records: &mut Vec<Record>) {
    while grid.step(records).expect("it runs").is_some() {}
}

/// Runs it, and again from a snapshot taken after each step, which must leave the same.
fn run(grid: &GridSpec, spec: &WorkflowSpec, failures: &TaskFailures, group: &str) -> Vec<Record> {
    let new = || built(grid, spec, failures, group);
    let mut whole = Vec::new();
    to_its_end(new(), &mut whole);
    for steps in 1.. {
        let (mut first, mut second, mut parts) = (new(), new(), Vec::new());
        if !(0..steps).all(|_| first.step(&mut parts).expect("it runs").is_some()) {
            break;
        }
        second.restore(through_bytes(&first.snapshot().expect("a state")), false).expect("it fits");
        to_its_end(second, &mut parts);
        assert_eq!(parts, whole, "after {steps} steps");
    }
    whole
}

/// After how much of `micros` of work an attempt of a task of the only workflow fails, if it does.
fn drawn(task: usize, attempt: u32, odds: f64, micros: u64) -> Option<u64> {
    let seed = Stream::new(1, "portal", "estimates of workflow 0").below(u64::MAX);
    let mut stream = Stream::new(seed, &format!("task {task}"), &format!("failure of attempt {attempt}"));
    let fails = stream.below(1_000_000_000) < (odds * 1e9).round() as u64;
    // At the reference speed the run ends with the microsecond in which the work is done.
    let part = stream.below(1 << 32);
    let work = ((u128::from(micros) << 20) * u128::from(part)) >> 32;
    fails.then(|| u64::try_from(work.div_ceil(1 << 20)).expect("within the axis").max(1))
}

/// The events of attempts that failed by themselves.
fn failed(records: &[Record]) -> Vec<&EventRecord> {
    let found = records.iter().filter_map(|record| match record {
        Record::Event(event) if event.cause == EventCause::TaskFailed => Some(event),
        _ => None,
    });
    found.collect()
}

fn secs(secs: u64) -> u64 {
    secs * 1_000_000
}

/// Each attempt of the second task fails: it runs three times, one after the other without a gap, and then what waits for it is cancelled.
#[test]
fn a_task_that_fails_too_often_fails_with_what_waits_for_it() {
    let mut spec = workflow(&[10, 20, 5, 7], &[(0, 1), (1, 2)]);
    spec.tasks[1].kind = "bad".to_owned();
    let grid = instant("mct", &[1 << 20]);
    let records = run(&grid, &spec, &failing(0.0, &[("bad", 1.0)], 3), "none");
    let lost: Vec<u64> = (1..=3).map(|attempt| drawn(1, attempt, 1.0, secs(20)).unwrap()).collect();
    // The fourth task waits for none, and is before the second in the queue of the only processor.
    let starts = [secs(17), secs(17) + lost[0], secs(17) + lost[0] + lost[1]];
    let ends: Vec<u64> = starts.iter().zip(&lost).map(|(start, lost)| start + lost).collect();
    let events = failed(&records);
    assert_eq!(events.iter().map(|event| event.time.micros()).collect::<Vec<_>>(), ends);
    assert_eq!(events.iter().map(|event| event.attempt).collect::<Vec<_>>(), [1, 2, 3]);
    let kinds: Vec<EventKind> = events.iter().map(|event| event.kind).collect();
    assert_eq!(kinds, [EventKind::Returned, EventKind::Returned, EventKind::Failed]);
    let wasted: Vec<u128> = lost
        .iter()
        .map(|lost| Usage::proc_time(1, gridemu::units::Rate::FULL, Span::from_micros(*lost)))
        .collect();
    assert_eq!(events.iter().map(|event| event.wasted).collect::<Vec<_>>(), wasted);
    let all = tasks(&records);
    let bad = all[1];
    assert_eq!((bad.outcome, bad.attempts, bad.end.micros()), (Outcome::Failed, 3, ends[2]));
    assert_eq!(
        (bad.start.map(Time::micros), bad.last_start.map(Time::micros)),
        (Some(starts[0]), Some(starts[2]))
    );
    assert_eq!((all[2].outcome, all[2].end.micros()), (Outcome::Cancelled, ends[2]));
    assert_eq!((all[0].outcome, all[3].outcome), (Outcome::Completed, Outcome::Completed));
    let whole = workflows(&records)[0];
    assert_eq!((whole.outcome, whole.completed, whole.attempts), (Outcome::Failed, 2, 5));
}

/// The group fails where the second of its tasks does, and begins anew with the first.
#[test]
fn a_group_fails_with_the_first_of_its_tasks_that_does() {
    let mut spec = workflow(&[10, 20, 5], &[(0, 1), (1, 2)]);
    spec.tasks[1].kind = "bad".to_owned();
    spec.tasks[2].kind = "worse".to_owned();
    let failures = failing(0.0, &[("bad", 1.0), ("worse", 1.0)], 2);
    let records = run(&instant("mct", &[1 << 20]), &spec, &failures, "vertical");
    let lost: Vec<u64> =
        (1..=2).map(|attempt| secs(10) + drawn(1, attempt, 1.0, secs(20)).unwrap()).collect();
    let ends: Vec<u64> = failed(&records).iter().map(|event| event.time.micros()).collect();
    assert_eq!(ends, [lost[0], lost[0] + lost[1]]);
    assert!(tasks(&records).iter().all(|task| task.outcome == Outcome::Failed && task.attempts == 2));
}

/// Checkpoints that take no time are written every 3 s of 60 s. The next attempt goes on from the last one, and fails within what is left.
#[test]
fn an_attempt_that_goes_on_from_a_checkpoint_fails_in_what_is_left() {
    let spec = workflow(&[60], &[]);
    let mut grid = instant("mct", &[1 << 20]);
    let interval = CheckpointInterval::Every(Span::from_secs(3));
    grid.sites[0].churn.checkpoint = Some(Checkpointing { interval, cost: Span::ZERO });
    let records = run(&grid, &spec, &failing(1.0, &[], 2), "none");
    let first = drawn(0, 1, 1.0, secs(60)).unwrap();
    let kept = first / secs(3) * secs(3);
    let second = drawn(0, 2, 1.0, secs(60) - kept).unwrap();
    let events = failed(&records);
    assert_eq!(events.iter().map(|event| event.time.micros()).collect::<Vec<_>>(), [first, first + second]);
    let micros = |wasted: u128| (wasted >> 20) as u64;
    assert_eq!(micros(events[0].wasted), first - kept);
}

/// How long each attempt of each task ran, and how each task ended after how many attempts.
type Ran = (BTreeMap<(u64, u32), u64>, Vec<(Outcome, u32)>);

fn ran(records: &[Record]) -> Ran {
    let mut lengths = BTreeMap::new();
    for record in records {
        if let Record::Segment(segment) = record {
            *lengths.entry((segment.job.0, segment.attempt)).or_default() +=
                segment.to.since(segment.from).micros();
        }
    }
    (lengths, tasks(records).iter().map(|task: &&TaskRecord| (task.outcome, task.attempts)).collect())
}

proptest! {
    #![proptest_config(cases(48))]

    /// On one processor a chain is a sum, and under another policy with other sites each attempt is the same.
    #[test]
    fn attempts_follow_from_their_draws_alone(
        runtimes in prop::collection::vec(0_u64..50, 1..8), odds in 0_u32..=10, attempts in 1_u32..4, wide: bool,
    ) {
        let odds = f64::from(odds) / 10.0;
        let edges: Vec<(u32, u32)> = (1..runtimes.len() as u32).map(|at| (at - 1, at)).collect();
        let spec = workflow(&runtimes, if wide { &[] } else { &edges });
        let failures = failing(odds, &[], attempts);
        let records = run(&instant("mct", &[1 << 20]), &spec, &failures, "none");
        let others = run(&instant("random", &[1 << 20, 1 << 20, 1 << 20]), &spec, &failures, "none");
        let (lengths, ends) = ran(&records);
        prop_assert_eq!((&lengths, &ends), (&ran(&others).0, &ran(&others).1));
        // The oracle.
        let (mut over, mut expected, mut all) = (false, Vec::new(), BTreeMap::new());
        for (at, runtime) in runtimes.iter().map(|runtime| secs(*runtime)).enumerate() {
            if over && !wide {
                expected.push((Outcome::Cancelled, 0));
                continue;
            }
            let fails = |attempt: &u32| drawn(at, *attempt, odds, runtime).filter(|_| runtime > 0);
            let failed: Vec<u64> = (1..=attempts).map_while(|attempt| fails(&attempt)).collect();
            over = failed.len() == attempts as usize;
            let outcome = if over { Outcome::Failed } else { Outcome::Completed };
            let made = failed.len() + usize::from(!over);
            expected.push((outcome, made as u32));
            let last = (!over).then_some(runtime);
            for (attempt, length) in (1_u32..).zip(failed.into_iter().chain(last)).filter(|(_, length)| *length > 0) {
                all.insert((at as u64 + 1, attempt), length);
            }
        }
        prop_assert_eq!(ends, expected);
        prop_assert_eq!(&lengths, &all);
        let end = records.iter().map(Record::written).max();
        prop_assert_eq!(end.map(Time::micros), Some(all.values().sum()));
    }
}
