//! Whole replays, from reading to the last record, without output files: the figures of `docs/performance.md`, and a synthetic log
//! that needs no download. Archive logs are read from `$GRIDEMU_DATA/swf`, if that is set.

use std::path::PathBuf;
use std::time::Duration;

use criterion::{Criterion, criterion_group, criterion_main};
use gridemu::experiment::{Progress, ReplayScenario};
use gridemu::grid::Policies;
use gridemu::scenario::{Override, Workload};

const LOGS: [(&str, &str); 4] = [
    ("KTH-SP2-1996-2.1-cln", "easy"),
    ("KTH-SP2-1996-2.1-cln", "conservative"),
    ("SDSC-SP2-1998-4.2-cln", "easy"),
    ("SDSC-SP2-1998-4.2-cln", "conservative"),
];

fn replay(bench: &mut Criterion, name: &str, workload: &Workload, policy: &str) {
    let sets = [Override::set(&format!("site.site.policy={policy}"))];
    let replay = ReplayScenario::new(workload.clone());
    let run = replay.run(&sets, &Policies::standard());
    let run = run.expect("a replay that can be run");
    let progress = Progress::default();
    bench.bench_function(name, |timer| {
        timer.iter(|| run.run(&progress).expect("it runs").measures.jobs);
    });
}

#[expect(clippy::disallowed_methods, reason = "a benchmark is told by the environment where the logs are")]
fn replays(bench: &mut Criterion) {
    for policy in ["fcfs", "easy", "easy[order=lxf]", "conservative", "equal-share"] {
        let workload = "lublin[jobs=10000,load=0.7]".parse().expect("a workload");
        replay(bench, &format!("lublin 10,000 jobs, {policy}"), &workload, policy);
    }
    // At the load of configs/group-optimization.toml.
    for (jobs, policy) in [
        (5_000, "scojo-pect"),
        (10_000, "scojo-pect"),
        (20_000, "scojo-pect"),
        (5_000, "scojo-pect-groups"),
        (10_000, "scojo-pect-groups"),
        (20_000, "scojo-pect-groups"),
    ] {
        let workload = format!("lublin[jobs={jobs},procs=128]").parse().expect("a workload");
        replay(bench, &format!("lublin {jobs} jobs on 128 processors, {policy}"), &workload, policy);
    }
    let Some(data) = std::env::var_os("GRIDEMU_DATA").map(PathBuf::from) else {
        return;
    };
    for (log, policy) in LOGS {
        let path = data.join("swf").join(format!("{log}.swf.gz"));
        replay(bench, &format!("{log}, {policy}"), &Workload::File(path), policy);
    }
}

criterion_group! {
    name = benches;
    config = Criterion::default().sample_size(20).measurement_time(Duration::from_secs(3));
    targets = replays
}
criterion_main!(benches);
