//! Full disks and folders that cannot be created.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::Path;

use proptest::prelude::*;

use crate::metrics::Definitions;
use crate::metrics::tests::samples::job;
use crate::model::{Record, SiteSpec};
use crate::output::lines::{Lines, Sink};
use crate::output::{OutputDir, OutputError, OutputOptions};

/// A disk with space for some bytes, which accepts a few at a time and is interrupted now and then.
struct Disk {
    held: Vec<u8>,
    room: usize,
    bite: usize,
    calls: usize,
}

impl Disk {
    fn new(room: usize, bite: usize) -> Self {
        Self { held: Vec::new(), room, bite, calls: 0 }
    }
}

impl Write for Disk {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.calls += 1;
        if self.calls.is_multiple_of(3) {
            return Err(io::ErrorKind::Interrupted.into());
        }
        let taken = bytes.len().min(self.bite).min(self.room - self.held.len());
        if taken == 0 {
            return Err(io::ErrorKind::StorageFull.into());
        }
        self.held.extend_from_slice(&bytes[..taken]);
        Ok(taken)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Sink for Disk {
    fn cut(&mut self, bytes: u64) -> io::Result<()> {
        self.held.truncate(bytes as usize);
        Ok(())
    }
}

fn plain() -> Vec<SiteSpec> {
    vec![SiteSpec::plain("kth", 100, "easy".parse().unwrap())]
}

fn open(folder: &Path) -> Result<OutputDir, OutputError> {
    OutputDir::create(folder, &plain(), Definitions::default(), &OutputOptions::default())
}

proptest! {
    #[test]
    fn a_full_disk_keeps_whole_rows_and_their_count(
        rows in prop::collection::vec("[a-z]{0,20}", 0..40), room in 0_usize..500, bite in 1_usize..50,
        flush_each in 1_usize..10,
    ) {
        let mut lines = Lines::new(Disk::new(room, bite), "out.csv".into(), "header");
        let mut result = Ok(());
        for (at, row) in rows.iter().enumerate() {
            result = lines.row(|out| out.extend_from_slice(format!("{row},").as_bytes()));
            if result.is_ok() && at % flush_each == 0 {
                result = lines.flush();
            }
            if result.is_err() {
                break;
            }
        }
        let result = result.and_then(|()| lines.flush());
        let whole = format!("header\n{}", rows.iter().map(|row| format!("{row}\n")).collect::<String>());
        let held = String::from_utf8(lines.sink().held.clone()).unwrap();
        prop_assert!(whole.starts_with(&held));
        prop_assert!(held.is_empty() || held.ends_with('\n'));
        match result {
            Ok(()) => prop_assert_eq!(held, whole),
            Err(OutputError::Write { rows, .. }) => {
                prop_assert_eq!(rows as usize, held.lines().count().saturating_sub(1));
                prop_assert!(lines.flush().is_err(), "a failed file stays failed");
            }
            Err(other) => prop_assert!(false, "{other}"),
        }
    }
}

#[test]
fn the_device_that_is_always_full() {
    let Ok(full) = File::options().write(true).open("/dev/full") else {
        return;
    };
    let mut lines = Lines::new(full, "/dev/full".into(), "header");
    lines.row(|out| out.extend_from_slice(b"1,")).unwrap();
    let error = lines.flush().unwrap_err();
    let text = error.to_string();
    assert!(
        text.starts_with("cannot write `/dev/full`: ") && text.ends_with("; it holds 0 complete rows"),
        "{text}"
    );
    assert!(error.hint().contains("free some space"), "{}", error.hint());
}

#[test]
#[cfg(unix)]
fn a_run_on_a_full_disk_fails_and_leaves_no_summary() {
    if !Path::new("/dev/full").exists() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    std::os::unix::fs::symlink("/dev/full", folder.path().join("segments.csv")).unwrap();
    let mut out = open(folder.path()).unwrap();
    out.write(&[Record::Job(job(1, 0, 5, 10, 4))]).unwrap();
    let error = out.flush().unwrap_err();
    assert!(error.to_string().contains("segments.csv"), "{error}");
    drop(out);
    assert!(!folder.path().join("summary.json").exists());
    assert_eq!(fs::read_to_string(folder.path().join("jobs.csv")).unwrap().lines().count(), 2, "readable");
}

#[test]
fn a_file_where_the_folder_should_be() {
    let folder = tempfile::tempdir().unwrap();
    let taken = folder.path().join("taken");
    fs::write(&taken, "").unwrap();
    for path in [taken.clone(), taken.join("below")] {
        let error = open(&path).unwrap_err();
        assert!(error.to_string().starts_with("cannot create the folder `"), "{error}");
        assert!(error.hint().contains("a file is in the way"), "{error}: {}", error.hint());
    }
}

#[test]
fn a_folder_where_a_file_should_be() {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir(folder.path().join("jobs.csv")).unwrap();
    let error = open(folder.path()).unwrap_err();
    assert!(error.to_string().contains("cannot create the file `"), "{error}");
    assert!(error.hint().contains("a folder is in the way"), "{}", error.hint());
}

#[test]
fn a_folder_never_mixes_two_runs() {
    let folder = tempfile::tempdir().unwrap();
    for stale in ["summary.json", "machines.csv", "events.csv", "scenario.toml", "mine.txt"] {
        fs::write(folder.path().join(stale), "old").unwrap();
    }
    drop(open(folder.path()).unwrap());
    let exists = |name: &str| folder.path().join(name).exists();
    for gone in ["summary.json", "machines.csv", "events.csv", "scenario.toml"] {
        assert!(!exists(gone), "{gone}");
    }
    assert!(exists("mine.txt"), "what is not ours stays");
}

#[test]
fn rows_of_a_run_that_failed_elsewhere_are_kept() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("made/on/the/way");
    let mut out = open(&path).unwrap();
    out.write(&[Record::Job(job(1, 0, 5, 10, 4))]).unwrap();
    drop(out);
    assert_eq!(fs::read_to_string(path.join("jobs.csv")).unwrap().lines().count(), 2);
}
