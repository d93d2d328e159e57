//! Changed bytes in a store: they are reported, and no wrong data is ever returned.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::{about, barrier, other_engine, sections};
use crate::store::{EngineKind, Store, StoreError, StoreOptions};

const SIZES: [usize; 2] = [150_000, 4_000];

fn options(engine: EngineKind) -> StoreOptions {
    StoreOptions { engine, last: 2, patience: Duration::ZERO }
}

/// A store with two snapshots, blocks and a journal.
fn whole(folder: &Path, engine: EngineKind) {
    let mut store = Store::create(folder, &about(), &options(engine)).unwrap();
    store.journal_handle().append(b"before both").unwrap();
    store.put_block(b"one", &[1; 300]).unwrap();
    store.write(barrier(10, 1), &sections(10, SIZES[0])).unwrap();
    store.journal_handle().append(b"between").unwrap();
    store.put_block(b"two", &[2; 300]).unwrap();
    store.write(barrier(20, 2), &sections(20, SIZES[1])).unwrap();
    store.journal_handle().append(b"after both").unwrap();
    store.journal_handle().append(b"last of all").unwrap();
    store.finish(b"summary").unwrap();
}

/// All files below a folder, by their relative paths.
fn files(folder: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files.extend(self::files(&path));
        } else {
            files.push(path);
        }
    }
    files.sort();
    files
}

/// The parts of a store that can still be used, each compared with what was written, and the errors of the others.
fn look(folder: &Path, engine: EngineKind) -> (Vec<&'static str>, Vec<StoreError>) {
    let (mut good, mut told) = (Vec::new(), Vec::new());
    let store = match Store::open(folder, &options(engine)) {
        Ok(store) => store,
        Err(error) => return (good, vec![error]),
    };
    assert_eq!(store.about(), &about(), "what was read of the run is what was written");
    let mut note = |name, what: Result<bool, StoreError>| match what {
        Ok(right) => {
            assert!(right, "{name} is other than it was written, and not told");
            good.push(name);
        }
        Err(error) => told.push(error),
    };
    note("first", store.read(1).map(|(_, read)| read == sections(10, SIZES[0])));
    note("second", store.read(2).map(|(_, read)| read == sections(20, SIZES[1])));
    note("one", store.block(b"one").map(|block| block == [1; 300]));
    note("two", store.block(b"two").map(|block| block == [2; 300]));
    note("summary", store.finished().map(|summary| summary.as_deref() == Some(b"summary")));
    let entries = [&b"between"[..], b"after both", b"last of all"];
    // A file that ends in the middle of an entry looks as after a kill during its write, unless a snapshot
    // has used that entry: the second snapshot has used the first of these three.
    note(
        "journal",
        store.journal(1).map(|found| {
            found.entries == entries
                || (found.torn && !found.entries.is_empty() && entries.starts_with(&refs(&found.entries)))
        }),
    );
    let newest = store.newest();
    let listed = store.snapshots().unwrap();
    assert_eq!(listed.len(), 2);
    match newest {
        Ok(newest) => {
            let len = if newest.number == 2 { SIZES[1] } else { SIZES[0] };
            assert_eq!(newest.sections, sections(newest.number * 10, len));
            assert_eq!(newest.skipped.len() as u64, 2 - newest.number);
        }
        Err(StoreError::NoSnapshot { skipped, .. }) => assert_eq!(skipped.len(), 2),
        Err(other) => panic!("{other}"),
    }
    (good, told)
}

fn refs(entries: &[Vec<u8>]) -> Vec<&[u8]> {
    entries.iter().map(Vec::as_slice).collect()
}

/// Applies `harm` to each file of a store at many places, and checks what can be read after that.
fn harm(engine: EngineKind, places: usize, harm: impl Fn(&mut Vec<u8>, usize)) {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path().join("store");
    whole(&folder, engine);
    let (good, told) = look(&folder, engine);
    assert_eq!((good.len(), told.len()), (6, 0), "{told:?}");
    let files = files(&folder);
    assert!(files.len() >= 10, "{files:?}");
    for path in files {
        let name = path.strip_prefix(&folder).unwrap().display().to_string();
        if name == "lock" {
            continue;
        }
        let before = fs::read(&path).unwrap();
        for place in 0..places {
            // The places are the beginning, the end, and some in between.
            let at = match place {
                0 => 0,
                1 => before.len().saturating_sub(1),
                _ => before.len() * (place - 1) / places,
            };
            let mut bytes = before.clone();
            harm(&mut bytes, at);
            if bytes == before {
                continue;
            }
            fs::write(&path, &bytes).unwrap();
            let (good, told) = look(&folder, engine);
            let torn = name.starts_with("journal") && bytes.len() < before.len();
            // No snapshot needs the first entry of the journal any more.
            let unneeded = name.starts_with("journal") && (32..59).contains(&at);
            assert!(torn || unneeded || !told.is_empty(), "{name} at {at}: nothing told; {good:?}");
            for error in &told {
                let no_block = matches!(error, StoreError::NoBlock { .. }) && !good.contains(&"second");
                assert!(error.is_damage() || no_block, "{name} at {at}: {error}");
                assert!(error.to_string().contains(path.to_str().unwrap()), "{name}: {error}");
                assert!(!error.hint().is_empty());
            }
            // Damage to one file affects only the parts that need it.
            let lost: &[&str] = match name.split('/').next().unwrap() {
                "gridemu-store" | "run" => &["first", "second", "one", "two", "summary", "journal"],
                "snapshot-00000001" => &["first", "journal"],
                "snapshot-00000002" => &["second"],
                "blocks" => &["first", "second", "one", "two"],
                "finished" => &["summary"],
                _ => &["journal"],
            };
            for name_of in ["first", "second", "one", "two", "summary", "journal"] {
                let there = good.contains(&name_of);
                assert!(there || lost.contains(&name_of), "{name} at {at}: {name_of} is lost; {told:?}");
            }
        }
        fs::write(&path, &before).unwrap();
    }
    let (good, told) = look(&folder, engine);
    assert_eq!((good.len(), told.len()), (6, 0), "looking has changed nothing");
}

#[test]
fn flipped_bytes_are_told() {
    for engine in EngineKind::all() {
        harm(engine, 14, |bytes, at| {
            if let Some(byte) = bytes.get_mut(at) {
                *byte ^= 0x10;
            }
        });
    }
}

#[test]
fn files_cut_short_are_told() {
    for engine in EngineKind::all() {
        harm(engine, 10, |bytes, at| bytes.truncate(at));
    }
}

#[test]
fn files_that_are_longer_or_empty_or_zeros_are_told() {
    harm(EngineKind::Sled, 2, |bytes, at| if at == 0 { bytes.clear() } else { bytes.fill(0) });
    // Extra bytes at the end of a file of entries may be an incomplete entry, which has never been used.
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path().join("store");
    whole(&folder, EngineKind::Sled);
    for path in files(&folder) {
        let name = path.strip_prefix(&folder).unwrap().display().to_string();
        let before = fs::read(&path).unwrap();
        fs::write(&path, [&before[..], b"and more"].concat()).unwrap();
        let (good, told) = look(&folder, EngineKind::Sled);
        match name.as_str() {
            "lock" | "blocks" => assert_eq!(good.len(), 6, "{name}: {told:?}"),
            _ => assert!(!told.is_empty(), "{name}: nothing told"),
        }
        fs::write(&path, &before).unwrap();
    }
}

#[test]
fn missing_files_are_told() {
    for engine in EngineKind::all() {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path().join("store");
        whole(&folder, engine);
        for path in files(&folder) {
            let name = path.strip_prefix(&folder).unwrap().display().to_string();
            let before = fs::read(&path).unwrap();
            fs::remove_file(&path).unwrap();
            if name == "finished" {
                assert_eq!(Store::open(&folder, &options(engine)).unwrap().finished().unwrap(), None);
            } else if name != "lock" {
                let (_, told) = look(&folder, engine);
                assert!(!told.is_empty(), "{name}");
            }
            fs::write(&path, &before).unwrap();
        }
        assert_eq!(look(&folder, engine).0.len(), 6);
    }
}

#[test]
fn a_store_of_another_layout_says_who_can_read_it() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path().join("store");
    whole(&folder, other_engine());
    let path = folder.join("gridemu-store");
    let text = fs::read_to_string(&path).unwrap();
    let change = |layout: &str| {
        let (body, _) = text.rsplit_once("\nxxh3-128").unwrap();
        let body = body.replace("\"layout\": 1", &format!("\"layout\": {layout}"));
        let body = body.replace("\"kind\"", "\"new-key\": 3,\n  \"kind\"");
        let hash = xxhash_rust::xxh3::xxh3_128(body.as_bytes());
        fs::write(&path, format!("{body}\nxxh3-128 of the above: {hash:032x}\n")).unwrap();
        Store::open(&folder, &options(other_engine())).unwrap_err()
    };
    let newer = change("7");
    assert!(matches!(newer, StoreError::Newer { layout: 7, .. }), "{newer}");
    assert!(newer.to_string().contains("gridemu 0.1.0"), "{newer}");
    let older = change("0");
    assert!(matches!(older, StoreError::Older { layout: 0, .. }), "{older}");
}
