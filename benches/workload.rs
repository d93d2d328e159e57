//! How fast workloads are made: jobs of the Lublin-Feitelson model a second.

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use gridemu::workload::lublin::{Lublin, LublinSpec};

/// Jobs an iteration; fewer than the pilot, so that a load doubles the work.
const JOBS: u64 = 100_000;

fn lublin(c: &mut Criterion) {
    let mut group = c.benchmark_group("lublin");
    group.throughput(Throughput::Elements(JOBS)).sample_size(10);
    for (name, options) in [
        ("typeless", "procs=1024"),
        ("typed", "procs=1024,types=typed"),
        ("load", "procs=1024,load=0.7"),
        ("reference", "reference=true"),
    ] {
        let spec: LublinSpec = match format!("lublin[jobs={JOBS},seed=1,{options}]").parse() {
            Ok(spec) => spec,
            Err(error) => panic!("{error}"),
        };
        group.bench_with_input(BenchmarkId::from_parameter(name), &spec, |b, spec| {
            b.iter(|| {
                Lublin::new(spec.clone(), 0, "bench").map(|source| source.map(|job| job.runtime).sum::<u64>())
            });
        });
    }
    group.finish();
}

criterion_group! {
    name = benches;
    config = Criterion::default().measurement_time(std::time::Duration::from_secs(2));
    targets = lublin
}
criterion_main!(benches);
