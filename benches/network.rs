//! Cost of a transfer, with so many others under way at once between the portal and twenty sites: on shared links, and with uplinks, which
//! every beginning and every end shares anew. `cargo bench --bench network`.

use std::hint::black_box;

use criterion::{BatchSize, BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use gridemu::model::{Link, NetworkSpec};
use gridemu::platform::Links;
use gridemu::units::{Bandwidth, Bytes, Span, Time};

const SITES: u64 = 20;

/// Links of 1 Gbit/s and 10 ms; with uplinks, as much for all links of a place.
fn network(uplinks: bool) -> NetworkSpec {
    let bandwidth = Some(Bandwidth::from_bits(1_000_000_000));
    let spec = NetworkSpec::uniform(Link { latency: Span::from_micros(10_000), bandwidth });
    NetworkSpec { uplinks: if uplinks { vec![bandwidth; SITES as usize + 1] } else { Vec::new() }, ..spec }
}

/// Begins transfers, a millisecond apart, and takes out all arrivals.
fn run(mut links: Links, transfers: u64) {
    for id in 0..transfers {
        let now = Time::from_micros(id * 1_000);
        black_box(links.due(now));
        let from = id % (SITES + 1);
        // One site further in every round, so that every way is used.
        let to = (from + 1 + id / (SITES + 1) % SITES) % (SITES + 1);
        // Large enough that nearly all are under way at once.
        links.begin(id, from as u32, to as u32, Bytes::new((1 + id % 5) * 10_000_000_000), now);
    }
    while let Some(next) = links.next() {
        black_box(links.due(next));
    }
}

fn transfers(c: &mut Criterion) {
    let mut group = c.benchmark_group("transfers");
    for (name, uplinks) in [("links", false), ("uplinks", true)] {
        for count in [100, 1_000, 10_000] {
            group.throughput(Throughput::Elements(count)).sample_size(10);
            group.bench_with_input(BenchmarkId::new(name, count), &count, |b, count| {
                b.iter_batched(
                    || Links::new(&network(uplinks)),
                    |links| run(links, *count),
                    BatchSize::PerIteration,
                );
            });
        }
    }
    group.finish();
}

criterion_group!(benches, transfers);
criterion_main!(benches);
