//! Tests that records give the same result in batches, in one go and after interruptions.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::Write;
use std::path::Path;

use proptest::prelude::*;

use super::*;
use crate::metrics::tests::samples::{any_records, happened, job, machines};
use crate::metrics::{Definitions, Window};
use crate::model::{EventKind, JobRecord, SiteSpec};
use crate::output::OutputOptions;

#[test]
fn a_grid_is_recorded_batch_by_batch() {
    let sites = ["windsor", "delft"].map(|name| SiteSpec::plain(name, 8, "easy".parse().unwrap()));
    let unfinished = JobRecord { outcome: Outcome::Unfinished, ..job(1_000, 0, 5, 20, 4) };
    let records: Vec<_> = (0..1_000)
        .flat_map(|at| {
            let job = job(at, at * 10, 5, 20, 4);
            let event = match at % 2 {
                0 => machines(EventKind::Left, at * 10, 1),
                _ => happened(EventKind::Returned, &job),
            };
            [Record::Event(event), Record::Job(job)]
        })
        .chain([Record::Job(unfinished)])
        .collect();
    let measures = || GridMeasures::new(Definitions::default(), Window::ALL, &sites);
    let folder = tempfile::tempdir().unwrap();
    let options = OutputOptions { events: true, ..OutputOptions::default() };
    let output = OutputDir::create(folder.path(), &sites, Definitions::default(), &options).unwrap();
    let progress = Progress::default();
    let mut recorder = Recorder::new(measures(), Some(output), progress.clone());
    let (mut by_hand, mut fingerprint) = (measures(), Fingerprint::new());
    for record in &records {
        recorder.record(record.clone());
        by_hand.add(record);
        fingerprint.add(record);
    }
    assert!(!recorder.is_closed());
    assert!(recorder.finish().unwrap().is_some());
    assert_eq!((&recorder.measured, recorder.fingerprint), (&by_hand, fingerprint));
    assert_eq!((fingerprint.count(), progress.jobs()), (2_001, 1_000), "an unfinished job has not ended");
    for (file, rows) in [("jobs.csv", 1_001), ("events.csv", 1_000), ("segments.csv", 0)] {
        let text = fs::read_to_string(folder.path().join(file)).unwrap();
        assert_eq!(text.lines().count(), rows + 1, "{file}");
    }
}

const FILES: [&str; 4] = ["jobs.csv", "segments.csv", "events.csv", "batsim/out_jobs.csv"];

fn sites() -> [SiteSpec; 2] {
    ["windsor", "delft"].map(|name| SiteSpec::plain(name, 8, "easy".parse().unwrap()))
}

/// Measures of one site.
fn single() -> GridMeasures {
    GridMeasures::new(Definitions::default(), Window::ALL, &sites()[..1])
}

fn options() -> OutputOptions {
    OutputOptions { events: true, batsim: Some("w".to_owned()), ..OutputOptions::default() }
}

/// Records `records` with an interruption at each of `cuts`, after which the given number of records and some invalid bytes are
/// discarded.
fn interrupted(
    nothing: &GridMeasures,
    records: &[&Record],
    cuts: &[(usize, usize)],
    folder: &Path,
) -> (GridMeasures, Fingerprint, u64) {
    let output = OutputDir::create(folder, &sites(), Definitions::default(), &options()).unwrap();
    let mut recorder = Recorder::new(nothing.clone(), Some(output), Progress::default());
    let (mut kept, mut from) = (BTreeMap::new(), 0);
    let record = |recorder: &mut Recorder, of: &[&Record]| {
        of.iter().for_each(|record| recorder.record((*record).clone()));
    };
    for (cut, lost) in cuts {
        record(&mut recorder, &records[from..*cut]);
        from = *cut;
        let (save, new) = recorder.save().unwrap();
        kept.extend(new.into_iter().map(|block| (block.id, block.bytes)));
        let save = postcard::to_allocvec(&save).unwrap();
        record(&mut recorder, &records[from..records.len().min(from + lost)]);
        drop(recorder);
        for name in FILES {
            File::options().append(true).open(folder.join(name)).unwrap().write_all(b"1,2\n3").unwrap();
        }
        let save: RecorderSave = postcard::from_bytes(&save).unwrap();
        let mark = save.output.clone().unwrap();
        let output = OutputDir::resume(folder, &sites(), Definitions::default(), &options(), &mark).unwrap();
        let find = |id| kept.get(&id).cloned().ok_or("nowhere");
        recorder = Recorder::restore(save, find, Some(output), Progress::default()).unwrap();
    }
    record(&mut recorder, &records[from..]);
    recorder.finish().unwrap();
    (recorder.measured.clone(), recorder.fingerprint, recorder.progress.jobs())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]

    #[test]
    fn interrupted_anywhere_it_is_as_if_nothing_had_happened(
        records in any_records().prop_filter("something", |records| !records.is_empty()),
        cuts in prop::collection::vec((0_usize..5_000, 0_usize..1_000), 1..4),
    ) {
        // Few kinds of records, so many of each that blocks of measures fill.
        let records: Vec<_> = records.iter().cycle().take(5_000).collect();
        let mut cuts = cuts;
        cuts.sort_unstable();
        let folders = [(); 2].map(|()| tempfile::tempdir().unwrap());
        let [whole, parts] = [folders[0].path(), folders[1].path()];
        let grid = GridMeasures::new(Definitions::default(), Window::ALL, &sites());
        prop_assert_eq!(interrupted(&grid, &records, &cuts, parts), interrupted(&grid, &records, &[], whole));
        for name in FILES {
            prop_assert!(fs::read(parts.join(name)).unwrap() == fs::read(whole.join(name)).unwrap(), "{}", name);
        }
        let site = single();
        prop_assert_eq!(interrupted(&site, &records, &cuts, parts), interrupted(&site, &records, &[], whole));
        for name in FILES {
            prop_assert!(fs::read(parts.join(name)).unwrap() == fs::read(whole.join(name)).unwrap(), "{}", name);
        }
    }
}

/// If this fails because the form of the saved state was changed on purpose, raise its layout version.
#[test]
fn the_form_of_a_save_is_that_of_its_layout() {
    fn pinned(measured: GridMeasures) -> String {
        let mut recorder = Recorder::new(measured, None, Progress::default());
        for at in 0..2_000 {
            let job = job(at, at * 10, 5, 20, 4);
            recorder.record(Record::Event(happened(EventKind::Returned, &job)));
            recorder.record(Record::Event(machines(EventKind::Left, at * 10, 1)));
            recorder.record(Record::Job(job));
        }
        let (mut save, blocks) = recorder.save().unwrap();
        save.elapsed = Duration::ZERO;
        let bytes = postcard::to_allocvec(&save).unwrap();
        let hash = xxhash_rust::xxh3::xxh3_128(&bytes);
        format!("{} {} {hash:032x}", blocks.len(), bytes.len())
    }
    let grid = GridMeasures::new(Definitions::default(), Window::ALL, &sites());
    insta::assert_snapshot!(pinned(grid.watching(crate::metrics::RecoveryRule::default(), 16)), @"9 49617 46e4e0a7b75c957ec13bab9b701359d7");
    insta::assert_snapshot!(pinned(single()), @"6 29908 f78c2a3ad5f79576a8107f1d9d1c5cd0");
}

#[test]
#[cfg(unix)]
fn a_disk_that_is_full_is_told_when_it_is_saved_and_at_the_end() {
    if !Path::new("/dev/full").exists() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    std::os::unix::fs::symlink("/dev/full", folder.path().join("jobs.csv")).unwrap();
    let output = OutputDir::create(folder.path(), &sites(), Definitions::default(), &options()).unwrap();
    let mut recorder = Recorder::new(single(), Some(output), Progress::default());
    recorder.record(Record::Job(job(1, 0, 5, 20, 4)));
    assert!(recorder.save().unwrap_err().to_string().contains("jobs.csv"));
    assert!(recorder.finish().unwrap_err().to_string().contains("jobs.csv"));
}
