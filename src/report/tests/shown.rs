//! What people see.

use insta::assert_snapshot;

use crate::metrics::samples::{job, rejected};
use crate::metrics::{
    Definitions, Fingerprint, Ledger, OfferedLoad, Quantiles, RunFacts, RunSummary, Summary, Times,
    WaitComparison,
};
use crate::model::{InstantOrder, JobClasses, JobRecord, Outcome};
use crate::platform::Usage;
use crate::report::{comparison_table, json, recorded_waits_table, summary_table};
use crate::units::{Energy, Money, Span, Time};

/// A run of forty jobs by a rule; `slow` makes them wait longer.
fn run(policy: &str, slow: u64, classes: JobClasses) -> RunSummary {
    let definitions = Definitions::new(Definitions::TAU, classes, 100);
    let (mut summary, mut waits) = (Summary::new(definitions.clone()), WaitComparison::new(definitions));
    let mut fingerprint = Fingerprint::new();
    for at in 0..40_u64 {
        let run = at * at * 37;
        let mut record = job(at, at * 900, at % 7 * 1_300 * slow, run, (at % 12 + 1) as u32);
        if at % 13 == 5 {
            record.outcome = Outcome::Killed;
        }
        let recorded_wait = Some(Span::from_secs(at % 5 * 2_000));
        let record = JobRecord { recorded_wait, ..record };
        summary.add(&record);
        waits.add(&record);
        fingerprint.add_job(&record);
    }
    let time = |proc_seconds: u128| proc_seconds * Usage::PROC_SECOND;
    let mut ledger = Ledger::default();
    ledger.add(
        &Usage {
            to: Time::from_secs(100_000),
            processors: 100,
            useful: time(6_000_000),
            wasted: time(500_000),
            reserved: time(1_000_000),
            ..Usage::default()
        },
        1_000_000,
    );
    let facts = RunFacts {
        version: "0.1.0".to_owned(),
        workload: "KTH-SP2-1996-2.1-cln.swf.gz".to_owned(),
        policy: policy.to_owned(),
        procs: 100,
        estimates: "log".to_owned(),
        order: InstantOrder::Event,
        longest_queue: 1_121,
        times: Times { read_s: 0.0123, schedule_s: 0.0084, write_s: 0.0311 },
        ..RunFacts::default()
    };
    RunSummary::new(facts, &summary, &ledger, fingerprint, (slow == 1).then_some(&waits))
}

#[test]
fn a_summary_reads_well() {
    let mut plain = run("easy[order=sjf]", 2, JobClasses::none());
    plain.facts.notes = vec!["skipped 8 jobs that have no run time".to_owned()];
    plain.facts.offered_load = Some(OfferedLoad {
        value: 0.70412,
        over: "100 processors from the first to the last submission".to_owned(),
    });
    assert_snapshot!(summary_table(&plain), @r"
    easy[order=sjf] on KTH-SP2-1996-2.1-cln.swf.gz: 40 jobs, 100 processors
    estimates log, one pass an event, offered load 0.704 of 100 processors from the first to the last submission

                          mean   median      p95      max
    ------------------------------------------------------
     wait (s)            7,475    7,800   15,600   15,600
     response (s)       26,474   21,853   58,372   66,677
     bounded slowdown     5.83     1.37    24.42    71.27

     outcomes        37 completed, 3 killed at their estimate
     utilization     65.00 % of nominal, 72.22 % of available
     processor time  useful 60.00 %, wasted 5.00 %, reserved 10.00 %, idle 25.00 %
     makespan        1 d 4 h (101,777 s)
     longest queue   1,121 jobs
     run time        read 0.012 s, schedule 0.008 s, write 0.031 s
     fingerprint     40:dd7b19b32af3e33e3f1a25953ebdaa16
     definitions     wait = first start - submission
                     response = end - submission
                     bsld10 = max(1, response / max(run, 10 s))
                     utilization = processor time in use / (processors * (last end - first submission))

    note: skipped 8 jobs that have no run time
    ");
}

#[test]
fn classes_energy_and_cost_show_when_there_are_any() {
    let mut rich = run("conservative", 1, "kettimuthu-4".parse().unwrap());
    let mut ledger = Ledger::default();
    ledger.add(
        &Usage {
            to: Time::from_secs(100_000),
            processors: 100,
            useful: 8_000_000 * Usage::PROC_SECOND,
            job_energy: Energy::from_nanojoules(1_234_000_000_000_000_000),
            meter: Energy::from_nanojoules(1_500_000_000_000_000_000),
            cost: Money::from_nanos(12_345_678_900_000),
            electricity: Some(Money::from_nanos(162_500_000_000)),
            ..Usage::default()
        },
        1_300_000,
    );
    (rich.energy, rich.cost, rich.usage) = (ledger.energy(), ledger.cost().as_f64(), ledger.usage());
    (rich.utilization, rich.utilization_available) = (ledger.utilization(), ledger.utilization_available());
    rich.quantiles = Quantiles::Sketch;
    rich.facts.seed = Some(7);
    assert_snapshot!(summary_table(&rich), @r"
    conservative on KTH-SP2-1996-2.1-cln.swf.gz: 40 jobs, 100 processors
    estimates log, one pass an event, seed 7

                          mean   ~median     ~p95      max
    -------------------------------------------------------
     wait (s)            3,738     3,900    7,800    7,800
     response (s)       22,737    17,188   53,253   61,477
     bounded slowdown     3.41      1.18    12.71    36.14

     outcomes        37 completed, 3 killed at their estimate
     utilization     80.00 %
     processor time  useful 80.00 %, idle 20.00 %
     makespan        1 d 2 h (96,577 s)
     longest queue   1,121 jobs
     energy          416.7 kWh (jobs 342.8, idle 73.9), 541.7 kWh with the facility
     electricity     162.50
     cost            12,345.68
     run time        read 0.012 s, schedule 0.008 s, write 0.031 s
     fingerprint     40:eb0e74cb3d92876963be75f274ba75af
     definitions     wait = first start - submission
                     response = end - submission
                     bsld10 = max(1, response / max(run, 10 s))
                     utilization = processor time in use / (processors * (last end - first submission))
                     ~ is at most 0.1 % too high

     by class (kettimuthu-4)   measured     mean   ~median     ~p95      max
    -------------------------------------------------------------------------
     wait (s)
       S N                            8    3,412     2,600    7,800    7,800
       S W                            2    1,950     1,300    2,600    2,600
       L N                           20    3,900     3,900    7,800    7,800
       L W                           10    4,030     3,900    7,800    7,800
     response (s)
       S N                            8    4,060     2,748    9,132    9,132
       S W                            2    4,632     3,668    5,597    5,597
       L N                           20   29,219    28,325   57,328   61,477
       L W                           10   28,335    22,173   50,572   50,572
     bounded slowdown
       S N                            8    11.76      8.03    36.14    36.14
       S W                            2     1.71      1.55     1.87     1.87
       L N                           20     1.28      1.16     2.22     2.25
       L W                           10     1.34      1.14     2.16     2.16

     wait (s)   jobs       mean       mean     median     median        p90        p90
                       emulated   recorded   emulated   recorded   emulated   recorded
    -----------------------------------------------------------------------------------
     all          40      3,738      4,000      3,900      4,000      7,800      8,000
     S N           8      3,412      3,250      2,600      2,000      7,800      8,000
     S W           2      1,950      7,000      1,300      6,000      2,600      8,000
     L N          20      3,900      4,400      3,900      4,000      6,500      8,000
     L W          10      4,030      3,200      3,900      2,000      7,800      6,000
    ");
}

#[test]
fn a_run_of_nothing_says_so() {
    let mut summary = Summary::new(Definitions::default());
    summary.add(&rejected(1, 0, 200));
    let facts =
        RunFacts { policy: "fcfs".to_owned(), workload: "empty.swf".to_owned(), ..RunFacts::default() };
    let run = RunSummary::new(facts, &summary, &Ledger::default(), Fingerprint::new(), None);
    assert_eq!(recorded_waits_table(&run), "");
    assert_snapshot!(summary_table(&run), @r"
    fcfs on empty.swf: 1 job, 0 processors
    estimates , one pass an instant

                        mean   median   p95   max
    ----------------------------------------------
     wait (s)              -        -     -     -
     response (s)          -        -     -     -
     bounded slowdown      -        -     -     -

     outcomes        0 completed, 1 rejected (0 measured)
     utilization     -
     processor time  -
     makespan        -
     longest queue   0 jobs
     run time        read 0.000 s, schedule 0.000 s, write 0.000 s
     fingerprint     0:00000000000000000000000000000000
     definitions     wait = first start - submission
                     response = end - submission
                     bsld10 = max(1, response / max(run, 10 s))
                     utilization = processor time in use / (processors * (last end - first submission))
    ");
}

#[test]
fn runs_stand_side_by_side() {
    let runs = [
        run("fcfs", 9, JobClasses::none()),
        run("easy[order=sjf]", 2, JobClasses::none()),
        run("conservative[compress=start]", 3, JobClasses::none()),
    ];
    assert_snapshot!(comparison_table(&runs), @r"
    40 jobs of KTH-SP2-1996-2.1-cln.swf.gz on 100 processors, estimates log

     policy                             jobs       mean           mean     mean      p95   utilization   makespan   schedule
                                    measured   wait (s)   response (s)   bsld10   bsld10           (%)        (s)        (s)
    -------------------------------------------------------------------------------------------------------------------------
     fcfs                                 40     33,638         52,637    22.72    106.4         65.00    143,572      0.008
     easy[order=sjf]                      40     *7,475        *26,474    *5.83    *24.4         65.00   *101,777      0.008
     conservative[compress=start]         40     11,212         30,212     8.24     36.1         65.00    106,977      0.008

    * best of its column; the longest run spans 1 d 15 h
    ");
    assert_eq!(comparison_table(&[]).lines().count(), 3, "no run, no row");
}

#[test]
fn a_comparison_of_unlike_runs_says_so_first() {
    let mut other = run("easy", 2, JobClasses::none());
    other.measures.outcomes.killed += 4;
    other.measures.outcomes.completed -= 4;
    other.facts.estimates = "exact".to_owned();
    let text = comparison_table(&[run("fcfs", 9, JobClasses::none()), other]);
    let warnings: Vec<_> = text.lines().take_while(|line| !line.is_empty()).collect();
    assert_snapshot!(warnings.join("\n"), @r"
    warning: the runs differ in their estimates: exact, log
    warning: jobs did not end alike, so the means compare unlike work (completed: fcfs 37, easy 33; killed: fcfs 3, easy 7)
    ");
}

#[test]
fn json_is_one_document() {
    let run = run("fcfs", 1, JobClasses::none());
    let one: serde_json::Value = serde_json::from_str(&json(std::slice::from_ref(&run)).unwrap()).unwrap();
    assert_eq!(one["policy"], "fcfs");
    let two: serde_json::Value = serde_json::from_str(&json(&[run.clone(), run]).unwrap()).unwrap();
    assert_eq!(two[1]["jobs"], 40);
}
