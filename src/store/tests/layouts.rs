//! Stores of earlier versions can be read: `tests/it/data` keeps one of each layout and engine.
//!
//! `GRIDEMU_BLESS=1 cargo test stores_of_all_layouts` makes the missing ones of the present layout. One of an earlier
//! layout is never made again: it stays as that version wrote it.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::kills::variable;
use super::{about, barrier, sections};
use crate::store::marker::LAYOUT;
use crate::store::{EngineKind, Store, StoreOptions};

fn make(folder: &Path, options: &StoreOptions) {
    let mut store = Store::create(folder, &about(), options).unwrap();
    store.journal_handle().append(b"used before the snapshot").unwrap();
    store.put_block(b"block", &[5; 100]).unwrap();
    store.write(barrier(60, 1), &sections(60, 2_000)).unwrap();
    store.journal_handle().append(b"came after it").unwrap();
    store.finish(b"done").unwrap();
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let path = entry.unwrap().path();
        let target = to.join(path.file_name().unwrap());
        if path.is_dir() {
            copy(&path, &target);
        } else {
            fs::copy(&path, &target).unwrap();
        }
    }
}

#[test]
fn stores_of_all_layouts_are_read() {
    let kept = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/it/data");
    for engine in EngineKind::all() {
        let options = StoreOptions { engine, last: 2, patience: Duration::ZERO };
        for layout in 1..=LAYOUT {
            let original = kept.join(format!("store-{layout}-{engine}"));
            if layout == LAYOUT && !original.exists() && variable("GRIDEMU_BLESS").is_some() {
                make(&original, &options);
            }
            // An open store is locked, and tests run in parallel.
            let place = tempfile::tempdir().unwrap();
            let folder = place.path().join("store");
            copy(&original, &folder);
            let mut store = Store::open(&folder, &options).unwrap();
            assert_eq!((store.engine(), store.about()), (engine, &about()));
            let newest = store.newest().unwrap();
            assert_eq!((newest.barrier, newest.sections), (barrier(60, 1), sections(60, 2_000)));
            assert_eq!(store.journal(1).unwrap().entries, [b"came after it"]);
            assert_eq!(store.block(b"block").unwrap(), [5; 100]);
            assert_eq!(store.finished().unwrap().as_deref(), Some(&b"done"[..]));
            // A run can continue with it.
            store.write(barrier(70, 2), &sections(70, 100)).unwrap();
            assert_eq!(store.newest().unwrap().sections, sections(70, 100));
        }
    }
}
