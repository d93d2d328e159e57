//! A grid under a broker: the cost of a job from its submission to its end.

use criterion::{BatchSize, Criterion, criterion_group, criterion_main};
use gridemu::grid::{Grid, Policies};
use gridemu::model::{BrokerSpec, GridSpec, Job, Link, NetworkSpec, Record, RecordSink, SiteSpec};
use gridemu::units::{Span, Time};
use gridemu::workload::Jobs;
use gridemu::workload::random::Stream;

/// Counts records and discards them.
#[derive(Default)]
struct Count(u64);

impl RecordSink for Count {
    fn record(&mut self, _: Record) {
        self.0 += 1;
    }
}

/// Jobs with exponential gaps (mean 2 s), 1 to 32 processors and a mean run time of 7 minutes.
fn jobs(count: u64) -> Vec<Job> {
    let mut stream = Stream::new(1, "portal", "bench");
    let mut at = 0.0;
    let mut job = |id: u64| {
        at += 2.0 * stream.exponential();
        let procs = 1 + stream.below(32) as u32;
        let runtime = Span::from_micros((430e6 * stream.exponential()) as u64 + 1_000_000);
        Job::rigid(id, Time::from_micros((at * 1e6) as u64), procs, runtime).estimated(runtime * 2)
    };
    (1..=count).map(&mut job).collect()
}

/// Twenty sites of 256 processors, with 50 ms latency and a `monitoring_interval` of 60 s.
fn grid(policy: &str, jobs: Vec<Job>) -> Grid {
    let link = Link { latency: Span::from_micros(50_000), bandwidth: None };
    let spec = GridSpec {
        seed: 1,
        sites: (0..20)
            .map(|at| SiteSpec::plain(&format!("site-{at}"), 256, "easy".parse().expect("a policy")))
            .collect(),
        network: NetworkSpec::uniform(link),
        broker: Some(BrokerSpec::new(policy.parse().expect("a policy"))),
    };
    let policies = Policies::standard();
    Grid::build(&spec, Vec::new(), Some(Box::new(Jobs::new(jobs))), &policies).expect("a grid")
}

fn whole_way(criterion: &mut Criterion) {
    let jobs = jobs(20_000);
    let mut group = criterion.benchmark_group("grid");
    group.sample_size(10);
    group.bench_function("mct, 20 sites, 20,000 jobs, plain loop", |bencher| {
        bencher.iter_batched(
            || grid("mct", jobs.clone()),
            |mut grid| grid.run(&mut Count::default()).expect("it runs"),
            BatchSize::LargeInput,
        );
    });
    group.finish();
}

criterion_group!(benches, whole_way);
criterion_main!(benches);
