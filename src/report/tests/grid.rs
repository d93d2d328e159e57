//! What people see of a run of a grid.

use insta::assert_snapshot;

use crate::metrics::samples::{happened, job, machines, rejected};
use crate::metrics::{
    Ages, BacklogSummary, BrokerFacts, Definitions, Fingerprint, GridFacts, GridMeasures, GridSummary,
    Ledger, RecoveryRule, Times, Window,
};
use crate::model::{
    BrokerSpec, EventCause, EventKind, EventRecord, JobRecord, Origin, Outcome, PartitionSpec, Record,
    RejectReason, SiteId, SiteSpec,
};
use crate::platform::Usage;
use crate::report::{grid_json, grid_tables};
use crate::units::{Energy, Money, Power, Span, Time};

const NAMES: [(&str, u32, &str); 3] = [
    ("windsor", 64, "easy[order=sjf]"),
    ("delft", 128, "conservative[compress=start]"),
    ("sarah", 16, "fcfs"),
];

fn sites(busy: u64) -> Vec<SiteSpec> {
    let site = |(name, machines, policy): (&str, u32, &str)| {
        let mut site = SiteSpec::plain(name, machines, policy.parse().unwrap());
        site.partitions[0] =
            PartitionSpec { cores: 4, busy: Power::from_milliwatts(busy), ..PartitionSpec::plain(machines) };
        site
    };
    NAMES.map(site).into()
}

/// Six days of jobs by a rule: half of them of the grid, sent from site to site.
fn jobs() -> Vec<JobRecord> {
    let job = |at: u64| {
        let site = SiteId((at % 3) as u32);
        let base = job(at, at * 500, at % 11 * 400, 300 + at * 7_919 % 20_000, (at % 12 + 1) as u32);
        let origin = if at.is_multiple_of(2) { Origin::Sent } else { Origin::Own };
        let cost = Money::from_nanos(i128::from(at) * 10_000_000);
        let energy = Energy::from_nanojoules(u128::from(at) * 3_600_000_000_000);
        let attempts = if at % 100 == 50 { 2 } else { 1 };
        let outcome = if at % 90 == 7 { Outcome::Killed } else { Outcome::Completed };
        match at {
            _ if at % 250 == 40 => {
                let outcome = Outcome::Rejected(RejectReason::TooLarge);
                JobRecord { origin, site: SiteId::GRID, outcome, ..rejected(at, at * 500, 999) }
            }
            _ => JobRecord { origin, site, cost, energy, attempts, outcome, ..base },
        }
    };
    (0..1_000).map(job).collect()
}

/// A tenth of the processors leaves on the third day and comes back two hours later.
fn events(jobs: &[JobRecord]) -> Vec<EventRecord> {
    let mut all = vec![
        EventRecord { cause: EventCause::SiteLeft, procs: 83, ..machines(EventKind::Left, 200_000, 21) },
        EventRecord { procs: 83, ..machines(EventKind::Joined, 207_200, 21) },
        machines(EventKind::Left, 300_000, 1),
    ];
    let lost = jobs.iter().filter(|job| job.attempts == 2);
    for (at, job) in lost.enumerate() {
        let kind = if at.is_multiple_of(2) { EventKind::GivenBack } else { EventKind::Requeued };
        let cause = if at.is_multiple_of(2) { EventCause::SiteLeft } else { EventCause::MachineLeft };
        let lost = (4_000 + at as u128) * Usage::PROC_SECOND;
        all.push(EventRecord { cause, lost, ..happened(kind, job) });
        let since_lost = Some(Span::from_secs(60 * (at as u64 + 1)));
        all.push(EventRecord { site: SiteId::GRID, since_lost, ..happened(EventKind::Reassigned, job) });
    }
    for job in jobs.iter().filter(|job| job.site == SiteId::GRID) {
        let cause = EventCause::Refused(RejectReason::TooLarge);
        all.push(EventRecord { cause, ..happened(EventKind::Refused, job) });
        all.push(EventRecord { cause, ..happened(EventKind::GivenUp, job) });
    }
    all
}

fn ledger(at: u128, busy: bool) -> Ledger {
    let mut usage = Usage {
        to: Time::from_secs(500_000),
        processors: NAMES[at as usize].1 * 4,
        useful: (at + 1) * 15_000_000 * Usage::PROC_SECOND / (1 + at * at),
        away: if at == 0 { 597_600 * Usage::PROC_SECOND } else { 0 },
        ..Usage::default()
    };
    usage.end(Outcome::Killed, 900_000 * Usage::PROC_SECOND);
    if busy {
        usage.job_energy = Energy::from_nanojoules((at + 1) * 400_000_000_000_000_000);
        usage.meter = Energy::from_nanojoules((at + 1) * 500_000_000_000_000_000);
        usage.cost = Money::from_nanos((at as i128 + 1) * 600_123_456_789);
    }
    usage.electricity = (busy && at == 1).then(|| Money::from_nanos(86_750_000_000));
    let mut ledger = Ledger::default();
    ledger.add(&usage, 1_250_000);
    ledger
}

fn facts() -> GridFacts {
    GridFacts {
        version: "0.2.0".to_owned(),
        scenario: "quickstart".to_owned(),
        scenario_hash: "8a1c".to_owned(),
        seed: 7,
        engine: "actors".to_owned(),
        broker: Some(BrokerFacts::of(&BrokerSpec::new("mct".parse().unwrap()))),
        times: Times { read_s: 0.0123, schedule_s: 0.3, write_s: 0.0311 },
        wall_s: 0.3512,
        notes: Vec::new(),
    }
}

fn run(window: Window, churn: bool) -> GridSummary {
    let (sites, jobs) = (sites(if churn { 95_000 } else { 0 }), jobs());
    let mut measures = GridMeasures::new(Definitions::default(), window, &sites);
    if churn {
        measures = measures.watching(RecoveryRule::default(), 832);
        events(&jobs).into_iter().for_each(|event| measures.add(&Record::Event(event)));
    }
    jobs.into_iter().for_each(|job| measures.add(&Record::Job(job)));
    let sites: Vec<_> = (0..).zip(sites).map(|(at, site)| (site, ledger(at, churn))).collect();
    let ages = Ages::of(520, 520 * 31_400_000, Span::from_secs(60));
    GridSummary::new(facts(), &measures, &sites, &ages, Fingerprint::new())
}

fn narrow(text: &str) -> &str {
    for line in text.lines() {
        assert!(line.chars().count() <= 100, "wider than 100: {line}");
        assert_eq!(line, line.trim_end());
    }
    text
}

#[test]
fn a_grid_with_churn_reads_well() {
    let window = Window::new(Time::from_secs(86_400), Time::from_secs(432_000)).unwrap();
    let text = grid_tables(&run(window, true));
    assert_snapshot!(narrow(&text), @r"
    quickstart: 3 sites, 832 processors, 1,000 jobs in 6 d of virtual time
    seed 7, engine actors
    measured: the 691 jobs submitted from 1 d to 5 d; 309 before and after are in no figure of jobs

     what ran where   local   grid       mean        p95           mean     mean      p95
                       jobs   jobs   wait (s)   wait (s)   response (s)   bsld10   bsld10
    --------------------------------------------------------------------------------------
     windsor            115    114      2,005      4,000         12,273     1.43     2.72
     delft              115    114      1,990      4,000         12,352     1.39     2.26
     sarah              116    114      2,002      4,000         12,194     1.46     2.64
     at no site           0      3          -          -              -        -        -
     local jobs         346             2,002      4,000         12,263     1.44     2.64
     grid jobs                 345      1,995      4,000         12,283     1.42     2.48
     all jobs           346    345      1,999      4,000         12,273     1.43     2.59

     how it was used   policy                         processors   in use       in use of   away
                                                                      (%)   available (%)    (%)
    ---------------------------------------------------------------------------------------------
     windsor           easy[order=sjf]                       256    12.42           12.48   0.47
     delft             conservative[compress=start]          512     6.21            6.21   0.00
     sarah             fcfs                                   64    30.94           30.94   0.00
     the grid                                                832    10.02           10.04   0.14

     what was lost            attempts   processor-   of all use
                                              hours          (%)
    -------------------------------------------------------------
     a machine left                  3          3.3            -
     a site left                     3          3.3            -
     killed at the estimate          3        750.0         6.47

     machines    left twice (87 processors), came once (83 processors)
     jobs        3 requeued at their site, 3 given back to the broker
     ran again   after 5 min 30 s in the mean (median 5 min, at most 8 min), 6 times
     attempts    1 for 681 jobs, 2 for 7 jobs
     big losses  1, of 5 % or more of the processors at once; the jobs completed in 1 h were back at 90
                 % after 6 h 16 min

     what it cost    jobs    idle   together   with facility   electricity       paid
                    (kWh)   (kWh)      (kWh)           (kWh)          bill    by jobs
    ----------------------------------------------------------------------------------
     windsor          111      28        139             174             -     600.12
     delft            222      56        278             347         86.75   1,200.25
     sarah            333      83        417             521             -   1,800.37
     the grid         667     167        833           1,042         86.75   3,600.74

     charged       local users 1,792.28 for 179 kWh, grid users 1,770.90 for 177 kWh
     lost attempt  paid by the job

     local jobs      338 completed, 8 killed at their estimate
     grid jobs       342 completed, 3 rejected (342 measured)
     broker          mct, told of the sites every 1 min; 520 assignments by a picture 31.4 s old in the
                     mean, at most 1 min; replans when machines come or go; 3 refused (needs more
                     processors than the partition has: 3), 0 taken back, 6 assigned again, 3 given up;
                     2.00 assignments changed for each event of machines
     processor time  useful 9.38 %, wasted 0.65 %, away 0.14 %, idle 89.83 %
     backlog         24.5 jobs in the system over the first third of the window, 24.4 and 24.4 over the
                     others, 25 at the end
     drain           1 d after the window
     run time        0.351 s (read 0.012 s, schedule 0.300 s, write 0.031 s)
     fingerprint     0:00000000000000000000000000000000
     definitions     wait = first start - submission
                     response = end - submission
                     bsld10 = max(1, response / max(run, 10 s))
                     lost = processor time of an attempt that no checkpoint kept
                     local = of a site's own users; grid = sent by the broker
    ");
}

#[test]
fn a_grid_where_nothing_leaves_and_nothing_costs_says_no_more_than_it_must() {
    let mut run = run(Window::ALL, false);
    run.facts.broker = None;
    run.facts.notes = vec!["skipped 8 jobs that have no run time".to_owned()];
    run.backlog = Some(BacklogSummary { grows: true, last_third: 90.0, at_end: 120, ..run.backlog.unwrap() });
    let text = grid_tables(&run);
    assert_snapshot!(narrow(&text), @r"
    quickstart: 3 sites, 832 processors, 1,000 jobs in 6 d of virtual time
    seed 7, engine actors

     what ran where   local   grid       mean        p95           mean     mean      p95
                       jobs   jobs   wait (s)   wait (s)   response (s)   bsld10   bsld10
    --------------------------------------------------------------------------------------
     windsor            167    166      2,002      4,000         12,195     1.43     2.72
     delft              167    164      1,989      4,000         12,331     1.41     2.37
     sarah              166    166      2,001      4,000         12,292     1.42     2.56
     at no site           0      4          -          -              -        -        -
     local jobs         500             2,000      4,000         12,320     1.42     2.59
     grid jobs                 500      1,995      4,000         12,225     1.42     2.61
     all jobs           500    500      1,998      4,000         12,272     1.42     2.61

     how it was used   policy                         processors   in use       in use of   away
                                                                      (%)   available (%)    (%)
    ---------------------------------------------------------------------------------------------
     windsor           easy[order=sjf]                       256    12.42           12.48   0.47
     delft             conservative[compress=start]          512     6.21            6.21   0.00
     sarah             fcfs                                   64    30.94           30.94   0.00
     the grid                                                832    10.02           10.04   0.14

     local jobs      488 completed, 12 killed at their estimate
     grid jobs       496 completed, 4 rejected (496 measured)
     processor time  useful 9.38 %, wasted 0.65 %, away 0.14 %, idle 89.83 %
     backlog         23.3 jobs in the system over the first third of the submissions, 24.5 and 90.0 over
                     the others, 120 at the end
     run time        0.351 s (read 0.012 s, schedule 0.300 s, write 0.031 s)
     fingerprint     0:00000000000000000000000000000000
     definitions     wait = first start - submission
                     response = end - submission
                     bsld10 = max(1, response / max(run, 10 s))
                     local = of a site's own users; grid = sent by the broker

    warning: not stationary: the backlog still grows at the end, so that longer runs give larger waits
    note: skipped 8 jobs that have no run time
    ");
}

/// Every key of an object and of what is in it.
fn keys(value: &serde_json::Value, into: &mut std::collections::BTreeSet<String>) {
    match value {
        serde_json::Value::Object(object) => object.iter().for_each(|(key, value)| {
            into.insert(key.clone());
            keys(value, into);
        }),
        serde_json::Value::Array(list) => list.iter().for_each(|value| keys(value, into)),
        _ => {}
    }
}

#[test]
fn the_page_of_the_files_has_every_key() {
    let window = Window::new(Time::ZERO, Time::from_secs(432_000)).unwrap();
    let json = serde_json::from_str(&grid_json(&run(window, true)).unwrap()).unwrap();
    let page = include_str!("../../../docs/output.md");
    let mut found = std::collections::BTreeSet::new();
    keys(&json, &mut found);
    let measures = ["wait", "response", "bounded_slowdown"];
    let is_measure = |key: &String| measures.iter().any(|of| key.ends_with(of));
    for key in found.iter().filter(|key| !is_measure(key)) {
        let told = page.contains(&format!("`{key}`")) || page.contains(&format!("`{key} + "));
        let outcome = Outcome::NAMES.contains(&key.as_str());
        let energy = key.ends_with("_kwh") && page.contains(key.as_str());
        assert!(told || outcome || energy, "{key} is not on the page");
    }
}

#[test]
fn names_that_are_too_long_are_cut() {
    let mut run = run(Window::ALL, true);
    run.sites[0].name = "the university of windsor, ontario, canada".to_owned();
    run.sites[0].policy = format!("easy[order={}]", "sjf".repeat(20));
    let text = grid_tables(&run);
    assert!(narrow(&text).contains(" the university of w…   easy[order=sjfsjfsjfsjfsjfsjf…"), "{text}");
}

#[test]
fn a_run_of_nothing_has_no_figures() {
    let measures = GridMeasures::new(Definitions::default(), Window::ALL, &[]);
    let run = GridSummary::new(facts(), &measures, &[], &Ages::default(), Fingerprint::new());
    let text = grid_tables(&run);
    assert!(narrow(&text).starts_with("quickstart: 0 sites, 0 processors, 0 jobs\n"), "{text}");
    let json: serde_json::Value = serde_json::from_str(&grid_json(&run).unwrap()).unwrap();
    assert_eq!((&json["seed"], &json["mean_wait"]), (&7.into(), &serde_json::Value::Null));
}
