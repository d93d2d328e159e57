//! The measures of a grid computed by hand, and the sum of parts compared with the whole.

use proptest::prelude::*;

use crate::metrics::tests::samples::{any_records, happened, job, machines, rejected};
use crate::metrics::*;
use crate::model::{
    BrokerSpec, ChurnAct, EventCause, EventKind, EventRecord, JobClasses, JobKind, JobRecord, Machines,
    Origin, Outcome, PartitionId, PartitionSpec, PlannedChurn, ProcSet, Record, RejectReason, SiteId,
    SiteSpec,
};
use crate::platform::Usage;
use crate::units::{Energy, Money, Span, Time};

fn sites() -> Vec<SiteSpec> {
    let mut sites: Vec<_> =
        ["windsor", "delft"].map(|name| SiteSpec::plain(name, 50, "easy".parse().unwrap())).into();
    let act = ChurnAct::Leave(Machines { partition: PartitionId(0), which: ProcSet::full(10) });
    sites[0].churn.script.push(PlannedChurn { at: Time::from_secs(50), act });
    sites[1].partitions[0] = PartitionSpec { absent: 10, ..PartitionSpec::plain(60) };
    sites
}

fn measured(window: Window, records: &[Record]) -> GridMeasures {
    let mut measures = GridMeasures::new(Definitions::default(), window, &sites());
    records.iter().for_each(|record| measures.add(record));
    measures
}

fn summary(measures: &GridMeasures, ledgers: [Ledger; 2]) -> GridSummary {
    let sites: Vec<_> = sites().into_iter().zip(ledgers).collect();
    GridSummary::new(GridFacts::default(), None, measures, &sites, &Ages::default(), Fingerprint::new())
}

fn ledger(usage: Usage) -> Ledger {
    let mut ledger = Ledger::default();
    ledger.add(&usage, 1_500_000);
    ledger
}

const fn seconds(procs_times_seconds: u128) -> u128 {
    procs_times_seconds * Usage::PROC_SECOND
}

/// Two jobs of windsor's users, one of delft's, three of the grid: the first attempt of one failed at windsor and it
/// completed at delft, one was given up, one was submitted too late to count.
fn records() -> Vec<Record> {
    let sent = |job: JobRecord| JobRecord { origin: Origin::Grid, ..job };
    let lost = JobRecord { end: Time::from_secs(50), ..sent(job(1, 10, 30, 40, 4)) };
    let moved = sent(JobRecord {
        site: SiteId(1),
        start: lost.start,
        attempts: 2,
        energy: Energy::from_nanojoules(3_600_000_000_000_000),
        cost: Money::from_nanos(2_500_000_000),
        ..job(1, 10, 60, 40, 4)
    });
    let outcome = Outcome::Rejected(RejectReason::TooLarge);
    let nowhere = sent(JobRecord { site: SiteId::GRID, outcome, ..rejected(2, 20, 70) });
    let cause = EventCause::Refused(RejectReason::TooLarge);
    vec![
        Record::Job(job(1, 0, 0, 20, 1)),
        Record::Job(JobRecord { outcome: Outcome::Killed, ..job(2, 0, 20, 60, 50) }),
        Record::Job(JobRecord {
            site: SiteId(1),
            cost: Money::from_nanos(500_000_000),
            ..job(1, 5, 15, 10, 2)
        }),
        Record::Event(EventRecord {
            procs: 10,
            cause: EventCause::Script,
            ..machines(EventKind::Left, 50, 10)
        }),
        Record::Event(EventRecord { wasted: seconds(40), ..happened(EventKind::Returned, &lost) }),
        Record::Event(EventRecord {
            site: SiteId::GRID,
            since_failure: Some(Span::from_secs(20)),
            ..happened(EventKind::Reassigned, &lost)
        }),
        Record::Event(EventRecord { cause, ..happened(EventKind::Refused, &nowhere) }),
        Record::Event(EventRecord { cause, ..happened(EventKind::GivenUp, &nowhere) }),
        Record::Job(moved),
        Record::Job(nowhere),
        Record::Job(sent(JobRecord { site: SiteId(1), ..job(3, 600, 0, 10, 1) })),
    ]
}

#[test]
fn two_sites_by_hand() {
    let window = Window::new(Time::ZERO, Time::from_secs(100)).unwrap();
    let mut of_windsor = Usage {
        to: Time::from_secs(100),
        processors: 50,
        useful: seconds(20),
        wasted: seconds(40),
        down: seconds(500),
        cost: Money::from_nanos(3_000_000_000),
        ..Usage::default()
    };
    of_windsor.end(Outcome::Killed, seconds(3_000));
    let of_delft =
        Usage { to: Time::from_secs(100), processors: 60, useful: seconds(180), ..Usage::default() };
    let run = summary(&measured(window, &records()), [ledger(of_windsor), ledger(of_delft)]);

    // Jobs are counted once, at the site at which they ended.
    assert_eq!((run.submitted, run.measures.jobs, run.outside.total()), (6, 5, 1));
    assert_eq!(
        run.measures.outcomes,
        Outcomes { completed: 3, killed: 1, rejected: 1, ..Outcomes::default() }
    );
    let jobs = |measures: &Measures| (measures.jobs, measures.mean_wait);
    let [windsor, delft] = [0, 1].map(|at: usize| &run.sites[at]);
    assert_eq!((jobs(&windsor.local), jobs(&windsor.grid)), ((2, Some(10.0)), (0, None)));
    assert_eq!((jobs(&delft.local), jobs(&delft.grid)), ((1, Some(15.0)), (1, Some(30.0))));
    assert_eq!((jobs(&delft.measures), jobs(&run.no_site)), ((2, Some(22.5)), (1, None)));
    assert_eq!(
        (jobs(&run.local.measures), jobs(&run.grid.measures)),
        ((3, Some(35.0 / 3.0)), (2, Some(30.0)))
    );
    assert_eq!((delft.name.as_str(), delft.processors), ("delft", 60));

    // Charges by origin.
    assert_eq!((run.local.charged, run.grid.charged, run.grid.charged_kwh), (0.5, 2.5, 1.0));
    assert_eq!((windsor.account.cost, run.account.cost), (3.0, 3.0));

    // In use are 20 + 40 + 3,000 of 5,000 at windsor, of which 500 were down, and 180 of 6,000 at delft.
    assert_eq!(windsor.account.utilization, Some(3_060.0 / 5_000.0));
    assert_eq!(windsor.account.utilization_available, Some(3_060.0 / 4_500.0));
    assert_eq!(windsor.account.down, Some(0.1));
    assert_eq!(run.account.utilization, Some(3_240.0 / 11_000.0));

    // Times: from the first submission to the last end of all jobs; the drain is the time after the window.
    assert_eq!((run.begin_s, run.end_s, run.drain_s), (Some(0.0), Some(610.0), Some(510.0)));
    assert_eq!(run.makespan, Some(110.0), "of the jobs that count");

    let churn = &run.churn;
    assert_eq!((churn.machines.left, churn.machines.processors_left, churn.machines.joined), (1, 10, 0));
    let lost: Vec<_> =
        churn.wasted.iter().map(|lost| (lost.cause.as_str(), lost.attempts, lost.proc_s)).collect();
    assert_eq!(
        lost,
        [
            ("machine left", 1, 40.0),
            ("site left", 0, 0.0),
            ("killed at the estimate", 1, 3_000.0),
            ("cancelled", 0, 0.0),
            ("failed", 0, 0.0),
            ("unfinished", 0, 0.0)
        ]
    );
    // Work wasted by machines is counted in the window, time in use in the whole run: no share. For kills both are
    // known.
    assert_eq!((churn.wasted[0].share, churn.wasted[2].share), (None, Some(3_000.0 / 3_240.0)));
    assert_eq!((windsor.wasted_proc_s, delft.wasted_proc_s), (40.0, 0.0));
    let attempts: Vec<_> = churn.attempts.iter().map(|of| (of.attempts, of.jobs)).collect();
    assert_eq!(attempts, [(0, 1), (1, 3), (2, 1)]);
    assert_eq!(churn.restarts.median_s, Some(20.0));
    assert_eq!(
        (churn.jobs.returned, churn.jobs.reassigned, churn.jobs.refused, churn.jobs.given_up),
        (1, 1, 1, 1)
    );
    assert_eq!(churn.changes_per_event, Some(1.0), "one assignment was made anew, for one event");
    let reason = "needs more processors than the partition has".to_owned();
    assert_eq!(churn.refusals, [Refusals { reason, count: 1 }]);

    // 10 of 100 processors leave at 50 s, when three jobs have not completed yet: one has at 20, one at 30.
    let recovery = churn.recovery.as_ref().unwrap();
    assert_eq!(
        (recovery.major_outages, recovery.unaffected, recovery.recovery_time.mean_s),
        (1, 1, Some(0.0))
    );
    assert!(run.has_churn());
}

#[test]
fn what_happens_outside_the_window_does_not_count() {
    let later = Window::new(Time::from_secs(500), Time::from_secs(700)).unwrap();
    let run = summary(&measured(later, &records()), [Ledger::default(); 2]);
    assert_eq!((run.submitted, run.measures.jobs, run.outside.total()), (6, 1, 5));
    assert_eq!(run.outside.rejected, 1);
    assert_eq!(
        (run.local.charged, run.churn.machines.left, run.churn.recovery.as_ref().unwrap().major_outages),
        (0.0, 0, 0)
    );
    assert_eq!(run.churn.wasted[0].share, None, "there was no use");
    assert_eq!(run.drain_s, Some(0.0));
    assert!(!run.has_churn());
}

#[test]
fn a_summary_of_a_grid_goes_through_json_with_every_digit() {
    let mut run = summary(&measured(Window::ALL, &records()), [Ledger::default(); 2]);
    let mut broker = BrokerSpec::new("mct".parse().unwrap());
    broker.in_flight = Some(7);
    run.facts.broker = Some(BrokerFacts::of(&broker));
    let text = serde_json::to_string(&run).unwrap();
    assert_eq!(serde_json::from_str::<GridSummary>(&text).unwrap(), run);
    assert_eq!((run.measure, run.drain_s), (None, None));
}

/// Measures by kind of job, worked by hand, of the jobs that were submitted in the window.
#[test]
fn kinds_by_hand() {
    let of = |kind, job: JobRecord| Record::Job(JobRecord { kind, ..job });
    let failed = JobRecord { outcome: Outcome::Failed, ..job(2, 0, 50, 5, 1) };
    let records = [
        of(JobKind::Rigid, job(1, 0, 10, 60, 4)),
        of(JobKind::Rigid, failed),
        // Responses of 60 and 100 s, of which the jobs run for 30 and 10 s.
        of(JobKind::Malleable, job(3, 0, 30, 30, 8)),
        of(JobKind::Malleable, JobRecord { site: SiteId(1), origin: Origin::Grid, ..job(4, 5, 90, 10, 2) }),
        of(JobKind::Malleable, job(5, 600, 1_000, 10, 2)),
    ];
    let window = Window::new(Time::ZERO, Time::from_secs(100)).unwrap();
    let measured = |definitions: Definitions| {
        let mut measures = GridMeasures::new(definitions, window, &sites());
        records.iter().for_each(|record| measures.add(record));
        summary(&measures, [Ledger::default(); 2])
    };
    let run = measured(Definitions::default().with_kinds(true));
    let kinds: Vec<_> =
        run.kinds.iter().map(|kind| (kind.kind, kind.measures.jobs, kind.measures.measured)).collect();
    assert_eq!(kinds, [(JobKind::Rigid, 2, 1), (JobKind::Moldable, 0, 0), (JobKind::Malleable, 2, 2)]);
    let [rigid, moldable, malleable] = [0, 1, 2].map(|at: usize| &run.kinds[at].measures);
    assert_eq!((rigid.mean_wait, rigid.mean_response, rigid.outcomes.failed), (Some(10.0), Some(70.0), 1));
    assert_eq!(moldable.mean_response, None);
    assert_eq!((malleable.mean_wait, malleable.mean_response), (Some(60.0), Some(80.0)));
    assert_eq!((malleable.mean_bounded_slowdown, malleable.max_response), (Some(6.0), Some(100.0)));
    assert_eq!(malleable.slowdown_of_means, Some(4.0));
    assert_eq!(run.kinds.iter().map(|kind| kind.measures.jobs).sum::<u64>(), run.measures.jobs);

    let written = serde_json::to_value(&run).unwrap();
    assert_eq!(
        (&written["kinds"][2]["kind"], &written["kinds"][2]["jobs"]),
        (&"malleable".into(), &2.into())
    );
    let rigid = measured(Definitions::default());
    assert_eq!(rigid.kinds, []);
    assert!(serde_json::to_value(&rigid).unwrap().get("kinds").is_none(), "as before where all are rigid");
}

#[test]
fn a_grid_without_churn_is_not_watched() {
    let plain = [SiteSpec::plain("kth", 100, "easy".parse().unwrap())];
    let measures = GridMeasures::new(Definitions::default(), Window::ALL, &plain);
    assert_eq!(measures.recovery, None);
    let watched = measures.clone().watching(RecoveryRule::default(), 100);
    assert!(watched.recovery.is_some());
}

proptest! {
    #[test]
    fn records_add_up_in_any_order_and_across_a_save(
        (records, shuffled) in any_records().prop_flat_map(|all| (Just(all.clone()), Just(all).prop_shuffle())),
        cut in any::<prop::sample::Index>(), budget in prop::sample::select(&[0_u64, 3, 1_000][..]),
        window in prop::option::of((0_u64..1 << 45, 1_u64..1 << 45)), classes in any::<bool>(),
    ) {
        let classes = if classes { "kettimuthu-16".parse().unwrap() } else { JobClasses::none() };
        let definitions = Definitions::new(Definitions::TAU, classes, 1_000);
        let window = window.map_or(Window::ALL, |(from, length)| {
            let from = Time::from_micros(from);
            Window::new(from, from + Span::from_micros(length)).unwrap()
        });
        let nothing = || {
            let mut measures = GridMeasures::new(definitions.clone(), window, &sites());
            measures.groups = Groups::with_budget(definitions.clone(), window, 2, budget);
            measures
        };
        let of = |records: &[Record]| {
            let mut measures = nothing();
            records.iter().for_each(|record| measures.add(record));
            measures
        };
        let told = |measures: &GridMeasures| summary(measures, [Ledger::default(); 2]);
        let whole = told(&of(&records));
        prop_assert_eq!(&told(&of(&shuffled)), &whole);
        let (before, after) = shuffled.split_at(cut.index(shuffled.len() + 1));
        let saved = postcard::to_allocvec(&of(before)).unwrap();
        let mut resumed: GridMeasures = postcard::from_bytes(&saved).unwrap();
        after.iter().for_each(|record| resumed.add(record));
        prop_assert_eq!(&told(&resumed), &whole, "saved and restored");

        // Every job is counted once: by site, by origin, and outside the window.
        let jobs: Vec<_> = records.iter().filter(|record| matches!(record, Record::Job(_))).collect();
        prop_assert_eq!(whole.submitted, jobs.len() as u64);
        prop_assert_eq!(whole.measures.outcomes.total() + whole.outside.total(), whole.submitted);
        let by_site = whole.sites.iter().map(|site| site.measures.jobs).sum::<u64>() + whole.no_site.jobs;
        prop_assert_eq!(by_site, whole.measures.jobs);
        prop_assert_eq!(whole.local.measures.jobs + whole.grid.measures.jobs, whole.measures.jobs);
        let attempts = whole.churn.attempts.iter().map(|of| of.jobs).sum::<u64>();
        prop_assert_eq!(attempts, whole.measures.jobs);
    }

    /// The slow twin: one summary of the jobs of a site and an origin, selected by hand.
    #[test]
    fn a_group_is_the_summary_of_its_jobs(records in any_records(), site in 0_u32..3, sent in any::<bool>()) {
        let origin = if sent { Origin::Grid } else { Origin::Local };
        let mut picked = Summary::new(Definitions::default());
        for record in &records {
            // Site 2 is neither of the two sites, so it counts as none.
            if let Record::Job(job) = record && job.site.0.min(2) == site && job.origin == origin {
                picked.add(job);
            }
        }
        let measures = measured(Window::ALL, &records);
        let id = if site == 2 { SiteId::GRID } else { SiteId(site) };
        prop_assert_eq!(measures.groups().summary(Some(id), Some(origin)).whole(), picked.whole());
    }
}
