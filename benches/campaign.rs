//! Campaigns: the overhead of a run: resolving its scenario, storing its result, and its row in the table.

use std::path::Path;

use criterion::{BatchSize, Criterion, criterion_group, criterion_main};
use gridemu::experiment::Progress;
use gridemu::grid::Policies;
use gridemu::scenario::Override;
use gridemu::study::campaign::{Campaign, CampaignOptions};

/// The campaign of the repository, with `jobs` jobs in each run.
fn campaign(jobs: u32) -> Campaign {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("configs/campaigns/backfilling.toml");
    let sets = [Override::set(&format!("site.cluster.workload.lublin.jobs={jobs}"))];
    Campaign::load(&file, &sets, &Policies::standard()).expect("a campaign")
}

fn options(folder: &tempfile::TempDir) -> CampaignOptions {
    CampaignOptions { threads: Some(1), ..CampaignOptions::new(folder.path().join("store")) }
}

fn around_a_run(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("campaign");
    group.sample_size(10);
    group.bench_function("resolve 450 runs, all cores", |bencher| bencher.iter(|| campaign(10)));
    let tiny = campaign(10);
    group.bench_function("450 runs of 10 jobs, one thread, kept", |bencher| {
        bencher.iter_batched(
            || tempfile::tempdir().expect("a folder"),
            |folder| {
                let ran = tiny.run(&options(&folder), &Progress::default()).expect("it runs");
                (ran.table.rows.len(), folder)
            },
            BatchSize::PerIteration,
        );
    });
    let done = tempfile::tempdir().expect("a folder");
    tiny.run(&options(&done), &Progress::default()).expect("it runs");
    group.bench_function("450 results read back, and their table", |bencher| {
        bencher.iter(|| tiny.run(&options(&done), &Progress::default()).expect("it runs").table.rows.len());
    });
    group.finish();
}

criterion_group!(benches, around_a_run);
criterion_main!(benches);
