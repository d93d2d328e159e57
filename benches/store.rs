//! Cost of a snapshot once its bytes exist: writing it durably, reading it and listing it; and its size on disk.
//!
//! Snapshots are in the system's folder for temporary files, so its disk is measured.

use std::hint::black_box;
use std::io::Write;
use std::path::Path;

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use gridemu::store::{About, Barrier, EngineKind, RunKind, Section, Store, StoreOptions};
use gridemu::units::Time;

const SIZES: [usize; 4] = [10_000, 100_000, 1_000_000, 20_000_000];

/// Incompressible bytes.
fn sections(len: usize) -> Vec<Section> {
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    let bytes = (0..len).map(|_| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 32) as u8
    });
    vec![Section { name: "grid".to_owned(), version: 1, bytes: bytes.collect() }]
}

fn barrier(n: u64) -> Barrier {
    Barrier { at: Time::from_secs(n), jobs: n, records: n, entries: 0, kept: false }
}

fn store(folder: &Path, engine: EngineKind) -> Store {
    let (title, program) = ("a bench".to_owned(), "0.1.0".to_owned());
    let about = About { kind: RunKind::Run, description: Vec::new(), title, hash: 1, program };
    let options = StoreOptions { engine, ..StoreOptions::default() };
    Store::create(folder, &about, &options).expect("a store")
}

fn snapshots(criterion: &mut Criterion) {
    let mut out = std::io::stderr().lock();
    for engine in EngineKind::all() {
        for size in SIZES {
            let place = tempfile::tempdir().expect("a folder");
            let mut store = store(&place.path().join("store"), engine);
            let sections = sections(size);
            let mut group = criterion.benchmark_group(format!("store/{engine}"));
            group.sample_size(20).throughput(Throughput::Bytes(size as u64));
            let mut n = 0;
            group.bench_function(BenchmarkId::new("write", size), |bench| {
                bench.iter(|| {
                    n += 1;
                    store.write(barrier(n), &sections).expect("written")
                });
            });
            group.bench_function(BenchmarkId::new("newest", size), |bench| {
                bench.iter(|| black_box(store.newest().expect("read")));
            });
            group.bench_function(BenchmarkId::new("list", size), |bench| {
                bench.iter(|| black_box(store.snapshots().expect("listed")));
            });
            group.finish();
            let each = store.snapshots().expect("listed")[0].on_disk;
            let all = store.size_on_disk().expect("a size");
            let _ = writeln!(
                out,
                "{engine}, {size} bytes: a snapshot takes {each} ({:.2} times), the store after {n} takes {all} ({:.2} times)",
                each as f64 / size as f64,
                all as f64 / size as f64
            );
        }
    }
}

fn journal(criterion: &mut Criterion) {
    let place = tempfile::tempdir().expect("a folder");
    let store = store(&place.path().join("store"), EngineKind::Sled);
    criterion.bench_function("store/append", |bench| {
        bench.iter(|| store.journal_handle().append(&[7; 100]).expect("appended"));
    });
}

criterion_group!(benches, snapshots, journal);
criterion_main!(benches);
