//! Plannings of `mojs` worked by hand: its five objectives, from a grid view to the front that it records.

use gridemu::broker::{Answer, Asked, Decision, GridView, Pool, Rates};
use gridemu::model::{FrontRecord, Job, SiteTariff, Size, Speedup};
use gridemu::units::{Money, Price, Span, Time};
use libm::{exp, expm1};
use proptest::prelude::*;
use proptest::sample::select;

use super::scenes::{Scene, build, idle, powered, priced, scenes};
use crate::support::{cases, job};

/// Queues all that it plans.
const ALL: &str = "mojs[min_queued=1000]";

/// What a planning said: its decisions, how long it took, and its front.
type Said = (Vec<Decision>, Span, Option<Box<FrontRecord>>);

fn said(scene: &Scene, written: &str) -> Said {
    let (tasks, mut pools) = (scene.tasks(0), scene.pools.clone());
    let mut view = GridView::new(scene.now, &mut pools, &tasks, Asked::All, scene.count_in_flight);
    let (plan, takes) = match build(written).plan(&mut view) {
        Answer::Done(plan) => (plan, Span::ZERO),
        Answer::After(takes, plan) | Answer::Later { takes, plan, .. } => (plan, takes),
        other => panic!("no plan, but {other:?}"),
    };
    (plan.into_vec(), takes, view.take_front())
}

/// A task of a plan: the number of its job, the place of its pool, its start and its end, in seconds from now.
type Row = (u64, usize, f64, f64);

/// What it plans where each task has one pool, by start and due date, and the objectives.
fn only(scene: &mut Scene, places: &[usize]) -> (Vec<Row>, [f64; 5]) {
    let ids = || scene.pools.iter().map(|pool| pool.facts.id);
    let others = |own: &usize| ids().enumerate().filter(|(at, _)| at != own).map(|(_, id)| id).collect();
    scene.refused = places.iter().map(others).collect();
    let (plan, _, front) = said(scene, ALL);
    let front = front.expect("a front");
    assert_eq!((front.tasks, front.evaluations, front.points.len()), (places.len() as u64, 1, 1));
    let from_now = |time: Time| time.since(scene.now).as_secs_f64();
    let row = |of: Decision| {
        let Decision { task, act, start, end, .. } = of;
        (scene.jobs[task.index()].id.0, act.pool(), from_now(start), from_now(end))
    };
    (plan.into_iter().map(row).collect(), front.points[0].objectives.clone().try_into().expect("five"))
}

/// The job with this deadline, in seconds.
fn due(mut job: Job, at: u64) -> Job {
    job.limits.get_or_insert_default().deadline = Some(Time::from_secs(at));
    job
}

/// The job with this budget, in thousandths of the currency.
fn within(mut job: Job, thousandths: i128) -> Job {
    job.limits.get_or_insert_default().budget = Some(Money::from_nanos(thousandths * 1_000_000));
    job
}

/// The pool of which so many processors are free now, and each of the others from one of these instants on, in seconds.
fn some_busy(mut pool: Pool, free: u32, later: &[u64]) -> Pool {
    assert_eq!(free as usize + later.len(), pool.report.present as usize);
    (pool.report.free, pool.report.running) = (free, later.len() as u32);
    let later = later.iter().zip(free + 1..).map(|(at, procs)| (procs, Time::from_secs(*at)));
    let now = (free > 0).then_some((free, Time::ZERO));
    pool.report.start_estimates.steps = now.into_iter().chain(later).collect();
    pool
}

#[track_caller]
fn near(one: f64, other: f64) {
    assert!((one - other).abs() <= 1e-12 * other.abs().max(1.0), "{one} is not {other}");
}

/// At 100 s, two of four processors are free, one more in 60 s and the last in 120 s; of two that are twice as fast the first is free in 20 s, the other in 40 s.
/// In the first pool, by due date:
///
/// | job | takes | processors free at | runs | idle before |
/// |---|---|---|---|---|
/// | 1 | 3 for 50 s | 0, 0, 60 | 60 to 110 | 60 + 60 |
/// | 2 | 1 for 30 s | 110 | 110 to 140 | 0 |
/// | 3 | 2 for 20 s | 110, 110 | 110 to 130 | 0 |
/// | 4 | 4 for 10 s | 120, 130, 130, 140 | 140 to 150 | 20 + 10 + 10 |
///
/// Job 5 takes two for 70 s, here 35 s, in the other pool, from 40 on, where one has been idle for 20 s: 180 s over six processors. Watts are 50 and 100, so
/// that a processor-second counts half in the first pool. Job 1 is due at 100 s from now and 10 s late; jobs 2, 3 and 4 are in time, 2 and 3 to the second or with 20 s to spare. They were
/// given 160, 190, 200 and 250 s, 200 s on average.
#[test]
fn wide_tasks_wait_for_the_last_of_their_processors() {
    let pools = vec![
        powered(some_busy(idle(0, 4, 100), 2, &[160, 220]), 10, 50, 100),
        powered(some_busy(idle(1, 2, 200), 0, &[120, 140]), 10, 100, 100),
    ];
    let jobs = vec![
        job(5, 0, 2, 70),
        due(job(4, 10, 4, 10), 260),
        due(job(3, 50, 2, 20), 250),
        due(job(2, 50, 1, 30), 240),
        due(job(1, 40, 3, 50), 200),
    ];
    let mut scene = Scene::new(100, pools, jobs);
    let (plan, [makespan, idle, lateness, overspending, energy]) = only(&mut scene, &[1, 0, 0, 0, 0]);
    assert_eq!(
        plan,
        [
            (5, 1, 40.0, 75.0),
            (1, 0, 60.0, 110.0),
            (2, 0, 110.0, 140.0),
            (3, 0, 110.0, 130.0),
            (4, 0, 140.0, 150.0),
        ]
    );
    assert_eq!((makespan, idle, overspending), (150.0, 180.0 / 6.0, 0.0));
    near(energy, (150.0 + 30.0 + 40.0 + 40.0) / 2.0 + 70.0);
    near(lateness, expm1(10.0 / 200.0) / 5.0);
}

/// A moldable task has in each pool as many processors as that gives it: four of 60 s, or two of 120 s, as there are no more. Behind it, one of one processor.
#[test]
fn a_moldable_task_has_the_processors_of_its_pool() {
    let pools = vec![powered(idle(0, 8, 100), 0, 10, 100), powered(idle(1, 2, 100), 0, 10, 100)];
    let moldable = |id| {
        let size = Size::Moldable { min: 1, preferred: 4, max: 4, speedup: Speedup::Linear };
        Job { size, ..job(id, 0, 4, 60) }
    };
    let mut scene = Scene::new(0, pools, vec![moldable(1), moldable(2), job(3, 0, 1, 30)]);
    let (plan, objectives) = only(&mut scene, &[0, 1, 1]);
    assert_eq!(plan, [(1, 0, 0.0, 60.0), (2, 1, 0.0, 120.0), (3, 1, 120.0, 150.0)]);
    assert_eq!(objectives, [150.0, 0.0, 0.0, 0.0, 240.0 + 240.0 + 30.0]);
}

/// 100 W at a PUE of 1.2, 60 W at 2.5, 30 W at 1: 120, 150 and 30 W, so that processor-seconds count 0.8, 1 and 0.2.
fn three() -> Vec<Pool> {
    vec![
        powered(idle(0, 2, 100), 10, 100, 120),
        powered(idle(1, 3, 200), 10, 60, 250),
        powered(idle(2, 1, 50), 10, 30, 100),
    ]
}

/// 2 × 100 s at 0.8, 3 × 50 s at 1, and 80 s at 0.2.
#[test]
fn energy_is_that_of_the_facility() {
    let mut scene = Scene::new(0, three(), vec![job(1, 0, 2, 100), job(2, 0, 3, 100), job(3, 0, 1, 40)]);
    let (_, [makespan, idle, _, _, energy]) = only(&mut scene, &[0, 1, 2]);
    assert_eq!((makespan, idle), (100.0, 0.0));
    near(energy, 160.0 + 150.0 + 16.0);
}

/// One task: 100 s at 0.8, 50 s at 1 or 200 s at 0.2. The first pool takes more than the second of both, time and energy. The second is where it ends first, and so makespan and
/// energy count as shares of 50 and 50: a sum of 1 + 1 there, of 4 + 0.8 in the third.
#[test]
fn a_front_over_pools_of_different_pue() {
    let scene = Scene::new(0, three(), vec![job(1, 0, 1, 100)]);
    let (plan, _, front) = said(&scene, ALL);
    let front = front.expect("a front");
    assert_eq!((front.tasks, front.evaluations), (1, 3));
    let points: Vec<(f64, &[f64])> =
        front.points.iter().map(|point| (point.value, &point.objectives[..])).collect();
    let (fast, frugal) = ([50.0, 0.0, 0.0, 0.0, 50.0], [200.0, 0.0, 0.0, 0.0, 40.0]);
    assert_eq!(points, [(2.0, &fast[..]), (4.8, &frugal[..])]);
    assert_eq!(front.reference, [50.0, 50.0, 1.0, 1.0, 50.0]);
    assert_eq!(plan[0].act.pool(), 1);
    // If energy alone counts, it goes to the third.
    let frugal = "mojs[makespan=0,idle=0,lateness=0,overspending=0]";
    assert_eq!(said(&scene, frugal).0[0].act.pool(), 2);
}

/// At 1,000 s one task has been overdue for 600 s, another one for 300 s; a third is not due yet. They were given 400, 200 and 300 s, 300 s on average. One
/// after the other they end after 60, 300 and 390 s: 660, 600 and 90 s late.
#[test]
fn overdue_tasks_are_late_from_their_deadlines_on() {
    let jobs = vec![
        due(job(3, 1_000, 1, 90), 1_300),
        due(job(2, 500, 1, 240), 700),
        due(job(1, 0, 1, 60), 400),
        job(4, 0, 1, 10),
    ];
    let mut scene = Scene::new(1_000, vec![idle(0, 1, 100)], jobs);
    let (plan, [makespan, _, lateness, ..]) = only(&mut scene, &[0; 4]);
    assert_eq!(plan, [(1, 0, 0.0, 60.0), (2, 0, 60.0, 300.0), (3, 0, 300.0, 390.0), (4, 0, 390.0, 400.0)]);
    assert_eq!(makespan, 400.0);
    near(lateness, (expm1(2.2) + expm1(2.0) + expm1(0.3)) / 4.0);
}

/// A task that had no time at all counts as given a second: 70 s late are 20 beyond the exponent of 50, from where the penalty follows its tangent.
#[test]
fn what_is_overdue_for_long_is_late_along_a_tangent() {
    let mut scene = Scene::new(100, vec![idle(0, 1, 100)], vec![due(job(1, 40, 1, 10), 40)]);
    let (_, [_, _, lateness, ..]) = only(&mut scene, &[0]);
    near(lateness, expm1(50.0) + exp(50.0) * 20.0);
}

/// Prices of 2 and 3 a core-hour: 2 × ½ h × 2 = 2 for 1.5, 1 h × 3 = 3 for 1, 1 h × 2 for 5, and 3 for a task without a budget, which exceeds none. What is left of one budget is not another's: (0.5 + 2) over four
/// tasks. The mean budget, 7.5 / 4, is what counts as 1, since that is more.
#[test]
fn what_is_spent_beyond_a_budget_is_not_saved_elsewhere() {
    let pools = vec![priced(idle(0, 2, 100), 2), priced(idle(1, 2, 100), 3)];
    let jobs = vec![
        within(job(1, 0, 2, 1_800), 1_500),
        within(job(2, 0, 1, 3_600), 1_000),
        within(job(3, 0, 1, 3_600), 5_000),
        job(4, 0, 1, 3_600),
    ];
    let mut scene = Scene::new(0, pools, jobs);
    let (_, [.., overspending, _]) = only(&mut scene, &[0, 1, 0, 1]);
    near(overspending, 2.5 / 4.0);
    near(said(&scene, ALL).2.expect("a front").reference[3], 7.5 / 4.0);
    // Of more than that, what the schedule exceeds where each task ends first.
    scene.jobs = vec![within(job(1, 0, 2, 7_200), 1_000)];
    assert_eq!(only(&mut scene, &[0]).1[3], 7.0);
    assert_eq!(said(&scene, ALL).2.expect("a front").reference[3], 7.0);
}

/// Half the price in the first hour, twice the price in the second one. Two hours from now on cost 1 + 4, also of a task that starts in an hour, when they would cost 4 + 2: prices are those of
/// a run that begins at once.
#[test]
fn prices_are_those_from_now_on() {
    let tariff =
        SiteTariff { price_by_hour: Some("0-1=0.5,1-2=2".parse().unwrap()), ..SiteTariff::default() };
    let mut pool = some_busy(idle(0, 1, 100), 0, &[3_600]);
    pool.facts.rates = Rates::new(Price::from_nanos(2_000_000_000), tariff);
    let mut scene = Scene::new(0, vec![pool], vec![within(job(1, 0, 1, 7_200), 4_000)]);
    let (plan, [.., overspending, _]) = only(&mut scene, &[0]);
    assert_eq!(plan, [(1, 0, 3_600.0, 10_800.0)]);
    near(overspending, 1.0);
}

/// All five at once, of one task that is overdue and dear on processors that are not free yet.
#[test]
fn five_objectives_of_one_task() {
    let pool = priced(powered(some_busy(idle(0, 3, 50), 1, &[120, 150]), 0, 80, 150), 6);
    let task = within(due(job(1, 50, 2, 150), 90), 250);
    let mut scene = Scene::new(100, vec![pool], vec![task]);
    let (plan, objectives) = only(&mut scene, &[0]);
    // 150 s at half speed, when the second processor is free after 20 s.
    assert_eq!(plan, [(1, 0, 20.0, 320.0)]);
    let [makespan, idle, lateness, overspending, energy] = objectives;
    // 2 × 300 s at 6 a core-hour are 1. It was given 40 s, and is overdue for 10 s.
    assert_eq!((makespan, idle, energy), (320.0, 20.0 / 3.0, 600.0));
    near(lateness, expm1(330.0 / 40.0));
    near(overspending, 0.75);
}

proptest! {
    #![proptest_config(cases(60))]

    /// However many tasks and pools there are: a planning takes `per_gene` for each task of each schedule that it evaluated, not more than its interval, and nothing is planned to start before it is over.
    #[test]
    fn a_planning_fits_into_its_interval(
        scene in scenes(1..30),
        population in select(vec![4_u64, 6, 10]),
        generations in 1..5_u64,
        per_gene in 1..3_000_u64,
        more in 0..400_000_u64,
        most in 1..40_u64,
        search in select(vec!["nsga2", "sum", "random"]),
    ) {
        // From time for one task on.
        let interval = per_gene * population * generations + more;
        let written = format!(
            "mojs[population={population},generations={generations},per_gene={per_gene} us,interval={interval} us,most={most},search={search}]"
        );
        let (plan, takes, front) = said(&scene, &written);
        prop_assert!(takes.micros() <= interval, "{takes} s of {interval} us");
        if let Some(front) = front {
            prop_assert_eq!(takes.micros(), per_gene * front.tasks * front.evaluations);
            prop_assert!((1..=most).contains(&front.tasks));
            prop_assert!(plan.iter().all(|decision| decision.start >= scene.now + takes));
        } else {
            prop_assert_eq!((plan.len(), takes), (0, Span::ZERO));
        }
    }
}
