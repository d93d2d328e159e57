//! Cost of energy: a look-up in a trace of prices, and runs of a site whose machines sleep or draw power by their load. `cargo bench --bench energy`.

use std::hint::black_box;

use criterion::{BatchSize, BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use gridemu::grid::Grid;
use gridemu::local::Registry;
use gridemu::model::{Job, MachineGroup, PartitionSpec, Record, RecordSink, SiteSpec, SleepSpec};
use gridemu::platform::Curve;
use gridemu::units::{Power, Span, Time};
use gridemu::workload::lublin::{Lublin, LublinSpec};
use gridemu::workload::random::Stream;
use gridemu::workload::{Jobs, Source};

const HOUR: u64 = 3_600;

/// The integral over a stretch of an hour and a half, anywhere in the trace.
fn look_up(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("trace");
    for (length, hours) in [("month", 730), ("year", 8_766), ("four years", 35_064)] {
        for (steps, shift) in [("hourly", 0), ("uneven", 1)] {
            let mut draw = Stream::new(1, steps, length);
            // Every other step begins a minute later, or does not.
            let step = |hour: u64| Span::from_secs(HOUR * hour + 60 * shift * (hour % 2));
            let values: Vec<(Span, i64)> =
                (0..hours).map(|hour| (step(hour), draw.below(300) as i64)).collect();
            let curve = Curve::trace(&values, Span::ZERO);
            group.bench_function(BenchmarkId::new(steps, length), |bencher| {
                bencher.iter(|| {
                    let from = Time::from_secs(draw.below(HOUR * hours));
                    black_box(&curve).over(from, from + Span::from_secs(5_400))
                });
            });
        }
    }
    group.finish();
}

/// Jobs of 1 to 64 processors and an hour on average, at a load of 0.6.
fn jobs(count: u64, processors: u32) -> Vec<Job> {
    let mut stream = Stream::new(1, "site", "bench");
    let gap = 3_600e6 * 32.5 / (0.6 * f64::from(processors));
    let mut at = 0.0;
    let mut job = |id: u64| {
        at += gap * stream.exponential();
        let procs = 1 + stream.below(64) as u32;
        let runtime = Span::from_micros((3_600e6 * stream.exponential()) as u64 + 1);
        Job::rigid(id, Time::from_micros(at as u64), procs, runtime)
    };
    (1..=count).map(&mut job).collect()
}

/// Jobs of the model of Lublin and Feitelson at a load of 0.3: up to all processors.
fn wide_jobs(count: u64, processors: u32) -> Vec<Job> {
    let spec = format!("lublin[jobs={count},procs={processors},load=0.3]");
    let spec: LublinSpec = spec.parse().expect("a workload");
    let mut source = Lublin::new(spec, 1, "bench").expect("parameters");
    std::iter::from_fn(|| source.next_job().expect("a job")).collect()
}

/// A site of so many machines, 95 W idle and 200 W busy, which can sleep.
fn site(machines: u32, cores: u32, power_policy: &str) -> SiteSpec {
    let watts = |watts: u64| Power::from_milliwatts(1_000 * watts);
    let span = Span::from_secs;
    let sleep = SleepSpec {
        asleep: watts(9),
        wake: span(150),
        waking: watts(125),
        fall: span(6),
        falling: watts(100),
    };
    let group = MachineGroup {
        idle: Power::from_milliwatts(95_000 / u64::from(cores)),
        busy: Power::from_milliwatts(200_000 / u64::from(cores)),
        sleep: Some(sleep),
        ..MachineGroup::plain("node", machines)
    };
    let mut site = SiteSpec::plain("main", 1, "easy".parse().expect("a policy"));
    site.partitions = vec![PartitionSpec { cores, ..PartitionSpec::of(group) }];
    site.power = power_policy.parse().expect("a power policy");
    site
}

/// Counts records and discards them.
#[derive(Default)]
struct Count(u64);

impl RecordSink for Count {
    fn record(&mut self, _: Record) {
        self.0 += 1;
    }
}

fn runs(criterion: &mut Criterion) {
    const JOBS: u64 = 50_000;
    let (registry, by_load) = (Registry::standard(), |watts: u64| Power::from_milliwatts(1_000 * watts));
    let mut group = criterion.benchmark_group("site");
    group.sample_size(10).throughput(Throughput::Elements(JOBS));
    let narrow = |machines| ("1..64", machines, 16, jobs(JOBS, 16 * machines));
    // On machines of one core a job has hundreds of them.
    let wide = |machines| ("lublin", machines, 1, wide_jobs(JOBS, machines));
    for (workload, machines, cores, jobs) in [narrow(1_000), narrow(10_000), wide(500), wide(10_000)] {
        let on = site(machines, cores, "always-on");
        let mut load = on.clone();
        load.partitions[0].groups[0].by_load = Some((9..20).map(|tens| by_load(10 * tens)).collect());
        let sleeps = site(machines, cores, "sleep-idle[after=10 min]");
        for (what, site) in [("always on", on), ("sleep", sleeps), ("power by load", load)] {
            group.bench_function(BenchmarkId::new(format!("{what}, {workload}"), machines), |bencher| {
                bencher.iter_batched(
                    || {
                        let source = Box::new(Jobs::new(jobs.clone()));
                        Grid::new(vec![(site.clone(), Some(source))], &registry).expect("a site")
                    },
                    |mut grid| {
                        let mut count = Count::default();
                        grid.run(&mut count).expect("every job ends");
                        count.0
                    },
                    BatchSize::LargeInput,
                );
            });
        }
    }
    group.finish();
}

criterion_group!(benches, look_up, runs);
criterion_main!(benches);
