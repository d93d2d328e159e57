//! Fingerprints of five small runs, asserted exactly. They hold on every machine: random draws use this crate's own mathematical
//! functions, and times are integers.
//!
//! A release that changes one of them changes results: `CHANGELOG.md` must name the release and the change. Only then replace the
//! line here by the one that the failing test prints.

use gridemu::experiment::{Progress, ReplayScenario};
use gridemu::grid::Policies;
use gridemu::metrics::Fingerprint;
use gridemu::model::{Job, MachineGroup, PartitionSpec, Speedup};
use gridemu::scenario::{Override, Workload};
use gridemu::units::{Power, Price};

use crate::support::{Law, With, check, job, reserve, run, site};

fn replay(workload: &str, policy: &str, estimates: &str, more: &[&str]) -> Fingerprint {
    let workload: Workload = workload.parse().unwrap();
    let mut replay = ReplayScenario::new(workload);
    replay.shaping.estimates = estimates.parse().unwrap();
    let policy = format!("site.site.policy={policy}");
    let sets = more.iter().copied().chain([&*policy]);
    let sets: Vec<Override> = sets.map(Override::set).collect();
    let run = replay.run(&sets, &Policies::standard()).unwrap();
    run.run(&Progress::default()).unwrap().fingerprint
}

/// Twelve jobs that meet everything: rigid and moldable, of no length, over their estimate, larger than the machine,
/// ends and arrivals at one instant.
fn hand_made() -> Vec<Job> {
    vec![
        job(1, 0, 20, 100).estimate(150),
        job(2, 0, 33, 50),
        job(3, 10, 64, 40).estimate(60),
        job(4, 10, 1, 500).estimate(90),
        job(5, 20, 7, 0),
        job(6, 50, 16, 35),
        job(7, 100, 16, 100).moldable(4, 40, Speedup::Linear),
        job(8, 100, 500, 10),
        job(9, 150, 12, 20).estimate(20),
        job(10, 170, 1, 1),
        job(11, 170, 64, 300).estimate(3_000),
        job(12, 480, 3, 7),
    ]
}

fn energy_quantum_reservation() -> Fingerprint {
    let mut spec = reserve(site(64, "easy"), "class", 200, 260, 20);
    let group = MachineGroup {
        idle: "40 W".parse::<Power>().unwrap(),
        busy: "95.5 W".parse::<Power>().unwrap(),
        price: "0.18/core-h".parse::<Price>().unwrap(),
        ..MachineGroup::plain("default", 64)
    };
    spec.partitions = vec![PartitionSpec { allocation_unit: 8, ..PartitionSpec::of(group) }];
    spec.pue_ppm = 1_350_000;
    let (jobs, mut fingerprint) = (hand_made(), Fingerprint::new());
    let ran = run(&spec, &jobs);
    check(&spec, &jobs, &ran, Law::default());
    ran.records.iter().for_each(|record| fingerprint.add(record));
    fingerprint
}

const LUBLIN: &str = "lublin[jobs=500,procs=128,load=0.9,seed=7]";

/// Name, run, fingerprint.
type Golden = (&'static str, fn() -> Fingerprint, &'static str);

const GOLDEN: [Golden; 5] = [
    ("lublin, easy", || replay(LUBLIN, "easy", "log", &[]), "1000:0caf7849b1458a2330f3af40c5efde21"),
    (
        "lublin with Tsafrir's estimates, conservative",
        || replay(LUBLIN, "conservative", "tsafrir", &["classes=kettimuthu-4"]),
        "1000:673cc66860251c1e7bb0f0507bdf342d",
    ),
    (
        "lublin, time sharing",
        || replay(LUBLIN, "equal-share[mpl=3]", "log", &[]),
        "1252:9b57094c7bc3368f7297bb020cb24384",
    ),
    (
        "typed lublin, one pass per event, shortest first",
        || {
            let typed = "lublin[jobs=500,procs=64,load=0.9,types=typed,seed=7]";
            replay(typed, "easy[order=sjf]", "factor:2.5", &["site.site.order=event"])
        },
        "1000:5fad181f10e2a245d13bd0983fcd6191",
    ),
    (
        "by hand: energy, price, allocation_unit and a reservation",
        energy_quantum_reservation,
        "22:07517c60584664b367eceb84c2fbc3d3",
    ),
];

#[test]
fn golden_fingerprints_are_as_they_were() {
    let mut changed = Vec::new();
    for (name, run, expected) in GOLDEN {
        let found = run().to_string();
        if found != expected {
            changed.push(format!("  {name}: now \"{found}\", was \"{expected}\""));
        }
    }
    assert!(
        changed.is_empty(),
        "results have changed:\n{}\nIf that is meant, name the release and the change in CHANGELOG.md and put the new \
         fingerprints into tests/it/golden.rs.",
        changed.join("\n")
    );
}
