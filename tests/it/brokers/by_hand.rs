//! Cases worked by hand, and goldens from the literature. Times in seconds.

use std::collections::BTreeMap;

use gridemu::broker::{BrokerRegistry, Pool, Rates};
use gridemu::model::{
    GridContext, Job, Limits, PartitionId, PerKwh, PoolId, SiteId, SiteTariff, Size, Speedup,
};
use gridemu::units::{Bandwidth, Bytes, Rate, Span, Time, Work};

use super::scenes::{Scene, build, busy_until, idle, powered, priced};
use crate::support::job;

/// Six tasks on three machines, and five: run times of the rows' tasks on the columns' machines.
const A: &[[u64; 3]] = &[[13, 8, 17], [22, 15, 9], [4, 12, 7], [30, 21, 26], [11, 6, 18], [9, 19, 5]];
const B: &[[u64; 3]] = &[[40, 20, 60], [30, 30, 30], [100, 10, 20], [15, 45, 25], [50, 50, 10]];

/// Any matrix of run times as a view. A machine is a pool of 1, 2 or 3 processors, and a task a job that takes all
/// processors of its pool, with the speedup that gives it its run time there. It is estimated for a fourth size, that no
/// pool has: the least common multiple of its row, so that all rates are whole.
fn independent_tasks(matrix: &[[u64; 3]]) -> Scene {
    let gcd = |mut a: u64, mut b: u64| {
        while b > 0 {
            (a, b) = (b, a % b);
        }
        a
    };
    let task = |(id, row): (usize, &[u64; 3])| {
        let whole = row.iter().fold(1, |whole, time| whole / gcd(whole, *time) * time);
        let mut points: Vec<_> =
            (1..).zip(row).map(|(procs, time)| (procs, Rate::ratio(whole / time, 1))).collect();
        points.push((4, Rate::FULL));
        let speedup = Speedup::Points(points);
        Job {
            size: Size::Moldable { min: 1, preferred: 4, max: 4, speedup },
            ..job(id as u64 + 1, 0, 4, whole)
        }
    };
    let pools = (0..3).map(|number| idle(number, number + 1, 100)).collect();
    Scene::new(0, pools, matrix.iter().enumerate().map(task).collect())
}

/// The machine of each task, from 1, and the time at which the last of them ends.
fn mapped(scene: &Scene, matrix: &[[u64; 3]], policy: &str) -> (Vec<usize>, u64) {
    let places = scene.places(policy);
    assert_eq!(places.len(), matrix.len(), "all tasks, in order");
    let mut load = [0; 3];
    for ((_, machine), row) in places.iter().zip(matrix) {
        load[*machine] += row[*machine];
    }
    (places.iter().map(|(_, machine)| machine + 1).collect(), load.into_iter().max().unwrap_or(0))
}

/// Worked step by step for A under MCT, as (task: machine, its end): 1: 2, 8; 2: 3, 9; 3: 1, 4; 4: 2, 8 + 21 = 29; 5: 1,
/// 4 + 11 = 15; 6: 3, 9 + 5 = 14.
#[test]
fn independent_tasks_are_mapped_as_in_the_literature() {
    for (matrix, mct, olb, met) in [(A, 29, 34, 35), (B, 45, 80, 45)] {
        let mut scene = independent_tasks(matrix);
        assert_eq!(mapped(&scene, matrix, "mct").1, mct, "minimum completion time");
        assert_eq!(mapped(&scene, matrix, "cheapest[within=0]").1, mct, "everything is free of charge");
        assert_eq!(mapped(&scene, matrix, "least-loaded[by=start]").1, olb, "opportunistic load balancing");
        // A broker that forgets what it has sent takes each machine for free: minimum execution time.
        scene.count_in_flight = false;
        assert_eq!(mapped(&scene, matrix, "fastest-free").1, met, "minimum execution time");
    }
    let scene = independent_tasks(A);
    assert_eq!(mapped(&scene, A, "mct").0, [2, 3, 1, 2, 1, 3]);
    assert_eq!(mapped(&scene, A, "least-loaded[by=start]").0, [1, 2, 3, 3, 1, 2]);
    let ends: Vec<u64> = scene.planned("mct").iter().map(|(.., end)| *end).collect();
    assert_eq!(ends, [8, 9, 4, 29, 15, 14]);
}

/// 8 processors at speed 1, free; 8 at speed 2, taken until 100; 4 at speed 4, free.
fn three() -> Vec<Pool> {
    vec![idle(0, 8, 100), busy_until(idle(1, 8, 200), 100), idle(2, 4, 400)]
}

#[test]
fn mct_weighs_speed_against_queues() {
    let wide = |id| job(id, 0, 8, 100);
    let scene = Scene::new(0, three(), vec![wide(1), wide(2), wide(3), job(4, 0, 4, 100)]);
    assert_eq!(
        scene.planned("mct"),
        [
            // 0 + 100 / 1 before 100 + 100 / 2; too wide for the third pool.
            (1, 0, 0, 100),
            // Behind 8 × 100 on 8 processors 100 + 100; before that 100 + 50.
            (2, 1, 100, 150),
            // 100 + 100, and behind 8 × 50 on 8 processors 100 + 50 + 50: equal, the first.
            (3, 0, 100, 200),
            // 100 / 4
            (4, 2, 0, 25),
        ]
    );
    let blind = Scene { count_in_flight: false, ..scene };
    assert_eq!(blind.places("mct"), [(1, 0), (2, 0), (3, 0), (4, 2)], "all to what was best");
}

/// Of 8 processors 5 are free, and nobody waits: two jobs of 2 in flight leave room for none of 2, but for one of 1.
#[test]
fn what_is_in_flight_takes_free_processors_first() {
    let mut pool = idle(0, 8, 100);
    pool.report.free = 5;
    pool.report.start_estimates.steps = vec![(5, Time::ZERO), (8, Time::from_secs(60))];
    let jobs = [(1, 2), (2, 2), (3, 1), (4, 1), (5, 6)].map(|(id, procs)| job(id, 0, procs, 80)).to_vec();
    let scene = Scene::new(10, vec![pool], jobs);
    assert_eq!(
        scene.planned("mct"),
        [
            (1, 0, 10, 90),
            (2, 0, 10, 90),
            (3, 0, 10, 90),
            // No room: what is in flight, (2 + 2 + 1) × 80, takes 8 processors 50, from when it was sent.
            (4, 0, 60, 140),
            // (2 + 2 + 1 + 1) × 80 / 8 = 60 after 60.
            (5, 0, 120, 200),
        ]
    );
}

/// 1 Gbyte is 8 s at 1 Gbit/s. The near pool has it at 0, the far one at 1 + 8 + 1 and is twice as fast.
#[test]
fn data_and_distance_count() {
    let mut far = idle(1, 1, 200);
    far.facts.latency = Span::from_secs(1);
    far.facts.bandwidth = Some(Bandwidth::from_bits(1_000_000_000));
    let with_input = |id, runtime| {
        let input = Bytes::new(1_000_000_000);
        Job {
            grid: Some(Box::new(GridContext { input, ..GridContext::default() })),
            ..job(id, 0, 1, runtime)
        }
    };
    for (task, place, start, end) in [
        (with_input(1, 18), 0, 0, 18),
        (with_input(1, 22), 1, 10, 21),
        // Without data only the job itself travels.
        (job(1, 0, 1, 4), 1, 1, 3),
        (job(1, 0, 1, 2), 0, 0, 2),
    ] {
        let scene = Scene::new(0, vec![idle(0, 1, 100), far.clone()], vec![task]);
        assert_eq!(scene.planned("mct"), [(1, place, start, end)]);
    }
}

/// Of 100 s a checkpoint has kept 60: 40 are left, 20 at speed 2.
#[test]
fn what_a_checkpoint_has_kept_is_not_run_again() {
    let kept = Work::of_runtime(Span::from_secs(60));
    let left =
        Job { grid: Some(Box::new(GridContext { kept, ..GridContext::default() })), ..job(1, 0, 1, 100) };
    assert_eq!(Scene::new(0, vec![idle(0, 1, 200)], vec![left]).planned("mct"), [(1, 0, 0, 20)]);
}

/// A pool in which `waiting` jobs wait with a backlog of so many processor-seconds, and so many processors are free.
fn queued(mut pool: Pool, waiting: u32, backlog: u128, free: u32) -> Pool {
    pool.report.waiting = waiting;
    pool.report.backlog = backlog * 1_000_000;
    pool.report.free = free;
    pool
}

#[test]
fn the_least_loaded_by_work() {
    let pools = vec![
        queued(idle(0, 10, 100), 1, 50, 0), // 50 / 10 = 5
        queued(idle(1, 20, 100), 2, 80, 0), // 80 / 20 = 4
        queued(idle(2, 10, 900), 0, 0, 2),  // 0, with 8 of 10 taken
        queued(idle(3, 40, 100), 0, 0, 10), // 0, with 30 of 40 taken
    ];
    let jobs = (1..=7).map(|id| job(id, 0, 5, 20)).collect();
    let scene = Scene::new(0, pools, jobs);
    // 1: 0.75 taken is less than 0.8; then 35 of 40 are. 2: 0.8, then (8 + 5) of 10, and because 5 are more than the 2
    // free ones, 5 × 20 / 9 / 10 wait: 1.1. 3 and 4: 0.875 taken; with the second in flight 1.0, and it still fits; with
    // the third 15 are more than 10, so 15 × 20 / 40 = 7.5 wait. 5: 1.1, then 2.2. 6: 2.2, then 3.3. 7: 3.3.
    assert_eq!(scene.places("least-loaded"), [(1, 3), (2, 2), (3, 3), (4, 3), (5, 2), (6, 2), (7, 2)]);
}

#[test]
fn the_least_loaded_by_jobs() {
    let with = |mut pool: Pool, waiting, running| {
        (pool.report.waiting, pool.report.running) = (waiting, running);
        pool
    };
    // 6 / (4 × 1) = 1.5; 6 / (4 × 2) = 0.75; 3 / (4 × ½) = 1.5
    let pools = vec![with(idle(0, 4, 100), 2, 4), with(idle(1, 4, 200), 4, 2), with(idle(2, 4, 50), 0, 3)];
    let scene = Scene::new(0, pools, (1..=8).map(|id| job(id, 0, 1, 1)).collect());
    // The second until it has 12 / 8 = 1.5 as well; then the first of the three equals, which has 1.75 with that one.
    let expected = [1, 1, 1, 1, 1, 1, 0, 1].into_iter().enumerate().map(|(at, pool)| (at as u64 + 1, pool));
    assert_eq!(scene.places("least-loaded[by=jobs]"), expected.collect::<Vec<_>>());
}

#[test]
fn the_fastest_free_waits_or_queues() {
    let jobs = vec![job(1, 0, 4, 100), job(2, 0, 8, 100), job(3, 0, 8, 100), job(4, 0, 4, 100)];
    let scene = Scene::new(0, three(), jobs);
    // The second pool is taken. 3 finds no 8 processors, nor does 4 find 4: the first pool is full now, the third too.
    assert_eq!(scene.places("fastest-free"), [(1, 2), (2, 0)]);
    // 3: 100 + 100 in the first, 100 + 50 in the second. 4: 100 + 100, (100 + 50) + 50, 25 + 25.
    assert_eq!(scene.places("fastest-free[full=queue]"), [(1, 2), (2, 0), (3, 1), (4, 2)]);
}

/// Free processors behind a queue are not free for a newcomer, if the pool says so.
#[test]
fn free_processors_behind_a_queue_do_not_count() {
    let mut pool = queued(idle(0, 8, 100), 1, 800, 4);
    pool.report.start_estimates.steps = vec![(8, Time::from_secs(100))];
    let scene = Scene::new(0, vec![pool], vec![job(1, 0, 2, 10)]);
    assert_eq!(scene.places("fastest-free"), []);
    assert_eq!(scene.planned("mct"), [(1, 0, 100, 110)]);
}

#[test]
fn the_cheapest_is_not_the_lowest_price() {
    // A job of 100 s: 3 × 100 / 1 = 300; 4 × 100 / 2 = 200; 12 × 100 / 4 = 300.
    let pools = vec![
        priced(idle(0, 4, 100), 3),
        priced(idle(1, 4, 200), 4),
        priced(busy_until(idle(2, 4, 400), 10), 12),
    ];
    let scene = |deadline: Option<u64>| {
        let mut job = job(1, 0, 4, 100);
        job.limits = deadline.map(|deadline| Box::new(Limits::by(Time::from_secs(deadline))));
        Scene::new(0, pools.clone(), vec![job])
    };
    assert_eq!(scene(None).planned("cheapest"), [(1, 1, 0, 50)]);
    // Only the third is done by 49; none by 34, and then the third is first.
    for late in [49, 34] {
        assert_eq!(scene(Some(late)).planned("cheapest"), [(1, 2, 10, 35)]);
        assert_eq!(scene(Some(late)).planned("cheapest[deadline=ignore]"), [(1, 1, 0, 50)]);
    }
    // The earliest completion is at 35, the second pool's 15 later.
    assert_eq!(scene(None).planned("cheapest[within=14.999]"), [(1, 2, 10, 35)]);
    assert_eq!(scene(None).planned("cheapest[within=15]"), [(1, 1, 0, 50)]);
    // Of the first and the third, the third is done earlier.
    let without_second = Scene { refused: vec![vec![pools[1].facts.id]], ..scene(None) };
    assert_eq!(without_second.places("cheapest"), [(1, 2)]);
    assert_eq!(without_second.places("cheapest[ties=pool]"), [(1, 0)]);
}

#[test]
fn blocks_are_paid_whole() {
    // 5 processors are 6 in blocks of 3, and 8 in blocks of 8: 6 × 4 is less than 8 × 3.5, though 4 is more than 3.5.
    let mut blocks = [priced(idle(0, 12, 100), 8), priced(idle(1, 16, 100), 7)];
    (blocks[0].facts.allocation_unit, blocks[1].facts.allocation_unit) = (3, 8);
    assert_eq!(Scene::new(0, blocks.to_vec(), vec![job(1, 0, 5, 10)]).places("cheapest"), [(1, 0)]);
}

#[test]
fn the_greenest_by_what_it_adds_or_by_all_it_draws() {
    // For 100 s: (200 − 100) × 100 = 10,000 J added, 20,000 J in all; (150 − 30) × 100 × 1 and 150 × 100; twice as fast
    // with a PUE of 1.5: (240 − 60) × 50 × 1.5 = 13,500 and 240 × 50 × 1.5 = 18,000.
    let pools = vec![
        powered(idle(0, 1, 100), 100, 200, 100),
        powered(idle(1, 1, 100), 30, 150, 100),
        powered(idle(2, 1, 200), 60, 240, 150),
    ];
    let places =
        |pools: &[Pool], policy: &str| Scene::new(0, pools.to_vec(), vec![job(1, 0, 1, 100)]).places(policy);
    assert_eq!(places(&pools, "greenest"), [(1, 0)]);
    assert_eq!(places(&pools, "greenest[power=busy]"), [(1, 1)]);
    assert_eq!(places(&pools[1..], "greenest"), [(1, 0)], "12,000 J before 13,500 J");
    // With a PUE of 1.3 the fast one adds 11,700 J; with 1.2 it draws 14,400 J in all.
    let better = |pue| [pools[1].clone(), powered(pools[2].clone(), 60, 240, pue)];
    assert_eq!(places(&better(130), "greenest"), [(1, 1)]);
    assert_eq!(places(&better(130), "greenest[power=busy]"), [(1, 0)], "15,000 J before 15,600 J");
    assert_eq!(places(&better(120), "greenest[power=busy]"), [(1, 1)]);
    assert_eq!(places(&pools, "greenest[within=0]"), [(1, 2)]);
}

/// The pool at a site with this tariff, that draws 1 kW more when busy.
fn at(pool: Pool, price: u64, tariff: SiteTariff) -> Pool {
    let mut pool = powered(priced(pool, price), 500, 1_500, 100);
    pool.facts.rates = Rates::new(pool.report.price, tariff);
    pool
}

/// A run of two hours from 1:00 on, or from 3:00 on where the pool is busy until then. Processors cost 4 and 1 from 2 to 4 at the first site, so
/// 4 + 1 = 5, and 3 at the second, so 6. Electricity costs 0.10 and −0.30 from 2 to 4 and 0.10 again at the first, so −0.20 from 1:00 and −0.20 from 3:00, and
/// −0.15 at the second, so −0.30. The first causes 100 g/kWh up to 2:00, then 500, so 600 g; the second 300, so 600 g as well; the third 250.
#[test]
fn what_is_paid_is_an_integral_over_the_run() {
    let day = |of: &dyn Fn(i64) -> i64| Some(PerKwh::Day((0..24).map(of).collect()));
    let first = SiteTariff {
        price_by_hour: Some("2-4=0.25".parse().unwrap()),
        electricity: day(&|hour| if (2..4).contains(&hour) { -300_000_000 } else { 100_000_000 }),
        carbon: day(&|hour| if hour < 2 { 100_000_000 } else { 500_000_000 }),
        ..SiteTariff::default()
    };
    let flat = |price, carbon| SiteTariff {
        electricity: Some(PerKwh::Flat(price)),
        carbon: Some(PerKwh::Flat(carbon)),
        ..SiteTariff::default()
    };
    let mut pools = vec![
        at(idle(0, 1, 100), 4, first),
        at(idle(1, 1, 100), 3, flat(-150_000_000, 300_000_000)),
        at(idle(2, 1, 100), 9, flat(0, 250_000_000)),
    ];
    let jobs = vec![job(1, 0, 1, 7_200)];
    let places =
        |pools: &[Pool], policy: &str| Scene::new(3_600, pools.to_vec(), jobs.clone()).places(policy)[0].1;
    assert_eq!(places(&pools, "cheapest"), 0, "5 before 6");
    assert_eq!(places(&pools, "cheapest[of=electricity]"), 1, "-0.30 before -0.20");
    assert_eq!(places(&pools, "lowest-carbon"), 2, "500 g before 600 g");
    assert_eq!(places(&pools[..2], "lowest-carbon"), 0, "the first of two with 600 g");
    // From 3:00 on: 1 + 4 = 5 where it is busy now, 6 elsewhere; 1,000 g there.
    pools[0] = busy_until(pools[0].clone(), 3 * 3_600);
    assert_eq!(places(&pools, "cheapest"), 0);
    assert_eq!(places(&pools[..2], "lowest-carbon"), 1);
    assert_eq!(places(&pools, "cheapest[within=1 h]"), 1, "too late");
    // What is not known is not chosen if anything is known, and is as good as anything else if not.
    let unknown = at(idle(1, 1, 200), 1, SiteTariff::default());
    assert_eq!(places(&[unknown.clone(), pools[2].clone()], "lowest-carbon"), 1);
    assert_eq!(places(&[pools[1].clone(), unknown.clone()], "cheapest[of=electricity]"), 0);
    assert_eq!(
        places(&[at(idle(0, 1, 100), 1, SiteTariff::default()), unknown], "lowest-carbon"),
        1,
        "done earlier"
    );
}

/// A job of an hour, submitted at 1:30, that could start then. Electricity costs 0.40 up to 3:00, 0.10 up to 4:00 and 0.40 again at the first site;
/// at the second it costs 0.30, and -0.10 from 5:00 on.
#[test]
fn a_job_waits_for_a_better_hour() {
    let day =
        |of: &dyn Fn(i64) -> i64| Some(PerKwh::Day((0..24).map(|hour| of(hour) * 10_000_000).collect()));
    let tariff = |electricity| SiteTariff { electricity, ..SiteTariff::default() };
    let first = tariff(day(&|hour| if hour == 3 { 10 } else { 40 }));
    let second = tariff(day(&|hour| if hour < 5 { 30 } else { -10 }));
    let mut pools = vec![at(idle(0, 1, 100), 1, first), at(idle(1, 1, 100), 1, second)];
    let minutes = |hours: u64, minutes: u64| 3_600 * hours + 60 * minutes;
    let submit = minutes(1, 30);
    let scene = |pools: &[Pool], deadline: Option<u64>| {
        let mut job = job(1, submit, 1, 3_600);
        job.limits = deadline.map(|deadline| Box::new(Limits::by(Time::from_secs(deadline))));
        Scene::new(submit, pools.to_vec(), vec![job])
    };
    let starts = |written: &str| {
        let (_, pool, start, end) =
            scene(&pools, None).planned(&format!("cheapest[of=electricity,{written}]"))[0];
        assert_eq!(end, start + 3_600);
        (pool, start)
    };
    assert_eq!(starts("horizon=0"), (1, submit), "0.30 now before 0.40 now");
    // Up to 2:20 it would be 40 minutes of 0.40 and 20 of 0.10 at the first site: 0.30, as much as at the second, where it starts at once.
    assert_eq!(starts("horizon=50 min"), (1, submit));
    assert_eq!(starts("horizon=51 min"), (0, minutes(2, 21)), "as much of the cheap hour as the horizon has");
    assert_eq!(starts("horizon=2 h"), (0, minutes(3, 0)));
    assert_eq!(
        starts("horizon=3 h"),
        (0, minutes(3, 0)),
        "from 4:30 on at the second: 0.30 and -0.10, 0.10 in sum: the earlier"
    );
    assert_eq!(starts("horizon=181 min"), (1, minutes(4, 31)));
    assert_eq!(starts("horizon=12 h"), (1, minutes(5, 0)), "the first of many alike");
    // No later than what its deadline leaves, nor than `within` has.
    let by = |deadline, written: &str| scene(&pools, Some(deadline)).planned(written)[0].2;
    assert_eq!(by(minutes(4, 0), "cheapest[of=electricity,horizon=12 h]"), minutes(3, 0));
    assert_eq!(by(minutes(3, 21), "cheapest[of=electricity,horizon=12 h]"), minutes(2, 21));
    assert_eq!(by(minutes(3, 20), "cheapest[of=electricity,horizon=12 h]"), submit);
    assert_eq!(by(minutes(3, 20), "cheapest[of=electricity,horizon=12 h,deadline=ignore]"), minutes(5, 0));
    assert_eq!(starts("horizon=12 h,within=90 min"), (0, minutes(3, 0)));
    // On the first day the present hour is what yesterday's forecast has: nothing is worth waiting for. A day later it knows, and is wrong where
    // that day differs; a free processor does not help where it is free too late.
    assert_eq!(starts("horizon=12 h,forecast=yesterday"), (1, submit));
    pools[0] = busy_until(pools[0].clone(), minutes(3, 30));
    assert_eq!(
        scene(&pools, None).planned("cheapest[of=electricity,horizon=150 min]"),
        [(1, 0, minutes(3, 30), minutes(4, 30))]
    );
}

/// A job of 100 s in pools of speed 1, 2 and 4 at prices of 1, 4 and 20 adds 10, 15 and 12.5 kJ: it completes after 100, 50 and 25 s, and costs 100, 200 and 500
/// units. The shares of time are 1, 1/3 and 0, those of price 0, 1/4 and 1, those of energy 0, 1 and 1/2.
#[test]
fn weights_are_of_shares_between_the_best_and_the_worst() {
    let pools = vec![
        powered(priced(idle(0, 1, 100), 1), 100, 200, 100),
        powered(priced(idle(1, 1, 200), 4), 100, 400, 100),
        powered(priced(idle(2, 1, 400), 20), 100, 600, 100),
    ];
    let place = |written: &str| {
        let scene = Scene::new(0, pools.clone(), vec![job(1, 0, 1, 100)]);
        scene.places(&format!("weighted[{written}]"))[0].1
    };
    assert_eq!(place("time=1,price=1"), 1, "1, 7/12, 1");
    assert_eq!(place("time=1,price=3"), 0, "1, 13/12, 3");
    assert_eq!(place("time=4,price=1"), 2, "4, 19/12, 1");
    assert_eq!(place("time=1,price=0,energy=1"), 2, "1, 4/3, 1/2");
    assert_eq!(place("time=0,price=0"), 2, "nothing weighs anything: the earliest");
    assert_eq!(place("time=1,price=0,carbon=9"), 2, "nothing is known of carbon");
}

/// One processor. Jobs of 10 s that are due at 40, never, at 20, and at 40.
#[test]
fn what_is_due_first_goes_first() {
    let due = [Some(40), None, Some(20), Some(40)];
    let jobs = (1..).zip(due).map(|(id, due)| {
        let mut job = job(id, 0, 1, 10);
        job.limits = due.map(|due| Box::new(Limits::by(Time::from_secs(due))));
        job
    });
    let scene = Scene::new(0, vec![idle(0, 1, 100)], jobs.collect());
    assert_eq!(
        scene.planned("deadline-first"),
        [(3, 0, 0, 10), (1, 0, 10, 20), (4, 0, 20, 30), (2, 0, 30, 40)]
    );
}

#[test]
fn jobs_are_pulled_in_order_of_arrival() {
    let asked = |asked: [u32; 3]| -> Vec<Pool> {
        three().into_iter().zip(asked).map(|(pool, asked)| Pool { asked, ..pool }).collect()
    };
    let jobs = [(1, 6), (2, 3), (3, 2), (4, 2)].map(|(id, procs)| job(id, 0, procs, 10)).to_vec();
    let scene = |asked_for| Scene::new(0, asked(asked_for), jobs.clone());
    assert_eq!(scene([0, 0, 0]).places("pull"), [], "nobody asked");
    // 1 is too wide for 5 and 4. 2 takes 3 of 5, 3 the other 2, and 4 goes to the third pool.
    assert_eq!(scene([5, 0, 4]).places("pull"), [(2, 0), (3, 0), (4, 2)]);
    assert_eq!(scene([5, 0, 4]).places("pull[pass=no]"), []);
    // 1 takes 6 of 8, 2 then 3 of 4, 3 the last 2 of the 8.
    assert_eq!(scene([8, 0, 4]).places("pull[pass=no]"), [(1, 0), (2, 2), (3, 0)]);
    // With the wide pools closed 1 fits nowhere, and holds up nobody.
    let mut closed = scene([8, 0, 4]);
    closed.pools[..2].iter_mut().for_each(|pool| pool.open = false);
    assert_eq!(closed.places("pull[pass=no]"), [(2, 2)], "3 waits, because 1 is left of 4, and so does 4");
}

#[test]
fn each_pool_in_turn() {
    let widths = [1, 1, 6, 1, 1, 6, 1];
    let jobs = (1..).zip(widths).map(|(id, procs)| job(id, 0, procs, 10)).collect();
    // The third pool has 4 processors: it loses its turn to the first at 3, and the second has its own at 6.
    assert_eq!(
        Scene::new(0, three(), jobs).places("round-robin"),
        [(1, 0), (2, 1), (3, 0), (4, 1), (5, 2), (6, 0), (7, 1)]
    );
}

/// A pool with 8 processors, of which so many are there.
fn partly(number: u32, present: u32, percent: u64) -> Pool {
    let mut pool = idle(number, 8, percent);
    (pool.report.present, pool.report.free) = (present, present);
    pool.report.start_estimates.steps = vec![(present, Time::ZERO)];
    pool
}

#[test]
fn a_job_for_absent_processors_waits_or_queues() {
    let narrow = idle(0, 4, 800);
    let scene = Scene::new(0, vec![narrow, partly(1, 2, 100), partly(2, 5, 200)], vec![job(1, 0, 6, 10)]);
    for name in BrokerRegistry::standard().names() {
        assert_eq!(scene.places(name), [], "{name} waits");
    }
    let queued = |policy| scene.plan(&mut *build(policy)).0;
    let [planned] = queued("mct[absent=queue]")[..] else { panic!("one assignment") };
    assert_eq!((planned.pool, planned.start), (2, Time::NEVER), "the faster; nobody knows when");
    for (policy, pool) in [
        ("round-robin[absent=queue]", 1),
        // 6 of 8 taken; 3 of 8.
        ("least-loaded[absent=queue]", 2),
        ("fastest-free[absent=queue]", 2),
        ("cheapest[absent=queue]", 2),
        ("cheapest[absent=queue,ties=pool]", 1),
    ] {
        let mut scene = scene.clone();
        scene.pools[1].in_flight.procs = 6;
        scene.pools[2].in_flight.procs = 3;
        assert_eq!(scene.plan(&mut *build(policy)).0[0].pool, pool, "{policy}");
    }
}

/// Where each job goes at random, for so many jobs.
fn drawn(pools: &[Pool], seed: u64, jobs: &[Job]) -> BTreeMap<u64, usize> {
    let scene = Scene::new(0, pools.to_vec(), jobs.to_vec());
    let named = "random".parse().expect("a name");
    let (plan, _) = scene.plan(&mut *BrokerRegistry::standard().build(&named, seed).expect("known").0);
    plan.iter().map(|planned| (jobs[planned.job].id.0, planned.pool)).collect()
}

#[test]
fn at_random_each_pool_is_as_likely() {
    let pools: Vec<Pool> = (0..5).map(|number| idle(number, 4, 100)).collect();
    let jobs: Vec<Job> = (0..10_000).map(|id| job(id, 0, 1, 1)).collect();
    let mut counts = [0_u32; 5];
    drawn(&pools, 1, &jobs).into_values().for_each(|pool| counts[pool] += 1);
    let off: u32 = counts.iter().map(|count| count.abs_diff(2_000).pow(2)).sum();
    assert!(f64::from(off) / 2_000.0 < 18.5, "χ² with 4 degrees of freedom, 1 in a thousand: {counts:?}");
}

#[test]
fn a_draw_is_the_jobs_own() {
    let pools: Vec<Pool> = (0..5).map(|number| idle(number, 4, 100)).collect();
    let jobs: Vec<Job> = (0..200).map(|id| job(id, 0, 1, 1)).collect();
    let together = drawn(&pools, 1, &jobs);
    let differ =
        |other: &BTreeMap<u64, usize>| together.iter().filter(|(id, pool)| other[*id] != **pool).count();
    // Neither order nor company matter, nor size and estimate.
    let mut others: Vec<Job> = (0..200).rev().map(|id| job(id, 0, 3, 99)).collect();
    assert_eq!(differ(&drawn(&pools, 1, &others)), 0);
    let alone: BTreeMap<u64, usize> =
        jobs.iter().flat_map(|job| drawn(&pools, 1, std::slice::from_ref(job))).collect();
    assert_eq!(differ(&alone), 0);
    // Another seed, and another try, are other draws: 4 in 5 differ.
    assert!((130..190).contains(&differ(&drawn(&pools, 2, &jobs))));
    for job in &mut others {
        job.grid = Some(Box::new(GridContext { assignment: 1, ..GridContext::default() }));
    }
    assert!((130..190).contains(&differ(&drawn(&pools, 1, &others))));
    // A pool that closes moves its own jobs and no other.
    let mut closed = pools.clone();
    closed[2].open = false;
    let moved = drawn(&closed, 1, &jobs);
    assert!(together.iter().all(|(id, pool)| if *pool == 2 { moved[id] != 2 } else { moved[id] == *pool }));
}

#[test]
fn nothing_goes_to_who_has_refused_it_or_is_closed() {
    let refuser = PoolId { site: SiteId(1), partition: PartitionId(0) };
    let mut pools = vec![idle(0, 8, 100), idle(1, 8, 100), idle(2, 8, 100)];
    pools.iter_mut().for_each(|pool| pool.asked = 8);
    pools[0].open = false;
    for name in BrokerRegistry::standard().names() {
        let mut scene = Scene::new(0, pools.clone(), vec![job(1, 0, 1, 10)]);
        scene.refused = vec![vec![refuser]];
        assert_eq!(scene.places(name), [(1, 2)], "{name}");
    }
}
