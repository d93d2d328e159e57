//! The behaviour of a store without failures, and what it refuses.

use std::fs;
use std::time::Duration;

use super::{about, barrier, other_engine, sections};
use crate::store::{EngineKind, Store, StoreError, StoreOptions};

fn options(engine: EngineKind) -> StoreOptions {
    StoreOptions { engine, last: 2, patience: Duration::ZERO }
}

#[test]
fn what_is_written_is_read_after_the_store_is_opened_again() {
    for engine in EngineKind::all() {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path().join("a/store");
        let mut store = Store::create(&folder, &about(), &options(engine)).unwrap();
        for len in [0, 1, 70_000, 1_000_000] {
            let info = store.write(barrier(len as u64, 0), &sections(len as u64, len)).unwrap();
            assert_eq!((info.bytes, info.damage), (len as u64 + 8, None));
        }
        drop(store);
        // A store keeps its own engine, whatever the options say.
        let store = Store::open(&folder, &options(other_engine())).unwrap();
        assert_eq!((store.engine(), store.about()), (engine, &about()));
        let newest = store.newest().unwrap();
        assert_eq!((newest.number, newest.barrier, newest.skipped.len()), (4, barrier(1_000_000, 0), 0));
        assert_eq!(newest.sections, sections(1_000_000, 1_000_000));
        let (info, read) = store.read(3).unwrap();
        assert_eq!((info.barrier, read), (Some(barrier(70_000, 0)), sections(70_000, 70_000)));
        assert!(matches!(store.read(2), Err(StoreError::Unknown { number: 2, .. })));
    }
}

#[test]
fn the_latest_stay_and_those_to_be_kept() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path().join("store");
    let mut store = Store::create(&folder, &about(), &options(EngineKind::Sled)).unwrap();
    let numbers =
        |store: &Store| -> Vec<u64> { store.snapshots().unwrap().iter().map(|info| info.number).collect() };
    for n in 1..=7_u64 {
        let barrier = crate::store::Barrier { kept: n == 3, ..barrier(n, 0) };
        store.write(barrier, &sections(n, 10)).unwrap();
    }
    assert_eq!(numbers(&store), [3, 6, 7]);
    assert_eq!(store.prune(1).unwrap(), [6]);
    store.remove(3).unwrap();
    assert_eq!(numbers(&store), [7]);
    assert!(matches!(store.remove(7), Err(StoreError::Last { number: 7, .. })));
    // An unusable snapshot can be removed, and is removed by itself once there is a newer usable one.
    let seals = |number: u64| folder.join(format!("snapshot-{number:08}/seal"));
    let write = |store: &mut Store, n: u64| store.write(barrier(n, 0), &sections(n, 10)).unwrap().number;
    let [spoilt, good] = [write(&mut store, 70), write(&mut store, 71)];
    fs::write(seals(spoilt), "").unwrap();
    drop(store);
    let mut store = Store::open(&folder, &options(EngineKind::Sled)).unwrap();
    assert_eq!(numbers(&store), [spoilt, good]);
    store.remove(spoilt).unwrap();
    let spoilt = write(&mut store, 72);
    fs::write(seals(spoilt), "").unwrap();
    drop(store);
    let mut store = Store::open(&folder, &options(EngineKind::Sled)).unwrap();
    let newest = store.newest().unwrap();
    assert_eq!((newest.number, newest.skipped.len(), newest.skipped[0].0), (good, 1, spoilt));
    let next = write(&mut store, 73);
    assert_eq!(numbers(&store), [good, next]);
    store.remove(good).unwrap();
    store.write(barrier(8, 0), &sections(8, 10)).unwrap();
    store.continue_from(next).unwrap();
    assert_eq!(numbers(&store), [next]);
    assert_eq!(store.newest().unwrap().sections, sections(73, 10));
}

#[test]
fn the_journal_is_told_from_the_cut_on() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path().join("store");
    let mut store = Store::create(&folder, &about(), &options(other_engine())).unwrap();
    store.write(barrier(1, 0), &sections(1, 10)).unwrap();
    assert_eq!(store.journal(1).unwrap().entries, Vec::<Vec<u8>>::new());
    let journal = store.journal_handle();
    assert_eq!((store.journal_handle().append(b"a").unwrap(), journal.append(b"").unwrap()), (0, 1));
    // An entry that arrives while the snapshot is written belongs after it: the barrier records how many it has used.
    store.write(barrier(2, 1), &sections(2, 10)).unwrap();
    assert_eq!(store.journal_handle().append(&[7; 3000]).unwrap(), 2);
    drop(store);
    let store = Store::open(&folder, &options(other_engine())).unwrap();
    assert_eq!(store.journal_handle().append(b"d").unwrap(), 3);
    assert_eq!(store.journal(1).unwrap().entries, [&b"a"[..], b"", &[7; 3000], b"d"]);
    assert_eq!(store.journal(2).unwrap().entries, [&b""[..], &[7; 3000], b"d"]);
    assert!(!store.journal(2).unwrap().torn);
}

#[test]
fn the_journal_forgets_what_no_snapshot_needs() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path().join("store");
    let mut store = Store::create(&folder, &about(), &options(other_engine())).unwrap();
    let entry = vec![1; 400_000];
    let files = || {
        let names = fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().file_name());
        names.filter(|name| name.to_string_lossy().starts_with("journal")).count()
    };
    for n in 0..12 {
        assert_eq!(store.journal_handle().append(&entry).unwrap(), n);
    }
    assert_eq!(files(), 4);
    for n in 1..=3 {
        store.write(barrier(n, 3 * n + 1), &sections(n, 10)).unwrap();
    }
    // The older of the two remaining snapshots has used seven entries: two files of three entries are not needed any more.
    assert_eq!(files(), 2);
    assert_eq!(store.journal(2).unwrap().entries.len(), 5);
    assert_eq!(store.journal(3).unwrap().entries.len(), 2);
}

#[test]
fn blocks_are_shared_by_snapshots() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path().join("store");
    let mut store = Store::create(&folder, &about(), &options(EngineKind::Sled)).unwrap();
    store.put_block(b"waits/0", &[1; 100]).unwrap();
    store.write(barrier(1, 0), &sections(1, 10)).unwrap();
    store.put_block(b"waits/1", &[2; 100]).unwrap();
    store.put_block(b"waits/0", &[1; 100]).unwrap();
    assert!(matches!(store.put_block(b"waits/0", &[3; 100]), Err(StoreError::OtherBlock { .. })));
    store.write(barrier(2, 0), &sections(2, 10)).unwrap();
    drop(store);
    let mut store = Store::open(&folder, &options(EngineKind::Sled)).unwrap();
    assert_eq!(store.block(b"waits/0").unwrap(), [1; 100]);
    assert_eq!(store.block(b"waits/1").unwrap(), [2; 100]);
    store.continue_from(1).unwrap();
    assert!(matches!(store.block(b"waits/1"), Err(StoreError::NoBlock { .. })));
    store.put_block(b"waits/1", &[4; 50]).unwrap();
    store.write(barrier(2, 0), &sections(2, 10)).unwrap();
    assert_eq!(store.block(b"waits/1").unwrap(), [4; 50]);
    assert!(store.snapshots().unwrap().iter().all(|info| info.damage.is_none()));
    drop(store);
    fs::remove_file(folder.join("blocks")).unwrap();
    let store = Store::open(&folder, &options(EngineKind::Sled)).unwrap();
    assert!(matches!(store.newest(), Err(StoreError::NoSnapshot { skipped, .. }) if skipped.len() == 2));
}

/// Blocks are removed with the last snapshot that needs them, and those of kept snapshots stay.
#[test]
fn blocks_that_nobody_needs_go() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path().join("store");
    let mut store = Store::create(&folder, &about(), &StoreOptions::default()).unwrap();
    let write = |store: &mut Store, at: u64, kept: bool| {
        let barrier = crate::store::Barrier { kept, ..barrier(at, 0) };
        store.write(barrier, &sections(at, 10)).unwrap().number
    };
    let file = folder.join("blocks");
    store.put_block(b"a", &[1; 1000]).unwrap();
    let kept = write(&mut store, 1, true);
    write(&mut store, 2, false);
    for at in 3..6 {
        store.release_blocks();
        write(&mut store, at, false);
    }
    assert!(file.exists(), "one is kept that needs them");
    assert!(store.read(kept).is_ok());
    drop(store);
    let mut store = Store::open(&folder, &StoreOptions::default()).unwrap();
    store.continue_from(store.newest().unwrap().number).unwrap();
    assert!(store.read(kept).is_ok(), "going on from one that needs none takes none away");
    store.remove(kept).unwrap();
    store.release_blocks();
    write(&mut store, 6, false);
    assert!(!file.exists());
    store.put_block(b"b", &[2; 1000]).unwrap();
    let last = write(&mut store, 7, false);
    assert!(file.exists() && store.read(last).is_ok());
}

#[test]
fn a_folder_that_is_something_else_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    let options = options(EngineKind::Sled);
    let place = |name: &str| dir.path().join(name);
    assert!(matches!(Store::open(&place("none"), &options), Err(StoreError::Absent { .. })));
    fs::write(place("file"), "x").unwrap();
    assert!(matches!(Store::open(&place("file"), &options), Err(StoreError::Foreign { .. })));
    fs::create_dir(place("other")).unwrap();
    fs::write(place("other/thesis.tex"), "x").unwrap();
    assert!(matches!(Store::open(&place("other"), &options), Err(StoreError::Foreign { .. })));
    let refused = Store::create(&place("other"), &about(), &options).unwrap_err();
    assert!(refused.to_string().contains("thesis.tex"), "{refused}");
    assert_eq!(fs::read_dir(place("other")).unwrap().count(), 1, "nothing was put there");

    let mut store = Store::create(&place("store"), &about(), &options).unwrap();
    assert!(matches!(Store::open(&place("store"), &options), Err(StoreError::InUse { by: Some(_), .. })));
    assert!(matches!(
        Store::create(&place("store"), &about(), &options),
        Err(StoreError::Occupied { finished: false, .. })
    ));
    assert!(matches!(store.newest(), Err(StoreError::Unsaved(_))));
    assert_eq!(store.finished().unwrap(), None);
    store.finish(&[0, 255, 7]).unwrap();
    drop(store);
    assert!(matches!(
        Store::create(&place("store"), &about(), &options),
        Err(StoreError::Occupied { finished: true, .. })
    ));
    let store = Store::open(&place("store"), &options).unwrap();
    assert_eq!(store.finished().unwrap(), Some(vec![0, 255, 7]));
}

#[test]
fn a_store_in_use_is_waited_for() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path().join("store");
    let store = Store::create(&folder, &about(), &options(other_engine())).unwrap();
    let holder = std::thread::spawn(move || {
        std::thread::sleep(Duration::from_millis(150));
        drop(store);
    });
    let patient = StoreOptions { patience: Duration::from_secs(30), ..options(other_engine()) };
    Store::open(&folder, &patient).unwrap();
    holder.join().unwrap();
    Store::open(&folder, &options(other_engine())).unwrap();
}
