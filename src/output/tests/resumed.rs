//! Files that continue after an interruption, and files that cannot.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};

use proptest::prelude::*;

use super::files::{everything, sites};
use crate::metrics::Definitions;
use crate::metrics::tests::samples::{any_records, happened, job, machines, segment};
use crate::model::{EventKind, ProcSet, Record};
use crate::output::{OutputDir, OutputError, OutputMark, OutputOptions};

const FILES: [&str; 5] = ["jobs.csv", "segments.csv", "machines.csv", "events.csv", "batsim/out_jobs.csv"];

fn create(folder: &Path, options: &OutputOptions) -> OutputDir {
    OutputDir::create(folder, &sites(), Definitions::default(), options).unwrap()
}

fn resume(folder: &Path, options: &OutputOptions, mark: &OutputMark) -> Result<OutputDir, OutputError> {
    OutputDir::resume(folder, &sites(), Definitions::default(), options, mark)
}

/// The content of a folder, by name.
fn contents(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut all = BTreeMap::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(next) = folders.pop() {
        for entry in fs::read_dir(next).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else {
                all.insert(path.strip_prefix(folder).unwrap().to_owned(), fs::read(&path).unwrap());
            }
        }
    }
    all
}

fn append(path: PathBuf, bytes: &[u8]) {
    File::options().append(true).open(path).unwrap().write_all(bytes).unwrap();
}

/// A run that was marked after a job and continued, and its mark.
fn interrupted(options: &OutputOptions) -> (tempfile::TempDir, OutputMark) {
    let folder = tempfile::tempdir().unwrap();
    let mut out = create(folder.path(), options);
    let (first, second) = (job(1, 0, 5, 10, 4), job(2, 0, 15, 10, 4));
    out.write(&[Record::Segment(segment(&first, ProcSet::full(4))), Record::Job(first)]).unwrap();
    out.write(&[Record::Event(machines(EventKind::Left, 10, 2))]).unwrap();
    let mark = out.mark().unwrap();
    out.write(&[Record::Event(happened(EventKind::Stalled, &second)), Record::Job(second)]).unwrap();
    drop(out);
    (folder, mark)
}

fn error_of(folder: &Path, mark: &OutputMark) -> OutputError {
    let before = contents(folder);
    let error = resume(folder, &everything(), mark).unwrap_err();
    assert_eq!(contents(folder), before, "nothing is changed by what fails: {error}");
    let other = tempfile::tempdir().unwrap();
    if !matches!(error, OutputError::Columns { .. } | OutputError::Unmarked { .. }) {
        let copied = OutputDir::copy_past(folder, other.path(), mark);
        let is_scenario = matches!(error, OutputError::OtherScenario { .. });
        assert_eq!(
            copied.map_err(|error| error.to_string()).err(),
            (!is_scenario).then(|| error.to_string())
        );
        assert_eq!(contents(other.path()).is_empty(), !is_scenario, "nothing is left behind");
    }
    error
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// A run that is marked, interrupted and continued any number of times, with rows and garbage after the mark,
    /// here and in a copy, gives the same bytes.
    #[test]
    fn interrupted_files_are_the_files_of_one_run(
        legs in prop::collection::vec((any_records(), any_records(), any::<Option<[u8; 3]>>(), any::<bool>()), 1..5),
        last in any_records(),
    ) {
        let whole = tempfile::tempdir().unwrap();
        let mut out = create(whole.path(), &everything());
        for (kept, ..) in &legs {
            out.write(kept).unwrap();
        }
        out.write(&last).unwrap();
        out.finish(&7).unwrap();

        let folders: Vec<_> = (0..=legs.len()).map(|_| tempfile::tempdir().unwrap()).collect();
        let mut at = folders[0].path();
        let mut out = create(at, &everything());
        for ((kept, lost, rubbish, copied), next) in legs.iter().zip(&folders[1..]) {
            out.write(kept).unwrap();
            let mark = out.mark().unwrap();
            out.syncer().unwrap().sync().unwrap();
            let mark: OutputMark = postcard::from_bytes(&postcard::to_allocvec(&mark).unwrap()).unwrap();
            out.write(lost).unwrap();
            out.finish(&"a summary that will not do").unwrap();
            if let Some(rubbish) = rubbish {
                FILES.iter().for_each(|name| append(at.join(name), rubbish));
            }
            if *copied {
                OutputDir::copy_past(at, next.path(), &mark).unwrap();
                at = next.path();
            }
            out = resume(at, &everything(), &mark).unwrap();
            prop_assert!(!at.join("summary.json").exists());
            prop_assert_eq!(out.mark().unwrap(), mark);
        }
        out.write(&last).unwrap();
        out.finish(&7).unwrap();
        prop_assert_eq!(contents(at), contents(whole.path()));
    }

    /// A change of any byte is found and reported with its file.
    #[test]
    fn no_edit_goes_unnoticed(at in any::<prop::sample::Index>(), by in 1_u8.., name in 0..FILES.len()) {
        let (folder, mark) = interrupted(&everything());
        let path = folder.path().join(FILES[name]);
        let mut bytes = fs::read(&path).unwrap();
        let marked = mark.files.iter().find(|file| file.name == FILES[name]).unwrap();
        bytes[at.index(marked.bytes as usize)] ^= by;
        fs::write(&path, &bytes).unwrap();
        let error = error_of(folder.path(), &mark);
        prop_assert!(matches!(&error, OutputError::Edited { path: told, .. } if *told == path), "{}", error);
    }

    #[test]
    fn no_cut_goes_unnoticed(at in any::<prop::sample::Index>(), name in 0..FILES.len()) {
        let (folder, mark) = interrupted(&everything());
        let path = folder.path().join(FILES[name]);
        let marked = mark.files.iter().find(|file| file.name == FILES[name]).unwrap().bytes;
        let left = at.index(marked as usize) as u64;
        File::options().write(true).open(&path).unwrap().set_len(left).unwrap();
        let error = error_of(folder.path(), &mark);
        prop_assert!(
            matches!(&error, OutputError::Short { path: told, bytes, .. } if *told == path && *bytes == left),
            "{}", error
        );
    }
}

#[test]
fn what_a_file_cannot_be_gone_on_with_for() {
    let told = |error: OutputError, folder: &Path| {
        format!("{error}\n{}", error.hint()).replace(&folder.display().to_string(), "out")
    };
    let (folder, mark) = interrupted(&everything());
    let path = folder.path();
    fs::remove_file(path.join("batsim/out_jobs.csv")).unwrap();
    insta::assert_snapshot!(told(error_of(path, &mark), path), @"
    `out/batsim/out_jobs.csv` is missing: the interrupted run had written to it
    restore the file as the run left it, or run from the beginning into another folder
    ");

    let (folder, mark) = interrupted(&everything());
    let path = folder.path();
    File::options().write(true).open(path.join("jobs.csv")).unwrap().set_len(20).unwrap();
    insta::assert_snapshot!(told(error_of(path, &mark), path), @"
    `out/jobs.csv` has 20 bytes, but had 238 at the snapshot
    restore the file as the run left it, remove this snapshot (`gridemu snapshots STORE --remove N`) to continue from the previous one, or run from the beginning
    ");

    let (folder, mark) = interrupted(&everything());
    let path = folder.path();
    let text = fs::read_to_string(path.join("jobs.csv")).unwrap();
    fs::write(path.join("jobs.csv"), text.replace("kth", "KTH")).unwrap();
    insta::assert_snapshot!(told(error_of(path, &mark), path), @"
    `out/jobs.csv` was changed: its first 238 bytes are not those that the run had written by the snapshot
    restore the file as the run left it, or run from the beginning into another folder
    ");

    let (folder, mark) = interrupted(&everything());
    let path = folder.path();
    fs::write(path.join("scenario.toml"), "seed = 8\n").unwrap();
    insta::assert_snapshot!(told(error_of(path, &mark), path), @"
    `out/scenario.toml` is not the scenario of this run
    remove it, and it is written again; to continue with another scenario, fork the run
    ");

    let (folder, mark) = interrupted(&OutputOptions { scenario: None, events: false, ..everything() });
    let path = folder.path();
    insta::assert_snapshot!(told(error_of(path, &mark), path), @"
    `out/events.csv` cannot be continued: it was not among the files of the run at the snapshot
    omit this output, or run from the beginning with it
    ");

    let (folder, _) = interrupted(&everything());
    let path = folder.path();
    let mut other = crate::output::lines::Lines::create(path.join("events.csv"), "time,what").unwrap();
    let (_, mut mark) = interrupted(&everything());
    let at = mark.files.iter().position(|file| file.name == "events.csv").unwrap();
    mark.files[at] = other.mark("events.csv").unwrap();
    insta::assert_snapshot!(told(error_of(path, &mark), path), @"
    `out/events.csv` has other columns than this version of gridemu writes
    use the version of gridemu that began the run
    ");

    let same = OutputDir::copy_past(path, &path.join("batsim/.."), &mark).unwrap_err();
    assert!(matches!(same, OutputError::Same { .. }), "{same}");
}

#[test]
fn a_future_writes_the_files_it_is_asked_for() {
    let (folder, mark) = interrupted(&everything());
    let future = tempfile::tempdir().unwrap();
    fs::write(future.path().join("summary.json"), "of an earlier run").unwrap();
    fs::write(future.path().join("mine.txt"), "stays").unwrap();
    fs::hard_link(folder.path().join("jobs.csv"), future.path().join("jobs.csv")).unwrap();
    let past = contents(folder.path());
    OutputDir::copy_past(folder.path(), future.path(), &mark).unwrap();
    let scenario = Some("seed = 8\n".to_owned());
    let options = OutputOptions {
        segments: false,
        events: false,
        workflows: false,
        fronts: &[],
        coallocations: false,
        slices: false,
        groups: false,
        scenario,
        batsim: None,
        ..everything()
    };
    drop(resume(future.path(), &options, &mark).unwrap());
    let names: Vec<_> = contents(future.path()).into_keys().map(|name| name.display().to_string()).collect();
    assert_eq!(names, ["jobs.csv", "machines.csv", "mine.txt", "scenario.toml"]);
    assert_eq!(fs::read_to_string(future.path().join("scenario.toml")).unwrap(), "seed = 8\n");
    assert_eq!(contents(folder.path()), past, "the past stays as it was, however the copy was linked to it");
}

/// A fork may go on with a policy that keeps fronts where the one before kept none.
#[test]
fn a_future_may_begin_a_file_of_fronts() {
    let (folder, mark) = interrupted(&OutputOptions { fronts: &[], ..everything() });
    let future = tempfile::tempdir().unwrap();
    OutputDir::copy_past(folder.path(), future.path(), &mark).unwrap();
    drop(resume(future.path(), &everything(), &mark).unwrap());
    let fronts = fs::read_to_string(future.path().join("fronts.csv")).unwrap();
    assert_eq!(fronts, "planning,at,tasks,evaluations,point,chosen,value,makespan_s,lateness\n");
}

/// A fork may go on with a policy that has slices and forms groups where the one before did not, and the other way round.
#[test]
fn a_future_may_begin_or_end_the_files_of_slices_and_groups() {
    let without = OutputOptions { slices: false, groups: false, ..everything() };
    let (folder, mark) = interrupted(&without);
    let future = tempfile::tempdir().unwrap();
    OutputDir::copy_past(folder.path(), future.path(), &mark).unwrap();
    drop(resume(future.path(), &everything(), &mark).unwrap());
    let read = |name: &str| fs::read_to_string(future.path().join(name)).unwrap();
    assert_eq!(read("slices.csv"), "time,site,partition,class,runs_from,until\n");
    assert_eq!(read("groups.csv"), "time,site,partition,class,formed,ready,until,job,origin,start,end\n");
    let (folder, mark) = interrupted(&everything());
    OutputDir::copy_past(folder.path(), future.path(), &mark).unwrap();
    drop(resume(future.path(), &without, &mark).unwrap());
    assert!(!future.path().join("slices.csv").exists() && !future.path().join("groups.csv").exists());
}

/// If this fails because the form of a mark was changed on purpose, raise its layout version.
#[test]
fn the_form_of_a_mark_is_that_of_its_layout() {
    let (_folder, mark) = interrupted(&OutputOptions {
        workflows: false,
        fronts: &[],
        coallocations: false,
        slices: false,
        groups: false,
        ..everything()
    });
    let bytes = postcard::to_allocvec(&mark).unwrap();
    let pinned = format!("{} {:032x}", bytes.len(), xxhash_rust::xxh3::xxh3_128(&bytes));
    insta::assert_snapshot!(pinned, @"178 06388b5aa2bab1c4f2ed54a15219b3c5");
}

#[test]
fn a_mark_of_a_disk_that_is_full_fails() {
    let Ok(_) = File::options().write(true).open("/dev/full") else { return };
    let folder = tempfile::tempdir().unwrap();
    #[cfg(unix)]
    std::os::unix::fs::symlink("/dev/full", folder.path().join("jobs.csv")).unwrap();
    let mut out = create(folder.path(), &OutputOptions::default());
    out.write(&[Record::Job(job(1, 0, 5, 10, 4))]).unwrap();
    for _ in 0..2 {
        assert!(matches!(out.mark(), Err(OutputError::Write { rows: 0, .. })), "it stays failed");
    }
}
