//! Beliefs by hand.

use super::*;
use crate::local::StartEstimates;

fn at(secs: u64) -> Time {
    Time::from_secs(secs)
}

fn waited(procs: u32, run: u64, wait: u64) -> Waited {
    Waited { procs, run: Span::from_secs(run), wait: Span::from_secs(wait) }
}

/// Jobs of 3 and 4 processors are of one size, and 10 min, 1 h and 8 h belong to the shorter length. What was measured of a class answers for it, and what was
/// measured of a size for its other lengths.
#[test]
fn the_class_answers_then_the_size_then_nothing() {
    let (mut beliefs, mut forecasts) = (Beliefs::new(1), PoolForecasts::default());
    beliefs.waited(0, waited(3, 600, 50), at(1_000), &mut forecasts);
    // The mean of both: nothing has erred yet when the first was forecast, so that `last` answers.
    beliefs.waited(0, waited(4, 3_600, 70), at(2_000), &mut forecasts);
    let wait = |procs, run, now| {
        let class = WaitClass::of(procs, Span::from_secs(run));
        forecasts.wait(class, at(now)).map(|wait| wait.micros() / 1_000_000)
    };
    assert_eq!([wait(4, 1, 900), wait(3, 600, 900)], [Some(50); 2], "short ones");
    assert_eq!([wait(3, 601, 900), wait(4, 3_600, 900)], [Some(70); 2], "longer ones");
    assert_eq!(wait(4, 28_800, 900), Some(70), "of no length that was measured: by size, the last one");
    assert_eq!([wait(2, 600, 900), wait(5, 600, 900)], [None; 2], "other sizes");
    assert_eq!(wait(4, 600, 1_001), Some(70), "of its own class none any more, of its size there is");
    assert_eq!(wait(4, 600, 2_001), None);
}

/// Reported are 4 processors at 100, and 16 at 500. Of jobs of 3 or 4 processors a wait of 300 s was measured, so that from 50 on they start at 350; so do larger ones, up
/// to 500.
#[test]
fn start_estimates_are_forecast_where_waits_were_measured() {
    let reported = StartEstimates { steps: vec![(4, at(100)), (16, at(500))] };
    let (mut beliefs, mut forecasts) = (Beliefs::new(1), PoolForecasts::default());
    assert_eq!(forecasts.start_estimates(at(50), &reported), reported);
    beliefs.waited(0, waited(4, 60, 300), at(1_000), &mut forecasts);
    let steps = |from, reported: &StartEstimates| forecasts.start_estimates(at(from), reported).steps;
    assert_eq!(steps(50, &reported), [(2, at(100)), (4, at(350)), (16, at(500))]);
    assert_eq!(steps(250, &reported), [(2, at(100)), (16, at(550))], "a larger one is never earlier");
    assert_eq!(steps(1_001, &reported), reported.steps);
    // Fewer processors are there than the size has at most: a job of 3 is of that size.
    let few = StartEstimates { steps: vec![(3, at(100))] };
    assert_eq!(steps(50, &few), [(2, at(100)), (3, at(350))]);
    assert_eq!(steps(50, &StartEstimates::default()), []);
}

/// Five reports of 4 free processors and five of none: the last value has erred once, all others more often. With peaks at every other report it is not the last one
/// that is believed.
#[test]
fn loads_are_forecast_and_stay_within_the_pool() {
    let mut beliefs = Beliefs::new(1);
    let report = |free: u32, waiting: u32| PoolReport {
        present: 6,
        free,
        asleep: free,
        waiting,
        backlog: u128::from(waiting) * 1_000_000,
        ..PoolReport::default()
    };
    let mut believed = PoolReport::default();
    let mut hear = |free, waiting| {
        believed = beliefs.reported(0, report(free, waiting));
        (believed.free, believed.asleep, believed.waiting, believed.backlog)
    };
    assert_eq!(hear(4, 0), (4, 4, 0, 0), "the first report is believed");
    (0..4).for_each(|_| assert_eq!(hear(4, 0), (4, 4, 0, 0)));
    assert_eq!(hear(0, 3), (0, 0, 3, 3_000_000));
    let last =
        (0..40).map(|at| if at % 2 == 0 { hear(6, 0) } else { hear(0, 10) }).last().expect("there are");
    assert!((2..=4).contains(&last.0) && (4..=6).contains(&last.2), "about the mean: {last:?}");
    assert_eq!(beliefs.take_heard(0), Some(report(0, 10)));
    // Nothing is measured of a pool without machines.
    let gone = PoolReport { present: 0, ..report(0, 7) };
    assert_eq!(beliefs.reported(0, gone.clone()), gone);
}

#[test]
fn groups_have_no_more_free_than_there_are() {
    let mut beliefs = Beliefs::new(1);
    let report = |free: [u32; 2]| PoolReport {
        present: 4,
        free: free.iter().sum(),
        free_by_group: free.to_vec(),
        ..PoolReport::default()
    };
    let mut hear = |free| beliefs.reported(0, report(free));
    for at in 0..60 {
        let believed = hear(if at % 3 == 0 { [4, 0] } else { [0, 4] });
        assert_eq!(believed.free, believed.free_by_group.iter().sum::<u32>());
        assert!(believed.free <= 4);
    }
}

/// 1 MB in 2 s is 4 Mbit/s, in either direction.
#[test]
fn bandwidths_are_measured() {
    let mut beliefs = Beliefs::new(0);
    let (data, took) = (Bytes::new(1_000_000), Span::from_secs(2));
    let expected = Some(Bandwidth::from_bits(4_000_000));
    assert!(!beliefs.knows_links());
    assert_eq!(beliefs.moved((2, 1), data, took, at(10)), expected);
    assert_eq!([beliefs.bandwidth((1, 2), at(10)), beliefs.bandwidth((2, 1), at(10))], [expected; 2]);
    assert_eq!([beliefs.bandwidth((1, 2), at(11)), beliefs.bandwidth((1, 3), at(10))], [None; 2]);
    assert_eq!(
        [beliefs.moved((0, 1), data, Span::ZERO, at(10)), beliefs.moved((0, 1), Bytes::ZERO, took, at(10))],
        [None; 2]
    );
    assert_eq!(beliefs.bandwidth((0, 1), at(10)), None);
}
