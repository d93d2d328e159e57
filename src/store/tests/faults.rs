//! A disk that fails at any operation: what was acknowledged stays.

use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use super::faulty::{Duty, Faulty, How, Plain};
use super::{about, barrier, sections};
use crate::store::disk::Disk;
use crate::store::folder::Backend;
use crate::store::{Engine, EngineError, Section, Store, StoreError, StoreOptions};

type OpenOn = fn(&Arc<Faulty>, &Path) -> Result<Box<dyn Engine>, EngineError>;

fn backend(disk: &Arc<Faulty>, open: OpenOn) -> Backend {
    let on = Arc::clone(disk);
    Backend {
        disk: Arc::clone(disk) as Arc<dyn Disk>,
        open: Some(Arc::new(move |folder: &Path| open(&on, folder))),
    }
}

fn options() -> StoreOptions {
    StoreOptions { patience: Duration::ZERO, ..StoreOptions::default() }
}

fn contents(at: u64) -> Vec<Section> {
    sections(at, 1000 * at as usize)
}

/// What a store has acknowledged.
#[derive(Debug, Default)]
struct Acknowledged {
    made: bool,
    snapshots: Vec<u64>,
    entries: Vec<u64>,
    blocks: Vec<u64>,
    finished: bool,
    refused: Vec<StoreError>,
}

/// Uses a store for a while; goes on after errors, except that a refused entry ends the journal, as it
/// ends a run.
fn use_store(folder: &Path, backend: Backend) -> Acknowledged {
    let mut acknowledged = Acknowledged::default();
    let mut store = match Store::create_with(folder, &about(), &options(), backend) {
        Ok(store) => store,
        Err(error) => {
            acknowledged.refused.push(error);
            return acknowledged;
        }
    };
    acknowledged.made = true;
    let mut stopped = false;
    for at in 1..=4 {
        for _ in 0..2 {
            let next = acknowledged.entries.len() as u64;
            if stopped {
                continue;
            }
            match store.journal_handle().append(format!("entry {next}").as_bytes()) {
                Ok(number) => acknowledged.entries.push(number),
                Err(error) => {
                    acknowledged.refused.push(error);
                    stopped = true;
                }
            }
        }
        let put = store.put_block(&[at as u8], &[at as u8; 200]);
        let barrier = barrier(at, acknowledged.entries.len() as u64);
        match put.and_then(|()| store.write(barrier, &contents(at))) {
            Ok(_) => {
                acknowledged.snapshots.push(at);
                acknowledged.blocks.push(at);
            }
            Err(error) => acknowledged.refused.push(error),
        }
    }
    match store.finish(b"done") {
        Ok(()) => acknowledged.finished = true,
        Err(error) => acknowledged.refused.push(error),
    }
    acknowledged
}

/// Opens a store on a disk that works again, and compares.
fn check(folder: &Path, open: OpenOn, acknowledged: &Acknowledged, what: &str) {
    for error in &acknowledged.refused {
        let told =
            matches!(error, StoreError::Io { .. } | StoreError::Broken { .. } | StoreError::Engine { .. });
        assert!(told, "{what}: {error:?}");
        assert!(!error.hint().is_empty());
    }
    let sound = Faulty::new(u64::MAX, How::Io, Duty::Once);
    let store = match Store::open_with(folder, &options(), backend(&sound, open)) {
        Ok(store) => store,
        Err(error) => {
            assert!(!acknowledged.made, "{what}: {error}");
            // The store was not made; it can be made now.
            Store::create_with(folder, &about(), &options(), backend(&sound, open)).expect(what);
            return;
        }
    };
    assert_eq!(store.about(), &about(), "{what}");
    let newest = match store.newest() {
        Ok(newest) => newest,
        Err(StoreError::Unsaved(_)) => {
            assert!(acknowledged.snapshots.is_empty(), "{what}");
            return;
        }
        Err(error) => panic!("{what}: {error}"),
    };
    let last = acknowledged.snapshots.last().copied().unwrap_or(0);
    assert!(newest.barrier.records >= last, "{what}: {last} is lost, there is {}", newest.barrier.records);
    assert_eq!(newest.skipped, [], "{what}");
    assert_eq!(newest.sections, contents(newest.barrier.records), "{what}");
    let found = store.journal(newest.number).expect(what).entries;
    let all = newest.barrier.entries + found.len() as u64;
    assert!(all >= acknowledged.entries.len() as u64, "{what}: entries are lost");
    for (number, entry) in (newest.barrier.entries..).zip(found) {
        assert_eq!(entry, format!("entry {number}").into_bytes(), "{what}");
    }
    for at in &acknowledged.blocks {
        assert_eq!(store.block(&[*at as u8]).expect(what), [*at as u8; 200], "{what}");
    }
    if acknowledged.finished {
        assert_eq!(store.finished().expect(what).as_deref(), Some(&b"done"[..]), "{what}");
    }
}

/// Lets each single operation of a disk fail.
pub(super) fn fail_each(open: OpenOn, hows: &[How], stride: usize) {
    let place = tempfile::tempdir().unwrap();
    let sound = Faulty::new(u64::MAX, How::Io, Duty::Once);
    let acknowledged = use_store(&place.path().join("sound"), backend(&sound, open));
    assert_eq!((acknowledged.snapshots.len(), acknowledged.refused.len()), (4, 0));
    check(&place.path().join("sound"), open, &acknowledged, "sound");
    let all = sound.asked();
    assert!(all > 100, "{all}");
    for how in hows {
        for duty in [Duty::Once, Duty::FromThenOn] {
            if *how == How::PowerLoss && duty == Duty::Once {
                continue;
            }
            for at in (1..=all).step_by(stride) {
                let folder = place.path().join(format!("{how:?}-{duty:?}-{at}"));
                let disk = Faulty::new(at, *how, duty);
                let acknowledged = use_store(&folder, backend(&disk, open));
                if *how == How::PowerLoss {
                    disk.lose_power();
                }
                check(&folder, open, &acknowledged, &format!("{how:?} {duty:?} at {at} of {all}"));
                fs::remove_dir_all(&folder).unwrap();
            }
        }
    }
}

#[test]
fn every_write_of_the_store_can_fail() {
    fail_each(Plain::open, &[How::Short], 1);
    fail_each(Plain::open, &[How::Io], 3);
}

#[test]
fn power_can_be_lost_at_every_write() {
    fail_each(Plain::open, &[How::PowerLoss], 1);
}
