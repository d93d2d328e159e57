//! Cost of local scheduling: the profile, the indexed queue, the shadow time, processor sets, the dynamic programs of the LOS
//! family, and whole runs on a machine that is always full, or has a long queue under gang scheduling. `cargo bench --bench local`.

use std::hint::black_box;

use criterion::{BatchSize, BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use gridemu::grid::Grid;
use gridemu::local::policies::packing::{Item, Packer};
use gridemu::local::{Awake, BackfillWindow, Entry, Profile, Queue, Registry, Releases, SlotRequest};
use gridemu::model::{Job, JobKey, ProcSet, Record, RecordSink, SiteSpec};
use gridemu::units::{Span, Time};
use gridemu::workload::Jobs;
use gridemu::workload::huang::Huang;

/// A small random generator, so that the benchmarks measure the same thing in every version.
struct Draw(u64);

impl Draw {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % limit
    }
}

/// A profile of `steps` steps, one per minute, with between 0 and 63 of 64 processors free in random order.
fn profile_of(steps: u64) -> Profile {
    let mut draw = Draw(1);
    let mut profile = Profile::new(Time::ZERO, 64);
    let mut before = 0;
    for step in 1..steps {
        // Consecutive values differ, so that no steps are merged.
        let taken = 1 + (before + draw.below(62)) % 63;
        profile.reserve(Time::from_secs(60 * step), Time::from_secs(60 * (step + 1)), taken as u32);
        before = taken;
    }
    profile
}

fn profile(c: &mut Criterion) {
    let mut group = c.benchmark_group("profile");
    for steps in [10_u64, 100, 1_000, 10_000] {
        let made = profile_of(steps);
        let end = 60 * steps;
        group.bench_function(BenchmarkId::new("earliest_of_a_job_that_fits_last", steps), |b| {
            b.iter(|| black_box(&made).earliest(Time::ZERO, Span::from_secs(120), 64));
        });
        group.bench_function(BenchmarkId::new("earliest_at_a_random_instant", steps), |b| {
            let mut draw = Draw(2);
            b.iter(|| made.earliest(Time::from_secs(draw.below(end)), Span::from_secs(90), 16));
        });
        // As a site answers that has so many reservations.
        group.bench_function(BenchmarkId::new("three_offers_from_a_random_instant_on", steps), |b| {
            let mut draw = Draw(2);
            b.iter(|| {
                let earliest = Time::from_secs(draw.below(end));
                let latest = earliest + Span::from_secs(86_400);
                let duration = Span::from_secs(90);
                made.offers(&SlotRequest { procs: 16, duration, earliest, latest, alternatives: 3 })
            });
        });
        group.bench_function(BenchmarkId::new("reserve_and_release", steps), |b| {
            let (mut draw, mut profile) = (Draw(3), made.clone());
            b.iter(|| {
                let from = Time::from_secs(draw.below(end));
                let to = from + Span::from_secs(1 + draw.below(600));
                profile.reserve(from, to, 3);
                profile.release(from, to, 3);
            });
        });
    }
    group.finish();
}

fn queue(c: &mut Criterion) {
    let mut group = c.benchmark_group("queue");
    for waiting in [100_u64, 10_000] {
        let (mut draw, mut queue) = (Draw(4), Queue::new());
        for seq in 0..waiting {
            // One in a thousand is small and short enough for the backfill window below.
            let small = seq % 1_000 == 999;
            queue.insert(Entry {
                rank: 0,
                seq,
                job: JobKey(seq as u32),
                procs: if small { 2 } else { 8 + draw.below(120) as u32 },
                estimate: Span::from_secs(if small { 60 } else { 3_600 + draw.below(80_000) }),
            });
        }
        let hole = |free| BackfillWindow { free, window: Span::from_secs(600), extra: 0, awake: Awake::ALL };
        group.bench_function(BenchmarkId::new("find_nothing", waiting), |b| {
            b.iter(|| queue.find(None, black_box(hole(1))));
        });
        group.bench_function(BenchmarkId::new("find_one_in_a_thousand", waiting), |b| {
            b.iter(|| queue.find(None, black_box(hole(4))));
        });
        group.bench_function(BenchmarkId::new("insert_and_remove", waiting), |b| {
            let mut queue = queue.clone();
            let entry = Entry {
                rank: 0,
                seq: waiting,
                job: JobKey(waiting as u32),
                procs: 9,
                estimate: Span::from_secs(9),
            };
            b.iter(|| {
                queue.insert(black_box(entry));
                queue.remove((0, waiting))
            });
        });
    }
    group.finish();
}

fn releases(c: &mut Criterion) {
    let mut group = c.benchmark_group("releases");
    for running in [100_u64, 1_000, 10_000] {
        let (mut draw, mut releases) = (Draw(5), Releases::new());
        for job in 0..running {
            releases.insert(Time::from_secs(1 + draw.below(86_400)), JobKey(job as u32), 1);
        }
        // Half of the running jobs must end first.
        let needed = (running / 2) as u32;
        group.bench_function(BenchmarkId::new("shadow_behind_half", running), |b| {
            b.iter(|| releases.shadow(Time::ZERO, 0, black_box(needed), |_| false));
        });
    }
    group.finish();
}

fn procset(c: &mut Criterion) {
    let mut group = c.benchmark_group("procset");
    for procs in [100_u32, 1_152, 8_192] {
        // Every third processor is taken, as on a machine after many jobs.
        let free: ProcSet = (0..procs).filter(|proc| proc % 3 != 0).collect();
        let count = procs / 4;
        group.bench_function(BenchmarkId::new("take_lowest", procs), |b| {
            b.iter_batched_ref(
                || free.clone(),
                |free| free.take_lowest(black_box(count)),
                BatchSize::SmallInput,
            );
        });
        let Some(given) = free.lowest(count) else { continue };
        group.bench_function(BenchmarkId::new("insert_all", procs), |b| {
            b.iter_batched_ref(
                || free.clone(),
                |free| free.insert_all(black_box(&given)),
                BatchSize::SmallInput,
            );
        });
    }
    group.finish();
}

/// Basic_DP and Reservation_DP over 50 candidates, on 1,152 processors and on 320 in units of 32. The candidates together request
/// several times the free processors, so that the table cannot be skipped; every second job holds its processors at the freeze end,
/// and a third of the processors that are free now is spare then.
fn packing(c: &mut Criterion) {
    const CANDIDATES: usize = 50;
    let mut group = c.benchmark_group("packing");
    for (name, free, largest) in [("1152", 1_152_u32, 128), ("320_in_32s", 10, 10)] {
        let mut draw = Draw(7);
        let sizes: Vec<u32> = (0..CANDIDATES).map(|_| 1 + draw.below(largest) as u32).collect();
        let items = |holds: fn(usize) -> bool| -> Vec<Item> {
            let item = |(at, units): (usize, &u32)| Item { units: *units, holds: holds(at) };
            sizes.iter().enumerate().map(item).collect()
        };
        let (basic, reservation) = (items(|_| false), items(|at| at % 2 == 0));
        let (mut packer, mut chosen) = (Packer::default(), Vec::new());
        group.bench_function(BenchmarkId::new("basic_dp", name), |b| {
            b.iter(|| {
                packer.pack(black_box(&basic), free, 0, &mut chosen);
                chosen.len()
            });
        });
        group.bench_function(BenchmarkId::new("reservation_dp", name), |b| {
            b.iter(|| {
                packer.pack(black_box(&reservation), free, free / 3, &mut chosen);
                chosen.len()
            });
        });
    }
    group.finish();
}

/// Jobs that arrive faster than 256 processors can run them, so that the queue keeps growing.
fn saturating(jobs: u64) -> Vec<Job> {
    let mut draw = Draw(6);
    let job = |id: u64| {
        let procs = 1_u32 << draw.below(8);
        let runtime = 30 + draw.below(7_200);
        let estimate = runtime * (1 + draw.below(5));
        Job::rigid(id, Time::from_secs(id * 60), procs, Span::from_secs(runtime))
            .estimated(Span::from_secs(estimate))
    };
    (1..=jobs).map(job).collect()
}

#[derive(Default)]
struct Count(u64);

impl RecordSink for Count {
    fn record(&mut self, _record: Record) {
        self.0 += 1;
    }
}

fn runs(c: &mut Criterion) {
    const JOBS: u64 = 2_000;
    let jobs = saturating(JOBS);
    let registry = Registry::standard();
    let mut group = c.benchmark_group("saturated_run");
    group.sample_size(20).throughput(Throughput::Elements(JOBS));
    for written in [
        "fcfs",
        "easy",
        "easy[order=lxf]",
        "los",
        "delayed-los",
        "conservative",
        "conservative[compress=none]",
        "ss",
        "is",
    ] {
        group.bench_function(written, |b| {
            b.iter_batched(
                || {
                    let site =
                        SiteSpec::plain("full", 256, written.parse().expect("a policy as it is written"));
                    let source = Box::new(Jobs::new(jobs.clone()));
                    Grid::new(vec![(site, Some(source))], &registry).expect("a site that makes sense")
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
    group.finish();
}

/// Gang scheduling on 64 processors, where nearly all jobs wait at once: all come before a few have ended.
fn long_lines(c: &mut Criterion) {
    let registry = Registry::standard();
    let mut group = c.benchmark_group("long_line");
    for jobs in [2_500_u64, 5_000, 10_000] {
        group.sample_size(10).throughput(Throughput::Elements(jobs));
        for variant in ["pri-wa-fa", "pri-b-wa-fa", "pri-eb-wa-fa", "pri-easy-wa-fa"] {
            group.bench_function(BenchmarkId::new(variant, jobs), |b| {
                b.iter_batched(
                    || {
                        let policy = format!("gang[variant={variant},level=2]");
                        let site = SiteSpec::plain("full", 64, policy.parse().expect("a policy"));
                        let spec = format!("huang[jobs={jobs},every=1 s]");
                        let source =
                            Huang::new(spec.parse().expect("a generator"), 1, "").expect("a generator");
                        Grid::new(vec![(site, Some(Box::new(source)))], &registry)
                            .expect("a site that makes sense")
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

criterion_group!(benches, profile, queue, releases, procset, packing, runs, long_lines);
criterion_main!(benches);
