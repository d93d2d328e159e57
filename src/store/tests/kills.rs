//! A process that is killed at any moment leaves a store with everything that had been acknowledged to it.
//!
//! The process is this test program itself: an environment variable makes it run [`child`]. It prints
//! what the store has acknowledged; the test kills it after a while and compares. `GRIDEMU_KILLS` is the number of
//! kills for each engine.

use std::fmt::Write as _;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread;
use std::time::Duration;

use super::{about, barrier, sections};
use crate::store::{EngineKind, Store, StoreError, StoreOptions};

pub(super) const FOLDER: &str = "GRIDEMU_STORE_CHILD";
pub(super) const ENGINE: &str = "GRIDEMU_STORE_ENGINE";

#[expect(clippy::disallowed_methods, reason = "a test that is told by its environment what to be")]
pub(super) fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok()
}

/// The sections of the snapshot at `at`: sometimes large, mostly small.
fn contents(at: u64) -> Vec<crate::store::Section> {
    sections(at, if at.is_multiple_of(5) { 900_000 } else { (at as usize * 977) % 40_000 })
}

fn entry(number: u64) -> Vec<u8> {
    let mut text = String::new();
    for _ in 0..=number % 50 {
        let _ = write!(text, "entry {number};");
    }
    text.into_bytes()
}

fn block(number: u64) -> Vec<u8> {
    vec![number as u8; 1000 + number as usize % 3000]
}

/// The process that is killed; does nothing when it runs as a test.
#[test]
fn child() {
    let Some(folder) = variable(FOLDER) else { return };
    let engine = variable(ENGINE).and_then(|name| name.parse().ok()).expect("an engine");
    let options = StoreOptions { engine, last: 2, patience: Duration::from_secs(5) };
    let folder = Path::new(&folder);
    let mut store = match Store::open(folder, &options) {
        Ok(store) => store,
        Err(StoreError::Absent { .. } | StoreError::Foreign { .. }) => {
            Store::create(folder, &about(), &options).expect("a store can be made")
        }
        Err(error) => panic!("{error}"),
    };
    let mut out = std::io::stdout().lock();
    let mut say = |text: String| {
        writeln!(out, "{text}").expect("the parent listens");
        out.flush().expect("the parent listens");
    };
    let mut at = match store.newest() {
        Ok(newest) => {
            assert_eq!(newest.skipped, [], "nothing is damaged by a kill");
            assert_eq!(newest.sections, contents(newest.barrier.records));
            store.continue_from(newest.number).expect("it can go on");
            newest.barrier.records
        }
        Err(StoreError::Unsaved(_)) => 0,
        Err(error) => panic!("{error}"),
    };
    let journal = store.journal_handle();
    say("made".to_owned());
    loop {
        at += 1;
        let mut entries = journal.entries().expect("the journal can be read");
        for _ in 0..at % 3 {
            let number = journal.append(&entry(entries)).expect("an entry can be appended");
            assert_eq!(number, entries);
            entries += 1;
            say(format!("entry {number}"));
        }
        store.put_block(&at.to_le_bytes(), &block(at)).expect("a block can be put");
        store.write(barrier(at, entries), &contents(at)).expect("a snapshot can be written");
        say(format!("snapshot {at}"));
    }
}

/// Starts the child, kills it after `millis`, and returns its output.
fn run_and_kill(folder: &Path, engine: EngineKind, millis: u64) -> Vec<String> {
    let program = std::env::current_exe().expect("this program");
    let mut child = Command::new(program)
        .args(["--exact", "store::tests::kills::child", "--nocapture"])
        .env(FOLDER, folder)
        .env(ENGINE, engine.to_string())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the child starts");
    let out = child.stdout.take().expect("its output");
    let reader = thread::spawn(move || {
        let lines = BufReader::new(out).lines().map_while(Result::ok);
        lines.filter(|line| ["made", "entry", "snap"].iter().any(|word| line.starts_with(word))).collect()
    });
    thread::sleep(Duration::from_millis(millis));
    child.kill().expect("it can be killed");
    let ended = child.wait_with_output().expect("it ends");
    let message = String::from_utf8_lossy(&ended.stderr).into_owned();
    assert!(!message.contains("panicked"), "{message}");
    reader.join().expect("what it message")
}

/// Checks the contents of a store and returns the barrier of its newest snapshot, 0 if there is none.
pub(super) fn check_snapshots(store: &Store) -> u64 {
    let at = match store.newest() {
        Ok(newest) => {
            assert_eq!(newest.skipped, [], "nothing is damaged");
            assert_eq!(newest.sections, contents(newest.barrier.records));
            newest.barrier.records
        }
        Err(StoreError::Unsaved(_)) => 0,
        Err(error) => panic!("{error}"),
    };
    for number in 1..=at {
        assert_eq!(store.block(&number.to_le_bytes()).expect("a block"), block(number));
    }
    at
}

/// Checks the entries after the newest snapshot and returns their number.
fn entries_since(store: &Store, at: u64) -> u64 {
    if at == 0 {
        return store.journal_handle().entries().expect("the journal");
    }
    let newest = store.newest().expect("a snapshot");
    let found = store.journal(newest.number).expect("the journal").entries;
    for (number, bytes) in (newest.barrier.entries..).zip(&found) {
        assert_eq!(*bytes, entry(number));
    }
    found.len() as u64
}

#[test]
fn a_killed_process_leaves_everything_that_was_acknowledged() {
    let kills: u64 = variable("GRIDEMU_KILLS").and_then(|text| text.parse().ok()).unwrap_or(20);
    let mut random = 0x5dee_ce66_d123_u64;
    for engine in EngineKind::all() {
        let folder = tempfile::tempdir().expect("a folder");
        let folder = folder.path().join("store");
        let options = StoreOptions { engine, last: 2, patience: Duration::from_secs(1) };
        let (mut made, mut last, mut entries, mut snapshots, mut kept) = (false, 0, 0, 0, 0);
        // On a busy machine more kills are needed until something has been written between them, and later ones.
        let mut latest = 150;
        for kill in 0..10 * kills {
            if kill >= kills && snapshots >= kills / 4 {
                break;
            }
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let message = run_and_kill(&folder, engine, 2 + (random >> 40) % latest);
            let is_fruitful = message.iter().any(|line| line.starts_with("snap"));
            latest = if is_fruitful { 150 } else { (latest + latest / 4).min(5_000) };
            for line in &message {
                match line.split_once(' ') {
                    None => made = true,
                    Some(("entry", number)) => entries = number.parse::<u64>().expect("a number") + 1,
                    Some((_, at)) => (last, snapshots) = (at.parse().expect("a number"), snapshots + 1),
                }
            }
            if !made {
                continue;
            }
            let store = Store::open(&folder, &options).expect("the store opens");
            let at = check_snapshots(&store);
            // A kill between writing a snapshot and removing the oldest leaves one too many, each time.
            let found = store.snapshots().expect("a list").len();
            assert!(
                found <= 3.max(kept + 1),
                "kill {kill}: {found} snapshots, and {kept} before: what is old goes"
            );
            kept = found;
            assert!(at >= last, "kill {kill}: snapshot {last} is lost, the newest is {at}");
            let from = if at == 0 { 0 } else { store.newest().expect("a snapshot").barrier.entries };
            assert!(from + entries_since(&store, at) >= entries, "kill {kill}: entries are lost");
        }
        // If nothing has been written, nothing has been tested.
        assert!(snapshots >= kills / 4, "{engine}: {snapshots} snapshots in {kills} kills");
    }
}
