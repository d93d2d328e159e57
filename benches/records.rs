//! Cost of a record: aggregating, fingerprinting and writing it. Figures are times per job (a job and its segment where segments
//! are written).

use std::hint::black_box;

use criterion::{BatchSize, Criterion, Throughput, criterion_group, criterion_main};
use gridemu::metrics::{
    Definitions, Fingerprint, GridMeasures, Quantiles, RecoveryRule, Summary, WaitComparison, Window,
};
use gridemu::model::{
    Cause, JobClasses, JobId, JobKind, JobRecord, Origin, Outcome, PartitionId, ProcSet, Record,
    SegmentRecord, SiteId, SiteSpec,
};
use gridemu::output::{OutputDir, OutputOptions};
use gridemu::units::{Energy, Money, Rate, Span, Time};

/// Records are aggregated and written while they are in the cache, so a batch is what fits into it, and is used repeatedly.
const BATCH: u64 = 1_024;
const ROUNDS: u64 = 100;
const JOBS: u64 = BATCH * ROUNDS;

/// Jobs and segments like those of a replayed log: whole seconds, sizes that are mostly powers of two.
fn records(pieces: u32) -> Vec<Record> {
    let mut draw = 12_345_u64;
    let mut below = |limit: u64| {
        draw = draw.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (draw >> 33) % limit
    };
    let mut all = Vec::new();
    for id in 1..=BATCH {
        let (submit, wait, run) = (id * 300, below(100_000) * below(2), below(50_000));
        let (size, first) = (1_u32 << below(7), below(64) as u32);
        let procs: ProcSet = if pieces == 1 {
            ProcSet::range(first, first + size)
        } else {
            (0..pieces).map(|piece| first + piece * 5).collect()
        };
        let (start, end) = (Time::from_secs(submit + wait), Time::from_secs(submit + wait + run));
        let job = JobRecord {
            id: JobId(id),
            site: SiteId(0),
            partition: PartitionId(0),
            user: below(200) as i32,
            submit: Time::from_secs(submit),
            start: Some(start),
            end,
            requested: size,
            kind: JobKind::Rigid,
            procs: size,
            outcome: if id % 20 == 0 { Outcome::Killed } else { Outcome::Completed },
            run: Span::from_secs(run),
            estimate: Span::from_secs(run * 2),
            attempts: 1,
            energy: Energy::ZERO,
            dynamic: Energy::ZERO,
            cost: Money::ZERO,
            recorded_wait: Some(Span::from_secs(below(10_000))),
            requested_start: None,
            limits: None,
            origin: Origin::Local,
        };
        all.push(Record::Segment(SegmentRecord {
            job: job.id,
            origin: job.origin,
            attempt: 1,
            site: job.site,
            partition: job.partition,
            procs,
            from: start,
            to: end,
            rate: Rate::FULL,
            share: Rate::FULL,
            cause: Cause::Run,
            energy: Energy::ZERO,
            dynamic: Energy::ZERO,
            cost: Money::ZERO,
        }));
        all.push(Record::Job(job));
    }
    all
}

fn jobs_of(records: &[Record]) -> Vec<&JobRecord> {
    let jobs = records.iter().filter_map(|record| match record {
        Record::Job(job) => Some(job),
        _ => None,
    });
    jobs.collect()
}

fn measures(c: &mut Criterion) {
    let all = records(1);
    let jobs = jobs_of(&all);
    let mut group = c.benchmark_group("measure");
    group.throughput(Throughput::Elements(JOBS)).sample_size(20);
    for classes in ["none", "kettimuthu-16"] {
        let classes: JobClasses = classes.parse().expect("a preset");
        let definitions = Definitions::new(Definitions::TAU, classes, 128);
        let sum = |mut summary: Summary| {
            (0..ROUNDS).flat_map(|_| &jobs).for_each(|job| summary.add(job));
            summary
        };
        let name = definitions.classes.name().to_owned();
        group.bench_function(format!("summary, {name}"), |b| {
            b.iter(|| sum(Summary::new(definitions.clone())));
        });
        let mut long = Summary::new(definitions.clone());
        while long.quantiles() == Quantiles::Exact {
            long = sum(long);
        }
        group.bench_function(format!("summary beyond the exact, {name}"), |b| {
            b.iter_batched(|| long.clone(), sum, BatchSize::LargeInput);
        });
    }
    group.bench_function("recorded waits", |b| {
        b.iter(|| {
            let mut waits = WaitComparison::new(Definitions::default());
            (0..ROUNDS).flat_map(|_| &jobs).for_each(|job| waits.add(job));
            waits
        });
    });
    let sites = vec![SiteSpec::plain("kth", 128, "easy".parse().expect("a policy")); 20];
    group.bench_function("of a grid", |b| {
        b.iter(|| {
            let mut measures = GridMeasures::new(Definitions::default(), Window::ALL, &sites)
                .watching(RecoveryRule::default(), 20 * 128);
            (0..ROUNDS).flat_map(|_| &all).for_each(|record| measures.add(record));
            measures
        });
    });
    let full = {
        let mut summary = Summary::new(Definitions::default());
        (0..ROUNDS).flat_map(|_| &jobs).for_each(|job| summary.add(job));
        summary
    };
    group.bench_function("quantiles at the end", |b| b.iter(|| full.whole()));
    group.finish();
}

fn fingerprints(c: &mut Criterion) {
    let mut group = c.benchmark_group("fingerprint");
    group.throughput(Throughput::Elements(JOBS)).sample_size(20);
    let all = records(1);
    let jobs = jobs_of(&all);
    group.bench_function("jobs", |b| {
        b.iter(|| {
            let mut sum = Fingerprint::new();
            (0..ROUNDS).flat_map(|_| &jobs).for_each(|job| sum.add_job(job));
            black_box(sum)
        });
    });
    for pieces in [1, 16] {
        let all = records(pieces);
        group.bench_function(format!("jobs and segments of {pieces} pieces"), |b| {
            b.iter(|| {
                let mut sum = Fingerprint::new();
                (0..ROUNDS).flat_map(|_| &all).for_each(|record| sum.add(record));
                black_box(sum)
            });
        });
    }
    group.finish();
}

fn files(c: &mut Criterion) {
    let mut group = c.benchmark_group("write");
    group.throughput(Throughput::Elements(JOBS)).sample_size(20);
    let sites = [SiteSpec::plain("kth", 128, "easy".parse().expect("a policy"))];
    let folder = tempfile::tempdir().expect("a folder");
    for (name, pieces, batsim) in
        [("jobs and segments", 1, None), ("16 pieces", 16, None), ("with Batsim's", 1, Some("w0".to_owned()))]
    {
        let all = records(pieces);
        let options = OutputOptions { batsim, ..OutputOptions::default() };
        group.bench_function(name, |b| {
            b.iter(|| {
                let mut out = OutputDir::create(folder.path(), &sites, Definitions::default(), &options)
                    .expect("a folder that can be written");
                (0..ROUNDS).try_for_each(|_| out.write(&all)).expect("room on the disk");
                out.flush().expect("room on the disk");
            });
        });
    }
    group.finish();
}

criterion_group!(benches, measures, fingerprints, files);
criterion_main!(benches);
