//! What holds for every policy of the registry, with every parameter.

use std::collections::BTreeSet;

use gridemu::broker::{BrokerRegistry, Pool, Rates};
use gridemu::model::{Named, PerKwh, SiteTariff};
use gridemu::units::Span;
use proptest::prelude::*;
use proptest::sample::select;

use super::scenes::{Scene, build, scenes};
use super::twins::Twin;

/// Every policy of the registry with its defaults, and those with parameters in other ways.
const MORE: &[&str] = &[
    "random[absent=queue]",
    "round-robin[absent=queue]",
    "least-loaded[absent=queue]",
    "least-loaded[by=jobs]",
    "least-loaded[by=jobs,absent=queue]",
    "least-loaded[by=start]",
    "least-loaded[by=start,absent=queue]",
    "fastest-free[full=queue]",
    "fastest-free[absent=queue]",
    "fastest-free[full=queue,absent=queue]",
    "mct[absent=queue]",
    "cheapest[within=0]",
    "cheapest[within=10 min,deadline=ignore]",
    "cheapest[within=10 min,ties=pool,absent=queue]",
    "cheapest[deadline=ignore,absent=queue]",
    "cheapest[of=electricity]",
    "cheapest[of=electricity,power=busy,absent=queue]",
    "cheapest[horizon=3 h]",
    "cheapest[of=electricity,horizon=4 h,forecast=yesterday]",
    "cheapest[of=electricity,horizon=2 h,ties=pool,forecast=error[deviation=0]]",
    "lowest-carbon[power=busy,within=10 min]",
    "lowest-carbon[horizon=90 min,deadline=ignore]",
    "lowest-carbon[forecast=yesterday]",
    "lowest-carbon[deadline=ignore,ties=pool,absent=queue]",
    "greenest[power=busy]",
    "greenest[power=busy,within=10 min,absent=queue]",
    "greenest[deadline=ignore,ties=pool,absent=queue]",
    "weighted[time=0,price=2.5,energy=1,carbon=3,power=busy]",
    "weighted[carbon=0.5,absent=queue]",
    "deadline-first[absent=queue]",
    "pull[pass=no]",
    "met[absent=queue]",
    "sufferage[commit=one]",
    "mojs[population=6,generations=2,interval=1 min,min_queued=2,most=3,crossover=0.5,points=1,search=sum,start=random,choose=knee]",
    "mojs[population=6,generations=2,search=random,on_change=no,on_arrival=no,per_gene=1 us]",
    "mojs[population=6,generations=2,makespan=0,idle=2,lateness=3,overspending=0.5,energy=7,order=ready]",
];

pub(crate) fn written() -> Vec<String> {
    crate::support::quick_brokers().into_iter().chain(MORE.iter().map(|more| (*more).to_owned())).collect()
}

fn any_policy() -> impl Strategy<Value = String> {
    select(written())
}

/// The policies that decide as a slow twin would. A search is held against all there is to find where the policy is.
fn with_twin() -> impl Strategy<Value = String> {
    select(written().into_iter().filter(|written| !written.starts_with("mojs")).collect::<Vec<_>>())
}

/// The policies to which it is all the same where a pool stands; of those that compare all jobs it is not asked, because after a tie everything may
/// be different.
fn blind_to_places() -> impl Strategy<Value = String> {
    let registry = BrokerRegistry::standard();
    let blind = |written: &String| {
        let named: Named = written.parse().expect("as it is written");
        let abilities = registry.build(&named, 7).expect("known").1;
        named.name != "round-robin" && !abilities.random && (!abilities.batch || abilities.pulls)
    };
    // Sorted out beforehand: too many cases thrown away would end a long run of the test.
    select(written().into_iter().filter(blind).collect::<Vec<_>>())
}

#[test]
fn every_parameter_is_tried_with_another_value_than_its_default() {
    for info in BrokerRegistry::standard().all() {
        for param in &*info.about.params {
            let other = |more: &&str| {
                let named: Named = more.parse().expect(more);
                named.name == info.about.name
                    && named.params.get(param.key).is_some_and(|v| v != param.default)
            };
            assert!(MORE.iter().any(other), "{}[{}=...]", info.about.name, param.key);
        }
    }
}

/// The scene with its pools in another order.
fn permuted(scene: &Scene, order: &[usize]) -> Scene {
    Scene { pools: order.iter().map(|at| scene.pools[*at].clone()).collect(), ..scene.clone() }
}

proptest! {
    #![proptest_config(crate::support::cases(4000))]

    /// Three plans in a row, the last of them by a policy that was saved and restored in between.
    #[test]
    fn each_is_its_slow_twin(written in with_twin(), three in prop::array::uniform3(scenes(0..10))) {
        let (mut fast, mut slow) = (build(&written), Twin::new(&written));
        for (turn, scene) in three.iter().enumerate() {
            if turn == 2 {
                let saved = fast.save();
                fast = build(&written);
                fast.restore(&saved).expect("its own state");
            }
            let (plan, pools) = scene.plan(&mut *fast);
            let expected = slow.plan(scene);
            prop_assert_eq!(&plan, &expected.plan, "{}", &written);
            prop_assert_eq!(pools, expected.pools, "{}", &written);
        }
    }

    /// Whatever the policy: nothing goes where it does not fit, nothing twice, nothing in another way the second time.
    #[test]
    fn each_assigns_once_where_the_job_fits(written in any_policy(), scene in scenes(0..70)) {
        let (plan, _) = scene.plan(&mut *build(&written));
        let (again, _) = scene.plan(&mut *build(&written));
        prop_assert_eq!(&plan, &again);
        let jobs: BTreeSet<usize> = plan.iter().map(|planned| planned.job).collect();
        prop_assert_eq!(jobs.len(), plan.len(), "a job twice");
        for planned in plan {
            let (job, pool) = (&scene.jobs[planned.job], &scene.pools[planned.pool]);
            prop_assert!(pool.open && !scene.refused[planned.job].contains(&pool.facts.id));
            let has = if written.contains("absent=queue") { pool.facts.processors } else { pool.report.present };
            prop_assert!(job.size.min() <= has && job.size.min().div_ceil(pool.facts.allocation_unit) * pool.facts.allocation_unit <= has);
            prop_assert!(planned.start >= scene.now && planned.end >= planned.start);
        }
    }

    /// A steady policy plans the same whether or not it sees again what it has left, however much later.
    #[test]
    fn a_steady_one_leaves_what_it_has_left(
        written in any_policy(),
        scene in scenes(0..20),
        at in 0..20_usize,
        later in 0..100_000_000_u64,
    ) {
        let registry = BrokerRegistry::standard();
        let is_steady = registry.build(&written.parse().expect("a policy"), 7).expect("known").1.steady;
        prop_assert_eq!(is_steady, written != "pull[pass=no]" && !written.starts_with("mojs"));
        let at = at.min(scene.jobs.len());
        let part = |which: &[usize], now, pools: &[Pool]| Scene {
            now,
            pools: pools.to_vec(),
            jobs: which.iter().map(|job| scene.jobs[*job].clone()).collect(),
            refused: which.iter().map(|job| scene.refused[*job].clone()).collect(),
            ..scene
        };
        let mut policy = build(&written);
        let first: Vec<usize> = (0..at).collect();
        let (plan, pools) = part(&first, scene.now, &scene.pools).plan(&mut *policy);
        let left: Vec<usize> = first.into_iter().filter(|job| plan.iter().all(|planned| planned.job != *job)).collect();
        let new: Vec<usize> = (at..scene.jobs.len()).collect();
        let later = scene.now + Span::from_micros(later);
        let mut other = build(&written);
        other.restore(&policy.save()).expect("its own state");
        let (alone, pools_alone) = part(&new, later, &pools).plan(&mut *other);
        let (mut all, pools_all) = part(&[left.clone(), new].concat(), later, &pools).plan(&mut *policy);
        if is_steady {
            prop_assert!(all.iter().all(|planned| planned.job >= left.len()), "{}", &written);
            all.iter_mut().for_each(|planned| planned.job -= left.len());
            prop_assert_eq!((all, pools_all), (alone, pools_alone), "{}", &written);
        }
    }

    /// No policy but those that say so cares where a pool stands, except among equals.
    #[test]
    fn a_pool_is_chosen_for_what_it_is_not_for_its_place(
        written in blind_to_places(),
        (scene, order) in scenes(1..10).prop_flat_map(|scene| {
            let order = Just((0..scene.pools.len()).collect::<Vec<_>>()).prop_shuffle();
            (Just(scene), order)
        }),
    ) {
        let (plan, _) = scene.plan(&mut *build(&written));
        let (moved, _) = permuted(&scene, &order).plan(&mut *build(&written));
        prop_assert_eq!(plan.is_empty(), moved.is_empty());
        // After a tie the plans may part.
        let ties = Twin::new(&written).plan(&scene).ties;
        for ((here, there), ties) in plan.iter().zip(&moved).zip(ties) {
            prop_assert_eq!(here.job, there.job);
            prop_assert!(ties.contains(&order[there.pool]), "{}", &written);
            if ties.len() > 1 {
                break;
            }
            prop_assert_eq!((here.pool, here.start, here.end), (order[there.pool], there.start, there.end));
        }
    }

    /// Reports that make no sense, and figures at the end of their range, are no reason to panic.
    #[test]
    fn none_minds_a_report_that_makes_no_sense(
        written in any_policy(),
        mut scene in scenes(1..5),
        wild in prop::collection::vec(any::<[u64; 8]>(), 8),
    ) {
        use gridemu::units::{Bandwidth, Power, Price, Rate, Time};
        for (pool, [a, b, c, d, e, f, g, h]) in scene.pools.iter_mut().zip(wild) {
            pool.facts.speed = Rate::from_units(a >> (b % 64));
            pool.facts.latency = Span::from_micros(b >> (c % 64));
            pool.facts.bandwidth = Some(Bandwidth::from_bits(c >> (d % 64)));
            (pool.facts.idle, pool.facts.busy) = (Power::from_milliwatts(d), Power::from_milliwatts(e));
            pool.facts.pue_ppm = f;
            let tariff = SiteTariff {
                electricity: Some(PerKwh::Day(vec![a as i64 >> 20; 24])),
                carbon: Some(PerKwh::Flat(b as i64 >> 20)),
                ..SiteTariff::default()
            };
            (pool.report.price, pool.facts.rates) = (Price::from_nanos(g), Rates::new(Price::from_nanos(g), tariff));
            (pool.report.free, pool.report.present) = (a as u32, b as u32);
            (pool.report.waiting, pool.report.running, pool.in_flight.jobs) = (c as u32, u32::MAX, d as u32);
            pool.report.backlog = u128::from(h) << (a % 64);
            (pool.in_flight.procs, pool.in_flight.area) = (e, u128::MAX - u128::from(f));
            pool.in_flight.until = Time::from_micros(a ^ h);
            pool.measured = Time::from_micros(h);
            pool.report.start_estimates.steps.push((u32::MAX, Time::from_micros(g)));
            pool.asked = f as u32;
        }
        let (plan, _) = scene.plan(&mut *build(&written));
        prop_assert!(plan.len() <= scene.jobs.len());
    }
}

#[test]
fn a_turn_that_was_not_saved_is_refused() {
    let error = build("round-robin").restore(&[1, 2, 3]).expect_err("too short");
    assert!(error.contains("8 bytes, not 3"), "{error}");
}
