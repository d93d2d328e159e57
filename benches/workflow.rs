//! Cost of grouping a workflow's tasks, and of mapping tasks to fifty pools. `cargo bench --bench workflow`.

use criterion::{BatchSize, BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use gridemu::broker::mapping::{
    Claims, Dag, Etc, Links, Placement, Profiles, cpop, duplex, heft, max_min, mct, min_min, peft, sufferage,
};
use gridemu::units::{Bandwidth, Rate, Span, Time};
use gridemu::workflow::Workflow;
use gridemu::workflow::grouping::{Grouping, GroupingRegistry};
use gridemu::workflow::shapes::ShapeSpec;

const POOLS: usize = 50;

fn workflow(written: &str) -> Workflow {
    let shape: ShapeSpec = written.parse().expect("a generator");
    shape.workflow(1).expect("a workflow")
}

fn groupings(c: &mut Criterion) {
    let registry = GroupingRegistry::standard();
    let mut group = c.benchmark_group("grouping");
    group.sample_size(10);
    for shape in [
        "montage[tasks=N]",
        "layered[tasks=N,width=100,runtime=1 s..2 min]",
        "fork-join[tasks=N,width=1000,runtime=1 s..2 min]",
    ] {
        for tasks in [1_000_u64, 10_000, 100_000] {
            let workflow = workflow(&shape.replace('N', &tasks.to_string()));
            group.throughput(Throughput::Elements(tasks));
            for written in ["vertical", "paul[fine=30 s]", "paul[fine=10 min]"] {
                let by = registry.build(&written.parse().expect("a name")).expect("a grouping");
                let shape = shape.split('[').next().unwrap_or(shape);
                group.bench_function(BenchmarkId::new(format!("{shape}/{written}"), tasks), |b| {
                    b.iter(|| Grouping::of(&workflow, &*by).expect("no cycle").groups().len());
                });
            }
        }
    }
    group.finish();
}

/// A small random generator, so that the benchmarks measure the same thing in every version.
struct Draw(u64);

impl Draw {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % limit
    }
}

/// So many tasks of ten seconds to an hour. By row, pools are up to ten times as slow (`inconsistent`); or the same ones are slow for every
/// task (`consistent`); or tasks are also alike (`alike`).
fn table(tasks: usize, kind: &str) -> Etc {
    let mut draw = Draw(1);
    let factors: Vec<u64> = (0..POOLS).map(|_| 100 + draw.below(900)).collect();
    let rows = (0..tasks).map(|_| {
        let secs = if kind == "alike" { 600 } else { 10 + draw.below(3_590) };
        let mut factor =
            |pool: usize| if kind == "inconsistent" { 100 + draw.below(900) } else { factors[pool] };
        (0..POOLS).map(|pool| Span::from_micros(secs * 10_000 * factor(pool))).collect::<Vec<_>>()
    });
    Etc::of_rows(&rows.collect::<Vec<_>>())
}

fn ready_tasks(c: &mut Criterion) {
    type Heuristic = fn(&Etc, &mut Profiles) -> Vec<Placement>;
    let heuristics: [(&str, Heuristic); 6] = [
        ("mct", mct),
        ("min-min", min_min),
        ("max-min", max_min),
        ("duplex", duplex),
        ("sufferage-pass", |etc, holes| sufferage(etc, holes, Claims::Pass)),
        ("sufferage-one", |etc, holes| sufferage(etc, holes, Claims::One)),
    ];
    let mut group = c.benchmark_group("ready_tasks_on_50_pools");
    group.sample_size(10);
    for (tasks, kind) in
        [(1_000, "inconsistent"), (10_000, "inconsistent"), (10_000, "consistent"), (10_000, "alike")]
    {
        let etc = table(tasks, kind);
        for processors in [1, 64] {
            let idle = Profiles::idle(Time::ZERO, &[processors; POOLS]);
            for (name, map) in heuristics {
                let id = BenchmarkId::new(format!("{name}/{kind}/{processors} processors"), tasks);
                group.bench_function(id, |b| {
                    b.iter_batched(|| idle.clone(), |mut holes| map(&etc, &mut holes), BatchSize::LargeInput);
                });
            }
        }
    }
    group.finish();
}

fn whole_workflows(c: &mut Criterion) {
    let speeds: Vec<(&str, Rate)> = (0..POOLS).map(|pool| ("", Rate::ratio(50 + pool as u64, 60))).collect();
    let links = Links::uniform(POOLS, Span::from_micros(50_000), Some(Bandwidth::from_bits(1_000_000_000)));
    let mut group = c.benchmark_group("workflow_on_50_pools");
    group.sample_size(10);
    for tasks in [1_000_u64, 10_000] {
        let workflow = workflow(&format!("montage[tasks={tasks}]"));
        let (dag, etc) = (Dag::of(&workflow), Etc::of_workflow(&workflow, &speeds));
        group.throughput(Throughput::Elements(tasks));
        for processors in [1, 64] {
            let idle = Profiles::idle(Time::ZERO, &[processors; POOLS]);
            type Mapper = fn(&Dag, &Etc, &Links, &mut Profiles) -> Vec<Placement>;
            for (name, map) in [("heft", heft as Mapper), ("peft", peft), ("cpop", cpop)] {
                group.bench_function(
                    BenchmarkId::new(format!("{name}/{processors} processors"), tasks),
                    |b| {
                        b.iter_batched(
                            || idle.clone(),
                            |mut holes| map(&dag, &etc, &links, &mut holes),
                            BatchSize::LargeInput,
                        );
                    },
                );
            }
        }
    }
    group.finish();
}

criterion_group!(benches, groupings, ready_tasks, whole_workflows);
criterion_main!(benches);
