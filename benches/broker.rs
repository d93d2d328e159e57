//! Cost of a broker's plan over twenty pools: for one job, the common case, and for a thousand, as after an outage; and of asking a program, without
//! the program. `cargo bench --bench broker`.

use std::hint::black_box;
use std::io::Write;

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use gridemu::broker::outside::{Hello, Oracle, SharedOracle, outside};
use gridemu::broker::{Asked, Bounds, BrokerRegistry, GridView, Pool, PoolFacts, PoolReport, Rates, Tasks};
use gridemu::local::StartEstimates;
use gridemu::model::{Equipment, GridContext, Job, Named, PartitionId, PoolId, SiteId, SiteTariff};
use gridemu::units::{Power, Price, Rate, Span, Time};

/// A small random generator, so that the benchmarks measure the same thing in every version.
struct Draw(u64);

impl Draw {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % limit
    }
}

const NOW: Time = Time::from_secs(1_000_000);

/// A site of 256 processors that reported within the last minute: either half of them are free and no job waits, or all are in use
/// and the queue holds up to a day of work.
fn pool(number: u32, draw: &mut Draw) -> Pool {
    let facts = PoolFacts {
        id: PoolId { site: SiteId(number), partition: PartitionId(0) },
        site: format!("site {number}"),
        partition: "default".to_owned(),
        processors: 256,
        cores: 1,
        equipment: Equipment::default(),
        allocation_unit: 1,
        speed: Rate::ratio(50 + draw.below(200), 100),
        groups: Vec::new(),
        idle: Power::from_milliwatts(5_000),
        busy: Power::from_milliwatts(10_000 + draw.below(10_000)),
        pue_ppm: 1_000_000 + draw.below(1_000_000),
        rates: Rates::default(),
        latency: Span::from_micros(50_000),
        bandwidth: None,
    };
    let measured = Time::from_secs(1_000_000 - draw.below(60));
    let full = draw.below(2) == 0;
    let wait = if full { draw.below(86_400) } else { 0 };
    let steps = (0..9).map(|power| (1 << power, measured + Span::from_secs(wait * (power + 1) / 9)));
    let report = PoolReport {
        present: 256,
        free: if full { 0 } else { 128 },
        asleep: 0,
        free_by_group: Vec::new(),
        waiting: if full { 20 } else { 0 },
        running: 40,
        backlog: u128::from(wait) * 256_000_000,
        price: Price::from_nanos(draw.below(1_000_000_000)),
        power: Power::ZERO,
        start_estimates: StartEstimates { steps: steps.collect() },
    };
    let facts = PoolFacts { rates: Rates::new(report.price, SiteTariff::default()), ..facts };
    Pool { report, measured, asked: if full { 0 } else { 128 }, ..Pool::unreported(facts) }
}

fn plans(c: &mut Criterion) {
    let registry = BrokerRegistry::standard();
    for count in [1_u64, 1_000] {
        let mut draw = Draw(1);
        let pools: Vec<Pool> = (0..20).map(|number| pool(number, &mut draw)).collect();
        let mut tasks = Tasks::new(pools.len());
        for number in 1..=count {
            let mut job =
                Job::rigid(number, NOW, 1 << draw.below(8), Span::from_secs(60 + draw.below(36_000)));
            job.grid = Some(Box::new(GridContext { number, ..GridContext::default() }));
            tasks.enter(Box::new(job), Vec::new());
        }
        let mut group = c.benchmark_group("plan_over_20_pools");
        group.throughput(Throughput::Elements(count));
        // One that plans at intervals is measured in `searches`.
        for name in registry.names().filter(|name| *name != "mojs") {
            let (mut policy, _) =
                registry.build(&Named::bare(name), 7).expect("every policy is built with its defaults");
            group.bench_function(BenchmarkId::new(name, count), |b| {
                let mut now = pools.clone();
                b.iter(|| {
                    let mut view =
                        GridView::new(NOW, black_box(&mut now), black_box(&tasks), Asked::New, true);
                    let plan = policy.plan(&mut view);
                    // Undoes the changes of the assignment.
                    for (pool, before) in now.iter_mut().zip(&pools) {
                        (pool.in_flight, pool.asked) = (before.in_flight, before.asked);
                    }
                    plan
                });
            });
        }
        group.finish();
    }
}

/// `mct` over two thousand pools, without and with bounds of them.
fn bounds(c: &mut Criterion) {
    let mut draw = Draw(3);
    let pools: Vec<Pool> = (0..2_000).map(|number| pool(number, &mut draw)).collect();
    let mut tasks = Tasks::new(pools.len());
    for number in 1..=100 {
        let mut job = Job::rigid(number, NOW, 1 << draw.below(8), Span::from_secs(60 + draw.below(36_000)));
        job.grid = Some(Box::new(GridContext { number, ..GridContext::default() }));
        tasks.enter(Box::new(job), Vec::new());
    }
    let (mut policy, _) = BrokerRegistry::standard().build(&Named::bare("mct"), 7).expect("mct");
    let mut group = c.benchmark_group("100_jobs_over_2000_pools");
    group.throughput(Throughput::Elements(100));
    for with in [false, true] {
        group.bench_function(if with { "bounds" } else { "each pool" }, |b| {
            b.iter(|| {
                let (mut now, mut bounds) = (pools.clone(), Bounds::new(pools.len()));
                let mut view = GridView::new(NOW, &mut now, black_box(&tasks), Asked::New, true);
                if with {
                    view = view.with_bounds(&mut bounds);
                }
                policy.plan(&mut view)
            });
        });
    }
    group.finish();
}

/// Policies that compare jobs, over ten thousand of one processor and fifty pools.
fn mappers(c: &mut Criterion) {
    let registry = BrokerRegistry::standard();
    let mut draw = Draw(2);
    let pools: Vec<Pool> = (0..50).map(|number| pool(number, &mut draw)).collect();
    let mut tasks = Tasks::new(pools.len());
    for number in 1..=10_000 {
        let mut job = Job::rigid(number, NOW, 1, Span::from_secs(60 + draw.below(36_000)));
        job.grid = Some(Box::new(GridContext { number, ..GridContext::default() }));
        tasks.enter(Box::new(job), Vec::new());
    }
    let mut group = c.benchmark_group("10000_jobs_over_50_pools");
    group.sample_size(10);
    for name in ["mct", "min-min", "max-min", "duplex", "sufferage", "sufferage[commit=one]"] {
        let (mut policy, _) = registry.build(&name.parse().expect(name), 7).expect(name);
        group.bench_function(name, |b| {
            b.iter(|| {
                let mut now = pools.clone();
                let mut view = GridView::new(NOW, &mut now, black_box(&tasks), Asked::New, true);
                policy.plan(&mut view)
            });
        });
    }
    group.finish();
}

/// A planning by a search, over fifty pools: a few tasks of one processor, and as many as are planned at once at most.
fn searches(c: &mut Criterion) {
    let registry = BrokerRegistry::standard();
    let mut draw = Draw(3);
    let pools: Vec<Pool> = (0..50).map(|number| pool(number, &mut draw)).collect();
    let mut group = c.benchmark_group("search_over_50_pools");
    group.sample_size(10);
    for (count, name) in [
        (25, "mojs[generations=100]"),
        (250, "mojs[generations=250]"),
        (1_000, "mojs[generations=250,most=1000]"),
    ] {
        let mut tasks = Tasks::new(pools.len());
        for number in 1..=count {
            let mut job = Job::rigid(number, NOW, 1, Span::from_secs(60 + draw.below(36_000)));
            job.grid = Some(Box::new(GridContext { number, ..GridContext::default() }));
            tasks.enter(Box::new(job), Vec::new());
        }
        group.throughput(Throughput::Elements(count));
        group.bench_function(BenchmarkId::new(name, count), |b| {
            b.iter(|| {
                // It plans at intervals: this one has not yet.
                let (mut policy, _) = registry.build(&name.parse().expect(name), 7).expect(name);
                let mut now = pools.clone();
                let mut view = GridView::new(NOW, &mut now, black_box(&tasks), Asked::All, true);
                policy.plan(&mut view)
            });
        });
    }
    group.finish();
}

/// Leaves every task where it is.
struct Leaves;

impl Oracle for Leaves {
    fn ask(&mut self, number: u64, question: &[u8], answer: &mut Vec<u8>) -> Result<(), String> {
        black_box(question);
        write!(answer, "{{\"answer\":{number},\"plan\":[]}}").map_err(|error| error.to_string())
    }
}

/// A question to a program and its answer, without the pipe: about one task, and about all that has changed, which is twenty pools each time.
fn door(c: &mut Criterion) {
    let mut draw = Draw(3);
    let pools: Vec<Pool> = (0..20).map(|number| pool(number, &mut draw)).collect();
    let mut tasks = Tasks::new(pools.len());
    let mut job = Job::rigid(1, NOW, 1, Span::from_secs(3_600));
    job.grid = Some(Box::new(GridContext { number: 1, ..GridContext::default() }));
    tasks.enter(Box::new(job), Vec::new());
    let mut group = c.benchmark_group("a_question_over_20_pools");
    for mode in ["immediate", "batch"] {
        let hello = format!("{{\"hello\":{{\"version\":1,\"mode\":\"{mode}\"}}}}");
        let hello = Hello::read(hello.as_bytes()).expect("a greeting");
        let info = outside("bench", hello, SharedOracle::new(Leaves), None);
        let registry = BrokerRegistry::standard().with(info);
        let (mut policy, _) = registry.build(&Named::bare("outside"), 7).expect("a policy");
        group.bench_function(mode, |b| {
            let (mut pools, mut now) = (pools.clone(), NOW);
            b.iter(|| {
                now += Span::TICK;
                pools.iter_mut().for_each(|pool| pool.measured = now);
                let mut view = GridView::new(now, &mut pools, black_box(&tasks), Asked::New, true);
                policy.plan(&mut view)
            });
        });
    }
    group.finish();
}

criterion_group!(benches, plans, bounds, mappers, searches, door);
criterion_main!(benches);
