//! Textbook answers. Agreement with slow definitions is in [`twins`], tasks with deadlines and budgets are in [`limited`].

mod limited;
mod twins;

use super::*;
use crate::units::{Bytes, Rate, Span, Time};
pub(super) use crate::workflow::tests::BYTE_A_SECOND;
use crate::workflow::tests::topcuoglu;

pub(super) fn secs(secs: u64) -> Span {
    Span::from_secs(secs)
}

fn etc<const POOLS: usize>(rows: &[[u64; POOLS]]) -> Etc {
    Etc::of_rows(&rows.iter().map(|row| row.map(secs)).collect::<Vec<_>>())
}

/// The example of Arabnejad and Barbosa (2014), figure 2.
pub(super) fn arabnejad() -> (Dag, Etc) {
    let etc = etc(&[
        [22, 21, 36],
        [22, 18, 18],
        [32, 27, 43],
        [7, 10, 4],
        [29, 27, 35],
        [26, 17, 24],
        [14, 25, 30],
        [29, 23, 36],
        [15, 21, 8],
        [13, 16, 33],
    ]);
    let edges = [
        (1, 2, 17),
        (1, 3, 31),
        (1, 4, 29),
        (1, 5, 13),
        (1, 6, 7),
        (2, 8, 3),
        (2, 9, 30),
        (3, 7, 16),
        (4, 8, 11),
        (4, 9, 7),
        (5, 9, 57),
        (6, 8, 5),
        (7, 10, 9),
        (8, 10, 42),
        (9, 10, 7),
    ];
    let edges = edges.map(|(from, to, bytes)| (from - 1, to - 1, Bytes::new(bytes)));
    (Dag::new(10, edges).unwrap(), etc)
}

fn links(pools: usize) -> Links {
    Links::uniform(pools, Span::ZERO, Some(BYTE_A_SECOND))
}

fn idle(pools: usize) -> Profiles {
    Profiles::idle(Time::ZERO, &vec![1; pools])
}

/// A plan as the paper has it, from 1 and in seconds: task, pool, start, end.
fn told(plan: &[Placement]) -> Vec<(usize, usize, u64, u64)> {
    let told = |placed: &Placement| {
        let [start, end] = [placed.start, placed.end].map(|time| time.micros() / 1_000_000);
        (placed.task + 1, placed.pool + 1, start, end)
    };
    plan.iter().map(told).collect()
}

fn by_task(plan: &[Placement]) -> Vec<(usize, usize, u64, u64)> {
    let mut told = told(plan);
    told.sort_unstable();
    told
}

fn of_topcuoglu() -> (Dag, Etc) {
    let workflow = topcuoglu().build().unwrap();
    let pools = ["P1", "P2", "P3"].map(|class| (class, Rate::FULL));
    (Dag::of(&workflow), Etc::of_workflow(&workflow, &pools))
}

#[test]
fn heft_on_the_example_of_topcuoglu() {
    let (dag, etc) = of_topcuoglu();
    let plan = heft(&dag, &etc, &links(3), &mut idle(3));
    let expected = [
        (1, 3, 0, 9),
        (2, 1, 27, 40),
        (3, 3, 9, 28),
        (4, 2, 18, 26),
        (5, 3, 28, 38),
        (6, 2, 26, 42),
        (7, 3, 38, 49),
        (8, 1, 57, 62),
        (9, 2, 56, 68),
        (10, 2, 73, 80),
    ];
    assert_eq!(by_task(&plan), expected);
    // By upward ranks of 108, 80, 80, 77, 69, 63.3, 44.3, 42.7, 35.7, 14.7.
    assert_eq!(
        plan.iter().map(|placed| placed.task + 1).collect::<Vec<_>>(),
        [1, 3, 4, 2, 5, 6, 9, 7, 8, 10]
    );
}

#[test]
fn cpop_on_the_example_of_topcuoglu() {
    let (dag, etc) = of_topcuoglu();
    let plan = cpop(&dag, &etc, &links(3), &mut idle(3));
    let expected = [
        (1, 2, 0, 16),
        (2, 2, 16, 35),
        (3, 1, 28, 39),
        (4, 3, 25, 42),
        (5, 2, 35, 48),
        (6, 3, 42, 51),
        (7, 1, 39, 46),
        (8, 3, 54, 68),
        (9, 2, 65, 77),
        (10, 2, 79, 86),
    ];
    assert_eq!(by_task(&plan), expected);
}

#[test]
fn peft_and_heft_on_the_example_of_arabnejad() {
    let (dag, etc) = arabnejad();
    let plan = peft(&dag, &etc, &links(3), &mut idle(3));
    let expected = [
        (1, 1, 0, 22),
        (2, 1, 29, 51),
        (3, 1, 51, 83),
        (4, 1, 22, 29),
        (5, 3, 35, 70),
        (6, 2, 29, 46),
        (7, 1, 83, 97),
        (8, 2, 54, 77),
        (9, 3, 81, 89),
        (10, 2, 106, 122),
    ];
    assert_eq!(by_task(&plan), expected);
    assert_eq!(makespan(&heft(&dag, &etc, &links(3), &mut idle(3))), Time::from_secs(133));
    let (dag, etc) = of_topcuoglu();
    assert_eq!(makespan(&peft(&dag, &etc, &links(3), &mut idle(3))), Time::from_secs(85));
}

/// The makespans under OLB, MET, MCT, min-min, max-min, duplex, and sufferage by passes and one by one.
fn makespans<const POOLS: usize>(rows: &[[u64; POOLS]]) -> [u64; 8] {
    let (etc, idle) = (etc(rows), || idle(POOLS));
    let plans = [
        olb(&etc, &mut idle()),
        met(&etc, &mut idle()),
        mct(&etc, &mut idle()),
        min_min(&etc, &mut idle()),
        max_min(&etc, &mut idle()),
        duplex(&etc, &mut idle()),
        sufferage(&etc, &mut idle(), Claims::Pass),
        sufferage(&etc, &mut idle(), Claims::One),
    ];
    plans.map(|plan| makespan(&plan).micros() / 1_000_000)
}

#[test]
fn ready_tasks_by_every_heuristic() {
    let a = [[13, 8, 17], [22, 15, 9], [4, 12, 7], [30, 21, 26], [11, 6, 18], [9, 19, 5]];
    assert_eq!(makespans(&a), [34, 35, 29, 34, 27, 27, 29, 28]);
    let b = [[40, 20, 60], [30, 30, 30], [100, 10, 20], [15, 45, 25], [50, 50, 10]];
    assert_eq!(makespans(&b), [80, 45, 45, 40, 35, 35, 40, 40]);
    let ends = |plan: &[Placement]| {
        told(plan).into_iter().map(|(task, pool, _, end)| (task, pool, end)).collect::<Vec<_>>()
    };
    let min = [(3, 1, 4), (6, 3, 5), (5, 2, 6), (1, 2, 14), (2, 3, 14), (4, 1, 34)];
    assert_eq!(ends(&min_min(&etc(&a), &mut idle(3))), min);
    let max = [(4, 2, 21), (1, 1, 13), (5, 3, 18), (2, 3, 27), (6, 1, 22), (3, 1, 26)];
    assert_eq!(ends(&max_min(&etc(&a), &mut idle(3))), max);
}

#[test]
fn duplex_leaves_the_holes_of_the_plan_that_it_took() {
    let etc = etc(&[[13, 8, 17], [22, 15, 9], [4, 12, 7], [30, 21, 26], [11, 6, 18], [9, 19, 5]]);
    let (mut one, mut other) = (idle(3), idle(3));
    assert_eq!(duplex(&etc, &mut one), max_min(&etc, &mut other));
    assert_eq!(one, other);
}

#[test]
fn a_task_is_put_into_the_first_hole_of_its_size() {
    // Four processors, of which three are taken until 10 s and all from 20 s to 30 s.
    let mut holes = Profiles::idle(Time::ZERO, &[4]);
    holes.take(0, 3, Time::ZERO, secs(10));
    holes.take(0, 4, Time::from_secs(20), secs(10));
    let etc = etc(&[[5], [10], [11], [20]]).with_procs(vec![2, 2, 1, 5]);
    let plan = mct(&etc, &mut holes);
    // The second just fits beside the first; the third has no room before 30 s, and the fourth none at all.
    assert_eq!(told(&plan), [(1, 1, 10, 15), (2, 1, 10, 20), (3, 1, 30, 41)]);
}

#[test]
fn start_estimates_are_holes() {
    let steps = vec![(2, Time::from_secs(3)), (8, Time::from_secs(10)), (16, Time::from_secs(40))];
    let estimates = crate::local::StartEstimates { steps };
    let mut holes = Profiles(vec![Profiles::expected(Time::from_secs(5), &estimates)]);
    let start = |holes: &Profiles, procs| holes.earliest(0, procs, Time::from_secs(5), secs(100));
    for (procs, expected) in [(2, 5), (3, 10), (8, 10), (9, 40), (16, 40)] {
        assert_eq!(start(&holes, procs), Some(Time::from_secs(expected)));
    }
    assert_eq!(start(&holes, 17), None);
    // What was planned is no hole any more.
    holes.take(0, 8, Time::from_secs(10), secs(100));
    assert_eq!(start(&holes, 3), Some(Time::from_secs(40)));
    assert_eq!(start(&holes, 9), Some(Time::from_secs(110)));
}

#[test]
fn a_task_that_fits_nowhere_is_left_out_with_those_that_wait_for_it() {
    let dag = Dag::new(3, [(0, 1, Bytes::ZERO), (1, 2, Bytes::ZERO)]).unwrap();
    let etc = etc(&[[1, 1], [1, 1], [1, 1]]).with_procs(vec![1, 2, 1]);
    for plan in [heft, peft, cpop].map(|by| by(&dag, &etc, &links(2), &mut idle(2))) {
        assert_eq!(told(&plan), [(1, 1, 0, 1)]);
    }
    assert_eq!(min_min(&etc, &mut idle(2)).len(), 2);
    assert_eq!(sufferage(&etc, &mut idle(2), Claims::Pass).len(), 2);
    assert!(min_min(&Etc::of_rows::<[Span; 0]>(&[]), &mut idle(0)).is_empty());
    assert_eq!(Dag::new(2, [(0, 1, Bytes::ZERO), (1, 0, Bytes::ZERO)]), None);
}

/// Task 0 (1 s or 100 s) and task 1 (60 s or 2 s), and task 2 after both. Task 0 needs two processors, which only the first pool has: so its mean is 1 s,
/// not 50.5 s, and task 1 goes first. On CPOP's path, task 2 follows task 1, and the second pool cannot take it.
#[test]
fn a_pool_that_has_not_the_processors_counts_for_nothing() {
    let dag = Dag::new(3, [(0, 2, Bytes::ZERO), (1, 2, Bytes::ZERO)]).unwrap();
    let etc = etc(&[[1, 100], [60, 2], [40, 1]]).with_procs(vec![2, 1, 2]);
    let holes = || Profiles::idle(Time::ZERO, &[2, 1]);
    let expected = [(2, 2, 0, 2), (1, 1, 0, 1), (3, 1, 2, 42)];
    assert_eq!(told(&heft(&dag, &etc, &links(2), &mut holes())), expected);
    assert_eq!(told(&peft(&dag, &etc, &links(2), &mut holes()))[2], expected[2]);
    let cpop = cpop(&dag, &etc, &links(2), &mut holes());
    assert_eq!(told(&cpop), [(2, 1, 0, 60), (1, 1, 60, 61), (3, 1, 61, 101)]);
}

/// Ten tasks in a row against another ten with the same sums, of thirds of microseconds: equal ranks, so the lower number goes first.
#[test]
fn fractions_do_not_decide_between_equal_ranks() {
    let mut rows: Vec<[Span; 3]> = Vec::new();
    for chain in [[10, 10, 11], [11, 10, 10]] {
        rows.extend((0..10).map(|_| chain.map(Span::from_micros)));
    }
    let etc = Etc::of_rows(&rows);
    let edges = (0..20).filter(|at| at % 10 != 9).map(|at| (at, at + 1, Bytes::ZERO));
    let dag = Dag::new(20, edges).unwrap();
    let plan = heft(&dag, &etc, &links(3), &mut idle(3));
    let order: Vec<usize> = plan.iter().map(|placed| placed.task).collect();
    let expected: Vec<usize> = (0..10).flat_map(|at| [at, at + 10]).collect();
    assert_eq!(order, expected);
}

#[test]
fn data_takes_the_time_of_its_link() {
    let links = Links::of(2, |from, _| (secs(1), (from == 0).then_some(BYTE_A_SECOND)));
    assert_eq!(links.time(Bytes::new(3), 0, 1), secs(4));
    assert_eq!(links.time(Bytes::new(3), 1, 0), secs(1));
    assert_eq!(links.time(Bytes::new(3), 1, 1), Span::ZERO);
    assert_eq!(links.time(Bytes::ZERO, 0, 1), Span::ZERO);
    assert_eq!((links.mean(Bytes::new(3)), links.mean(Bytes::ZERO)), (2_500_000, 0));
    let third = Links::uniform(2, Span::ZERO, Some(crate::units::Bandwidth::from_bits(24)));
    assert_eq!(third.time(Bytes::new(1), 0, 1), Span::from_micros(333_334));
    let none = Links::uniform(2, Span::ZERO, Some(crate::units::Bandwidth::ZERO));
    assert_eq!(none.time(Bytes::new(1), 0, 1), Span::MAX);
}
