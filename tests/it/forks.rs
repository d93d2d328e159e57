//! Runs that continue under a changed scenario from a snapshot on.

mod allowed;
mod by_hand;

use gridemu::broker::BrokerRegistry;
use gridemu::grid::{Grid, Merge, RunSegment, WindowOptions, changes};
use gridemu::local::Registry;
use gridemu::model::{
    EventCause, EventKind, GridSpec, InstantOrder, PerKwh, PlannedChurn, Record, SiteTariff, Trace,
};
use gridemu::units::{EnergyPrice, Span, Time, Timestamp};
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;

use crate::grid_invariants::{Fork, check_run};
use crate::grids::{GridCase, GridRan, brokers, grids, grouped_grids};
use crate::invariants::variants;
use crate::support::through_bytes;

/// What a fork changes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Aspects {
    policies: bool,
    churn: bool,
    fates: bool,
    prices: bool,
    broker: bool,
    network: bool,
    seed: bool,
}

impl Aspects {
    /// Those that may differ while there are faults.
    pub(crate) const BESIDE_FAULTS: Self = Self {
        policies: true,
        churn: true,
        fates: true,
        prices: true,
        broker: false,
        network: false,
        seed: false,
    };
}

fn aspects() -> impl Strategy<Value = Aspects> {
    any::<[bool; 7]>().prop_map(|[policies, churn, fates, prices, broker, network, seed]| Aspects {
        policies,
        churn,
        fates,
        prices,
        broker,
        network,
        seed,
    })
}

/// A carbon intensity along a trace that ends while most runs go on.
fn intensities() -> PerKwh {
    let steps = (0..50).map(|at| (Span::from_secs(at * 7), at as i64 * 1_000)).collect();
    let at = |secs: i64| Timestamp::from_micros(secs * 1_000_000);
    PerKwh::Trace { trace: Trace::new("carbon.csv", at(0), at(350), steps), origin: Span::from_secs(3) }
}

/// The grid with some aspects of another one, from an instant on.
pub(crate) fn mixed(spec: &GridSpec, other: &GridSpec, aspects: Aspects, at: Time) -> GridSpec {
    let mut mixed = spec.clone();
    for (place, site) in mixed.sites.iter_mut().enumerate() {
        let other = &other.sites[place % other.sites.len()];
        let keeps = |policy| Registry::standard().build(policy).expect("a policy").1.keeps_reservations;
        let picks = |policy| Registry::standard().build(policy).expect("a policy").1.picks_processors;
        let shares = site.power_cap.is_some() && picks(&other.policy);
        if aspects.policies && !shares && (site.reservations.is_empty() || keeps(&other.policy)) {
            (site.policy, site.order) = (other.policy.clone(), other.order);
            // Machines whose processors are shared do not sleep.
            if Registry::standard().build(&site.policy).expect("a policy").1.multiprogramming_level > 1 {
                *site = crate::support::awake(site.clone());
            }
        }
        if aspects.churn {
            site.churn.random = other.churn.random;
            let past = site.churn.script.iter().filter(|act| act.at < at);
            let coming = other.churn.script.iter().filter(|act| act.at >= at);
            site.churn.script = past.chain(coming).cloned().collect::<Vec<PlannedChurn>>();
        }
        if aspects.fates {
            (site.churn.on_failure, site.churn.return_queued) =
                (other.churn.on_failure, other.churn.return_queued);
            (site.churn.attempts, site.churn.checkpoint) = (other.churn.attempts, other.churn.checkpoint);
        }
        // A cap comes, changes or goes.
        if aspects.fates {
            crate::power_cap::cap_at(site, other.churn.attempts.map_or(150, |most| u64::from(most) * 30));
            if site.check().is_err() {
                site.cap_power(None).expect("no cap");
            }
        }
        if aspects.prices {
            for (number, part) in site.partitions.iter_mut().enumerate() {
                let other = &other.partitions[number % other.partitions.len()];
                for group in &mut part.groups {
                    (group.idle, group.busy, group.price) =
                        (other.groups[0].idle, other.groups[0].busy, other.groups[0].price);
                }
            }
            if place % 2 == 0 {
                site.tariff = SiteTariff {
                    price_by_hour: Some("0-1=0.5,1-9=3".parse().expect("rates")),
                    electricity: Some(EnergyPrice::from_nanos(120_000_000).into()),
                    electricity_by_hour: Some("0-1=2".parse().expect("rates")),
                    starts_at: Span::from_secs(3_500),
                    carbon: Some(intensities()),
                    ..SiteTariff::default()
                };
            }
        }
        // Its parts are those of the machines and the power policy that there are now.
        if site.cap_power(site.power_cap).is_err() || site.check().is_err() {
            site.cap_power(None).expect("no cap");
        }
    }
    if aspects.broker {
        mixed.broker = other.broker.clone();
    }
    if aspects.network {
        let pairs = |sites: usize| (1..=sites).flat_map(|b| (0..b).map(move |a| (a, b)));
        for ((a, b), (c, d)) in pairs(mixed.sites.len()).zip(pairs(other.sites.len()).cycle()) {
            mixed.network.set(a, b, other.network.link(c, d));
        }
    }
    if aspects.seed {
        mixed.seed = other.seed;
    }
    mixed
}

/// Runs `case` up to an instant and goes on as `spec`; `None` if the run is over before.
pub(crate) fn forked(case: &GridCase, spec: &GridSpec, at: Time) -> Option<(GridCase, GridRan, Grid)> {
    let (mut grid, mut records) = (case.build(), Vec::new());
    let mut merge = Merge::new(grid.nodes().len());
    let segment = grid.run_segment(case.until, Some(at), WindowOptions::default(), &mut merge, &mut records);
    if segment.expect("it runs") == RunSegment::Over {
        return None;
    }
    assert_eq!(grid.now(), at);
    let saved = through_bytes(&grid.snapshot().expect("a state"));
    let case = GridCase { spec: spec.clone(), ..case.clone() };
    let mut fork = case.build();
    fork.restore(saved, true).expect("it goes on");
    // What has just been changed is part of the state.
    let again = through_bytes(&fork.snapshot().expect("a state"));
    let mut fork = case.build();
    fork.restore(again.clone(), false).expect("it goes on");
    assert_eq!(fork.snapshot().expect("a state"), again);
    let segment = fork.run_segment(case.until, None, WindowOptions::default(), &mut merge, &mut records);
    let result = segment.and_then(|_| fork.finish_run(case.until, &mut merge, &mut records));
    let (result, end) = (result.map_err(|error| error.to_string()), fork.now());
    Some((case, GridRan { records, result, end }, fork))
}

fn before(ran: &GridRan, at: Time) -> Vec<&Record> {
    ran.records.iter().filter(|record| record.written() < at).collect()
}

/// The future is lawful, and the past what it was. How many jobs were taken off their processors.
pub(crate) fn check_fork(case: &GridCase, spec: &GridSpec, at: Time) -> usize {
    changes(&case.spec, spec, at).expect("it may change");
    let Some((new, ran, grid)) = forked(case, spec, at) else { return 0 };
    let fork = Fork { at, old: &case.spec };
    check_run(&new, &case.build(), &ran, &grid, Some(fork));
    let straight = case.windows(WindowOptions::default()).0;
    assert_eq!(before(&ran, at), before(&straight, at), "the past");
    let off = |record: &&Record| matches!(record, Record::Event(event) if event.kind == EventKind::Requeued && event.cause == EventCause::Command);
    ran.records.iter().filter(off).count()
}

proptest! {
    #![proptest_config(crate::support::cases(200))]

    #[test]
    fn an_unchanged_fork_is_the_same_run(case in grouped_grids(), at in 0_u64..200_000_000) {
        let at = Time::from_micros(at);
        let straight = case.windows(WindowOptions::default()).0;
        prop_assert_eq!(changes(&case.spec, &case.spec, at), Ok(Vec::new()));
        if let Some((_, ran, _)) = forked(&case, &case.spec, at) {
            prop_assert_eq!(ran, straight);
        }
    }

    #[test]
    fn an_unchanged_fork_of_a_run_with_forecasts_is_the_same_run(
        case in grouped_grids(),
        within in 1_u64..200,
        at in 0_u64..200_000_000,
    ) {
        let (case, at) = (case.believing_forecasts(within), Time::from_micros(at));
        let straight = case.windows(WindowOptions::default()).0;
        if let Some((_, ran, _)) = forked(&case, &case.spec, at) {
            prop_assert_eq!(ran, straight);
        }
    }

    /// A broker begins to believe forecasts, or no longer does.
    #[test]
    fn a_fork_may_believe_something_else(
        case in grouped_grids(),
        within in 1_u64..200,
        at in 0_u64..200_000_000,
        back in any::<bool>(),
    ) {
        let (reported, forecast) = (case.clone(), case.believing_forecasts(within));
        let (old, new) = if back { (forecast, reported) } else { (reported, forecast) };
        check_fork(&old, &new.spec, Time::from_micros(at));
    }

    #[test]
    fn any_future_is_lawful(case in grouped_grids(), other in grids(), aspects in aspects(), at in 0_u64..200_000_000) {
        let at = Time::from_micros(at);
        check_fork(&case, &mixed(&case.spec, &other.spec, aspects, at), at);
    }
}

#[test]
fn every_pair_of_local_policies() {
    let (mut runner, strategy) = (TestRunner::deterministic(), grids());
    let mut taken_off = 0;
    let mut instants = [5, 25, 60].into_iter().cycle();
    for from in variants() {
        for to in variants() {
            let case = std::iter::repeat_with(|| strategy.new_tree(&mut runner).expect("a grid").current())
                .find(|case| case.portal.len() > 6)
                .expect("many are");
            let mut case = case.under(&from, "mct");
            let mut spec = case.under(&to, "mct").spec;
            // One that keeps none would not have been given any.
            for (old, new) in case.spec.sites.iter_mut().zip(&spec.sites) {
                old.reservations = new.reservations.clone();
            }
            let registry = Registry::standard();
            for (site, old) in spec.sites.iter_mut().zip(&case.spec.sites) {
                let plain = registry.build(&site.policy).expect("a policy").1.space_sharing();
                site.order = if plain { old.order } else { InstantOrder::Instant };
            }
            taken_off += check_fork(&case, &spec, Time::from_secs(instants.next().expect("they go round")));
        }
    }
    assert!(taken_off > 10, "some shared processors: {taken_off}");
}

#[test]
fn every_pair_of_broker_policies() {
    let (mut runner, strategy) = (TestRunner::deterministic(), grids());
    assert_eq!(brokers().len(), BrokerRegistry::standard().names().count() + 1);
    for from in brokers() {
        for to in brokers() {
            let case = std::iter::repeat_with(|| strategy.new_tree(&mut runner).expect("a grid").current())
                .find(|case| case.portal.len() > 6 && case.spec.sites.len() > 1)
                .expect("many are");
            let case = case.under("easy", &from);
            check_fork(&case, &case.under("easy", &to).spec, Time::from_secs(30));
        }
    }
}
