//! Cost of a value that a forecaster takes, by all predictors, and of a forecast. `cargo bench --bench forecast`.

use std::hint::black_box;

use criterion::{BenchmarkId, Criterion, criterion_group, criterion_main};
use gridemu::forecast::{self, Forecaster};
use gridemu::workload::random::Stream;

fn values(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("forecast");
    let recent = forecast::Criterion::RecentSquared(forecast::Criterion::RECENT);
    for (name, by) in [("all errors", forecast::Criterion::Squared), ("last 50 errors", recent)] {
        let (mut forecaster, mut stream) = (Forecaster::new(by), Stream::new(1, "series", "bench"));
        let mut observe = move |forecaster: &mut Forecaster| {
            forecaster.observe(stream.uniform()).expect("a number");
        };
        (0..1_000).for_each(|_| observe(&mut forecaster));
        let known = forecaster.clone();
        group.bench_function(BenchmarkId::new("observe", name), |b| b.iter(|| observe(&mut forecaster)));
        group.bench_function(BenchmarkId::new("forecast", name), |b| b.iter(|| black_box(&known).forecast()));
    }
    group.finish();
}

criterion_group!(benches, values);
criterion_main!(benches);
