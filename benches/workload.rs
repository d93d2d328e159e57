//! Throughput of generating and reading workloads, in jobs per second: the Lublin-Feitelson model, the generator of the cloud
//! workload format, and logs of that format.

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use gridemu::formats::cwf::Writer;
use gridemu::formats::swf::{SwfOptions, SwfSource};
use gridemu::workload::Source;
use gridemu::workload::cwf::{Cwf, CwfSpec};
use gridemu::workload::lublin::{Lublin, LublinSpec};

/// Jobs per iteration; fewer than the pilot run, so that `load` doubles the work.
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
            b.iter(|| Lublin::new(spec.clone(), 0, "bench").map(drain));
        });
    }
    group.finish();
}

fn drain(mut source: impl Source) -> usize {
    let mut jobs = 0;
    while let Ok(Some(_)) = source.next_job() {
        jobs += 1;
    }
    jobs
}

fn cwf(c: &mut Criterion) {
    let mut group = c.benchmark_group("cwf");
    group.sample_size(10);
    for (name, jobs, options) in [
        ("batch", JOBS, ""),
        ("elastic", JOBS, ",pd=0.5,pe=0.2,pr=0.1"),
        // The load is calibrated by dry runs.
        ("paper", 500, ",load=0.9,pd=0.5,pe=0.2,pr=0.1"),
    ] {
        let spec: CwfSpec = match format!("cwf[jobs={jobs},seed=1{options}]").parse() {
            Ok(spec) => spec,
            Err(error) => panic!("{error}"),
        };
        group.throughput(Throughput::Elements(jobs));
        group.bench_with_input(BenchmarkId::new("generate", name), &spec, |b, spec| {
            b.iter(|| Cwf::new(spec.clone(), 0, "bench").map(drain));
        });
        let (mut text, mut writer) = (Vec::new(), Writer::default());
        if let Ok(mut source) = Cwf::new(spec, 0, "bench") {
            while let Ok(Some(job)) = source.next_job() {
                writer.write_job(&mut text, &job);
            }
        }
        writer.finish(&mut text);
        let input = || Box::new(std::io::Cursor::new(text.clone()));
        group.bench_function(BenchmarkId::new("read", name), |b| {
            b.iter(|| {
                let commands = SwfSource::gather_commands(input(), SwfOptions::default())?;
                SwfSource::open(input(), SwfOptions::default()).map(|log| drain(log.with_commands(commands)))
            });
        });
    }
    group.finish();
}

criterion_group! {
    name = benches;
    config = Criterion::default().measurement_time(std::time::Duration::from_secs(2));
    targets = lublin, cwf
}
criterion_main!(benches);
