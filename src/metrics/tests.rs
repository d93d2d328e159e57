//! Measures computed by hand, and their properties for any records.

mod blocks;
mod fingerprint;
mod grid;
mod paul_2013;
pub(crate) mod samples;

use proptest::prelude::*;

use super::*;
use crate::model::{
    EventCause, EventKind, EventRecord, InstantOrder, JobClasses, JobRecord, Origin, Outcome, ProcSet,
    Record, SegmentRecord, SiteId, SiteSpec,
};
use crate::platform::{Bill, Ended, Usage};
use crate::units::{Energy, Money, Span, Time};
use fingerprint::fingerprint;
use samples::{EVENT_CAUSES, any_job, any_records, happened, job, machines, rejected, segment};

fn summed<'a>(definitions: &Definitions, records: impl IntoIterator<Item = &'a JobRecord>) -> Summary {
    let mut summary = Summary::new(definitions.clone());
    records.into_iter().for_each(|record| summary.add(record));
    summary
}

#[test]
fn four_jobs_by_hand() {
    let mut killed = job(3, 50, 150, 50, 2);
    killed.outcome = Outcome::Killed;
    let records = [
        job(1, 0, 0, 100, 1),   // wait 0,   response 100, bsld 100/100 = 1
        job(2, 10, 90, 5, 1),   // wait 90,  response 95,  bsld 95/10   = 9.5
        killed,                 // wait 150, response 200, bsld 200/50  = 4
        job(4, 60, 0, 1, 1),    // wait 0,   response 1,   bsld max(1, 1/10) = 1
        rejected(5, 1_000, 99), // in no mean, and not in the makespan
    ];
    let summary = summed(&Definitions::default(), &records);
    let whole = summary.whole();
    assert_eq!((whole.jobs, whole.measured), (5, 4));
    assert_eq!(whole.outcomes, Outcomes { completed: 3, killed: 1, rejected: 1, ..Outcomes::default() });
    assert_eq!(
        [whole.mean_wait, whole.median_wait, whole.p95_wait, whole.max_wait],
        [Some(60.0), Some(0.0), Some(150.0), Some(150.0)]
    );
    assert_eq!(
        [whole.mean_response, whole.median_response, whole.p95_response, whole.max_response],
        [Some(99.0), Some(95.0), Some(200.0), Some(200.0)]
    );
    assert_eq!(
        [
            whole.mean_bounded_slowdown,
            whole.median_bounded_slowdown,
            whole.p95_bounded_slowdown,
            whole.max_bounded_slowdown
        ],
        [Some(3.875), Some(1.0), Some(9.5), Some(9.5)]
    );
    assert_eq!(
        whole.slowdown_of_means,
        Some(99.0 / 39.0),
        "mean response 99, mean run (100 + 5 + 50 + 1) / 4"
    );
    // The killed job ends last, at 250; the first submission is at 0.
    assert_eq!(summary.makespan(), Some(Span::from_secs(250)));
    assert_eq!(summary.by_class(None), []);
}

#[test]
fn nothing_measured_is_not_zero() {
    let summary = summed(&Definitions::default(), &[rejected(1, 0, 99)]);
    assert_eq!(summary.whole().mean_wait, None);
    assert_eq!(summary.whole().p95_bounded_slowdown, None);
    assert_eq!(summary.makespan(), None);
}

#[test]
fn jobs_of_no_length_and_a_bound_of_zero() {
    let definitions = Definitions::new(Span::ZERO, JobClasses::none(), 1);
    let whole = summed(&definitions, &[job(1, 0, 2, 0, 1), job(2, 0, 0, 0, 1)]).whole();
    assert_eq!(definitions.slowdown_id(), "bsld0");
    assert_eq!(whole.max_bounded_slowdown, Some(2e6), "two seconds over one microsecond");
    assert_eq!(whole.median_bounded_slowdown, Some(1.0));
}

#[test]
fn jobs_that_did_not_run_to_their_end_are_charged_to_it() {
    let definitions = Definitions::default();
    // A job that waited 20 s and ran 60 s (bounded slowdown 80 / 60), and one of an hour that failed, submitted at 100 s.
    let mut failed = job(2, 100, 50, 3_600, 1);
    failed.outcome = Outcome::Failed;
    let summary = summed(&definitions, &[job(1, 0, 20, 60, 1), failed.clone()]);
    assert_eq!(summary.whole().to_the_end, None, "the end of the run is not known");
    let end = Time::from_secs(10_100);
    let charged = summary.whole_of(Some(end)).to_the_end.unwrap();
    // It counts as if it had started at 10,100 s: it waited 10,000 s, and responded after 13,600 s.
    assert_eq!((charged.jobs, charged.mean_wait, charged.mean_response), (1, 5_010.0, 6_840.0));
    assert!((charged.mean_bounded_slowdown - (80.0 / 60.0 + 13_600.0 / 3_600.0) / 2.0).abs() < 1e-7);
    let all = summed(&definitions, &[job(1, 0, 20, 60, 1)]);
    assert_eq!(all.whole_of(Some(end)).to_the_end, None, "nothing to charge");
    let mut halves = summed(&definitions, &[job(1, 0, 20, 60, 1)]);
    halves.merge(&summed(&definitions, &[failed])).unwrap();
    assert_eq!(halves.whole_of(Some(end)).to_the_end, Some(charged));
}

#[test]
fn classes_sum_to_the_whole() {
    let definitions = Definitions::new(Definitions::TAU, "kettimuthu-4".parse().unwrap(), 100);
    let records = [job(1, 0, 10, 60, 1), job(2, 0, 30, 60, 8), job(3, 0, 5, 7_200, 9), rejected(4, 0, 101)];
    let summary = summed(&definitions, &records);
    let classes = summary.by_class(None);
    let of = |class: &str| &classes.iter().find(|row| row.class == class).unwrap().measures;
    assert_eq!((of("S N").jobs, of("S N").mean_wait), (2, Some(20.0)));
    assert_eq!((of("L W").jobs, of("L W").mean_wait), (1, Some(5.0)));
    assert_eq!((of("S W").jobs, of("S W").measured, of("S W").outcomes.rejected), (1, 0, 1));
    assert_eq!((of("L N").jobs, of("L N").mean_wait), (0, None));
    assert_eq!(classes.iter().map(|row| row.measures.jobs).sum::<u64>(), summary.whole().jobs);
}

#[test]
fn recorded_waits_are_compared_where_there_are_any() {
    let mut waits = WaitComparison::new(Definitions::default());
    for (emulated, recorded) in [(10, Some(20)), (30, Some(0)), (1_000, None)] {
        let recorded_wait = recorded.map(Span::from_secs);
        waits.add(&JobRecord { recorded_wait, ..job(1, 0, emulated, 60, 1) });
    }
    let rows = waits.rows();
    assert_eq!(rows.len(), 1);
    assert_eq!((rows[0].jobs, rows[0].emulated_mean, rows[0].recorded_mean), (2, Some(20.0), Some(10.0)));
    assert_eq!((rows[0].emulated_median, rows[0].recorded_p90), (Some(10.0), Some(20.0)));
    assert_eq!(WaitComparison::new(Definitions::default()).rows(), []);
}

#[test]
fn a_ledger_adds_partitions_up() {
    // 10 processors for 100 s: 600 useful, 100 wasted, 50 overhead, 100 reserved, 50 down, so 100 idle.
    let time = |proc_seconds: u128| proc_seconds * Usage::PROC_SECOND;
    let usage = Usage {
        from: Time::from_secs(100),
        to: Time::from_secs(200),
        processors: 10,
        useful: time(600),
        wasted: time(100),
        ended: Ended { killed: (2, time(70)), unfinished: (1, time(30)), ..Ended::default() },
        overhead: time(50),
        reserved: time(100),
        down: time(50),
        bill: Bill::drawn(2_700_000_000_000_000, 3_600_000_000_000_000),
        cost: Money::from_nanos(1_500_000_000),
        electricity: Some(Money::from_nanos(250_000_000)),
        ..Usage::default()
    };
    let mut ledger = Ledger::default();
    ledger.add(&usage, 1_500_000);
    let mut other = Ledger::default();
    other.add(&usage, 1_000_000);
    let mut merged = other;
    merged.merge(&ledger);
    ledger.add(&usage, 1_000_000);
    ledger.add(&Usage { electricity: None, ..Usage::default() }, 1_000_000);
    assert_eq!(merged, ledger);
    assert_eq!((ledger.in_use(), ledger.account().down), (time(1_500), Some(0.05)));
    assert_eq!((ledger.ended.killed, ledger.ended.unfinished), ((4, time(140)), (2, time(60))));
    assert_eq!(ledger.utilization(), Some(0.75));
    assert_eq!(ledger.utilization_available(), Some(750.0 / 850.0));
    let spent = ledger.account().usage;
    assert_eq!((spent.nominal, spent.useful, spent.idle), (2_000.0, 1_200.0, 200.0));
    assert_eq!(
        spent.useful + spent.wasted + spent.overhead + spent.reserved + spent.idle + spent.down,
        spent.nominal
    );
    let energy = ledger.account().energy;
    assert_eq!((energy.jobs_kwh, energy.idle_kwh, energy.meter_kwh), (1.5, 0.5, 2.0));
    assert_eq!(energy.facility_kwh, 2.5);
    assert_eq!(energy.electricity_cost, Some(0.5));
    assert_eq!(Ledger::default().account().energy.electricity_cost, None);
    assert_eq!(ledger.account().cost, 3.0);
    assert_eq!(Ledger::default().utilization(), None);
}

#[test]
fn the_json_has_its_figures_at_the_top_and_reads_back() {
    let sites = [(SiteSpec::plain("site", 4, "easy".parse().unwrap()), Ledger::default())];
    let mut measures = GridMeasures::new(Definitions::default(), Window::ALL, &[sites[0].0.clone()]);
    for job in [job(1, 0, 1, 3, 1), job(2, 0, 2, 3, 1), job(3, 0, 2, 3, 1)] {
        measures.add(&Record::Job(job));
    }
    let facts = GridFacts { seed: 7, ..GridFacts::default() };
    let single = SingleSite { order: InstantOrder::Event, ..SingleSite::default() };
    let run = GridSummary::new(facts, Some(single), &measures, &sites, &Ages::default(), Fingerprint::new());
    let text = serde_json::to_string(&run).unwrap();
    let json: serde_json::Value = serde_json::from_str(&text).unwrap();
    for key in ["jobs", "mean_wait", "mean_response", "mean_bounded_slowdown", "makespan", "fingerprint"] {
        assert!(!json[key].is_null(), "{key} in {text}");
    }
    for key in ["read_s", "schedule_s", "write_s", "utilization", "policy", "procs", "tau", "seed"] {
        assert!(json.get(key).is_some(), "{key} in {text}");
    }
    assert_eq!(json["mean_wait"].as_f64(), Some(5.0 / 3.0), "every digit");
    assert_eq!(json["order"], "event");
    assert_eq!(serde_json::from_str::<GridSummary>(&text).unwrap(), run);
}

/// The slow twin: sort, then count.
fn nearest_rank(values: &[u64], percent: usize) -> Option<u64> {
    let mut sorted = values.to_vec();
    sorted.sort_unstable();
    sorted.get((values.len() * percent).div_ceil(100).max(1) - 1).copied()
}

proptest! {
    #[test]
    fn fingerprints_have_no_order(
        (records, shuffled) in any_records().prop_flat_map(|all| (Just(all.clone()), Just(all).prop_shuffle())),
        cut in any::<prop::sample::Index>(),
    ) {
        let whole = fingerprint(&records);
        prop_assert_eq!(fingerprint(&shuffled), whole);
        let cut = cut.index(records.len() + 1);
        let mut parts = fingerprint(&records[..cut]);
        parts.merge(&fingerprint(&records[cut..]));
        prop_assert_eq!(parts, whole);
        prop_assert_eq!(whole.to_string().parse::<Fingerprint>(), Ok(whole));
    }

    #[test]
    fn summaries_have_no_order(
        (records, shuffled) in prop::collection::vec(any_job(), 0..60)
            .prop_flat_map(|all| (Just(all.clone()), Just(all).prop_shuffle())),
        cut in any::<prop::sample::Index>(),
        budget in prop::sample::select(&[0_u64, 5, 1_000][..]),
    ) {
        let definitions = Definitions::new(Definitions::TAU, "kettimuthu-16".parse().unwrap(), 1_000);
        let summed = |records: &[JobRecord]| {
            let mut summary = Summary::with_budget(definitions.clone(), budget);
            records.iter().for_each(|record| summary.add(record));
            summary
        };
        let whole = summed(&records);
        let same = |other: &Summary| {
            (other.whole(), other.by_class(None), other.makespan(), other.quantiles())
                == (whole.whole(), whole.by_class(None), whole.makespan(), whole.quantiles())
        };
        prop_assert!(same(&summed(&shuffled)));
        let cut = cut.index(shuffled.len() + 1);
        let mut parts = summed(&shuffled[..cut]);
        parts.merge(&summed(&shuffled[cut..])).unwrap();
        prop_assert!(same(&parts));
        let saved = postcard::to_allocvec(&parts).unwrap();
        prop_assert!(same(&postcard::from_bytes(&saved).unwrap()), "saved and restored");
    }

    #[test]
    fn quantiles_agree_with_a_sort(
        values in prop::collection::vec(prop_oneof![0_u64..50, 0_u64..1 << 44, any::<u64>()], 1..200),
    ) {
        let mut exact = distribution::Distribution::default();
        values.iter().for_each(|value| exact.add(*value, u128::from(*value)));
        let mut sketch = exact.clone();
        sketch.sketch();
        prop_assert_eq!(exact.max(), values.iter().copied().max());
        prop_assert_eq!(sketch.max(), exact.max());
        prop_assert_eq!(sketch.mean(1.0), exact.mean(1.0));
        for percent in [1, 50, 90, 95, 99, 100] {
            let twin = nearest_rank(&values, percent).unwrap();
            prop_assert_eq!(exact.quantile(percent as u32), Some(twin));
            let rough = sketch.quantile(percent as u32).unwrap();
            let top = 1_u64 << 62;
            prop_assert!(rough >= twin.min(top - 1), "{} below {}", rough, twin);
            prop_assert!(rough - twin.min(rough) <= twin / 1_000, "{} far above {}", rough, twin);
        }
    }

    #[test]
    fn quantiles_of_slowdowns_are_those_of_the_quotients(
        pairs in prop::collection::vec((0_u64..1 << 41, 1_u64..1 << 40), 1..200),
    ) {
        let mut exact = distribution::Distribution::new(distribution::Scale::Quotient);
        let quotients: Vec<f64> =
            pairs.iter().map(|(num, den)| (*num as f64 / *den as f64).max(1.0)).collect();
        for (num, den) in &pairs {
            let ratio = Ratio::of(*num, *den).max(Ratio::ONE);
            exact.add(ratio.as_f64().to_bits(), ratio.units());
        }
        let mut sketch = exact.clone();
        sketch.sketch();
        let mut sorted = quotients.clone();
        sorted.sort_by(f64::total_cmp);
        for percent in [1, 50, 95, 100] {
            let twin = sorted[(percent * sorted.len()).div_ceil(100) - 1];
            let found = f64::from_bits(exact.quantile(percent as u32).unwrap());
            prop_assert!((found - twin).abs() < 1e-12 * twin, "{} is not {}", found, twin);
            let rough = f64::from_bits(sketch.quantile(percent as u32).unwrap());
            prop_assert!(rough >= found && rough <= found * 1.001_002, "{} is not near {}", rough, found);
        }
        prop_assert_eq!(sketch.max(), exact.max());
    }

    #[test]
    fn means_agree_with_plain_sums(records in prop::collection::vec(any_job(), 1..60)) {
        let measured: Vec<_> = records.iter().filter(|record| Definitions::is_measured(record)).collect();
        let whole = summed(&Definitions::default(), &records).whole();
        let mean = |of: &dyn Fn(&JobRecord) -> f64| {
            (!measured.is_empty())
                .then(|| measured.iter().map(|record| of(record)).sum::<f64>() / measured.len() as f64)
        };
        let close = |exact: Option<f64>, plain: Option<f64>| match (exact, plain) {
            (Some(exact), Some(plain)) => (exact - plain).abs() <= 1e-11 * plain.abs(),
            (exact, plain) => exact == plain,
        };
        let slowdown = |record: &JobRecord| {
            (record.response().as_secs_f64() / record.run.as_secs_f64().max(10.0)).max(1.0)
        };
        prop_assert!(close(whole.mean_wait, mean(&|record| record.wait().as_secs_f64())));
        prop_assert!(close(whole.mean_response, mean(&|record| record.response().as_secs_f64())));
        prop_assert!(close(whole.mean_bounded_slowdown, mean(&slowdown)));
        prop_assert_eq!(whole.outcomes.total(), records.len() as u64);
    }
}

#[test]
fn a_largest_slowdown_is_the_quotient() {
    // 14,805.2 of KTH-SP2 under EASY.
    let whole = summed(&Definitions::default(), &[job(1, 0, 148_042, 10, 1)]).whole();
    assert_eq!((whole.max_bounded_slowdown, whole.p95_bounded_slowdown), (Some(14_805.2), Some(14_805.2)));
}

#[test]
fn summaries_of_different_definitions_do_not_add_up() {
    let mut summary = Summary::new(Definitions::default());
    let other = Summary::new(Definitions::new(Span::from_secs(60), JobClasses::none(), 0));
    assert_eq!(summary.merge(&other), Err(DifferentDefinitions));
}
