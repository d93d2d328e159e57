//! One snapshot in its folder: a fresh database, and a seal over its files.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use serde::{Deserialize, Serialize};

use super::about::{Barrier, Section, SnapshotInfo};
use super::blocks::Mark;
use super::disk::{self, Disk, engine_at};
use super::engine::{Engine, EngineError};
use super::error::{Part, StoreError};
use super::payload;
use super::text::{self, Text};

const PREFIX: &str = "snapshot-";
const PART: &str = ".part";
const GONE: &str = ".gone";
const READING: &str = "reading-";
const SEAL: &str = "seal";
const DATA: &str = "data";

/// A function that opens the database in a folder.
pub(super) type Opener = dyn Fn(&Path) -> Result<Box<dyn Engine>, EngineError> + Send + Sync;

/// The description of a snapshot, and the hashes of its files.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Seal {
    pub(super) snapshot: u64,
    #[serde(rename = "cut")]
    pub(super) barrier: Barrier,
    pub(super) taken: u64,
    pub(super) bytes: u64,
    /// The blocks that it needs.
    pub(super) blocks: Mark,
    /// The files of its database; none before it has been written.
    pub(super) files: Vec<Sealed>,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Sealed {
    name: String,
    len: u64,
    xxh3: String,
}

impl Seal {
    /// The snapshot in a list of snapshots.
    pub(super) fn info(&self, on_disk: u64) -> SnapshotInfo {
        let Self { snapshot: number, barrier, taken, bytes, .. } = *self;
        SnapshotInfo { number, barrier: Some(barrier), taken, bytes, on_disk, damage: None }
    }
}

/// The folder of a snapshot.
pub(super) fn path(store: &Path, number: u64) -> PathBuf {
    store.join(format!("{PREFIX}{number:08}"))
}

/// The numbers of the snapshots in a store, in order.
pub(super) fn numbers(store: &Path) -> Result<Vec<u64>, StoreError> {
    let mut numbers: Vec<u64> = names(store)?.iter().filter_map(|name| number_of(name)).collect();
    numbers.sort_unstable();
    Ok(numbers)
}

/// Whether a store uses this name for something temporary.
pub(super) fn is_leftover(name: &str) -> bool {
    name.ends_with(PART) || name.ends_with(GONE) || name.starts_with(READING)
}

/// Removes what a killed process was making or removing.
pub(super) fn tidy(disk: &dyn Disk, store: &Path) -> Result<(), StoreError> {
    for name in names(store)?.iter().filter(|name| is_leftover(name)) {
        disk::remove(disk, &store.join(name))?;
    }
    Ok(())
}

/// The names of the entries of a folder.
pub(super) fn names(folder: &Path) -> Result<Vec<String>, StoreError> {
    let fail = |source| disk::at("read", folder, source);
    let entries = fs::read_dir(folder).map_err(fail)?;
    entries.map(|entry| Ok(entry.map_err(fail)?.file_name().to_string_lossy().into_owned())).collect()
}

pub(super) fn number_of(name: &str) -> Option<u64> {
    name.strip_prefix(PREFIX)?.parse().ok()
}

/// Writes a snapshot, its sections in pieces of at most `chunk` bytes. When this returns, it is durable; if it fails, nothing of it
/// stays.
pub(super) fn write(
    disk: &dyn Disk,
    open: &Opener,
    store: &Path,
    seal: Seal,
    sections: &[Section],
    chunk: usize,
) -> Result<SnapshotInfo, StoreError> {
    let place = path(store, seal.snapshot);
    let part = disk::part_of(&place);
    let written = write_part(disk, open, &part, seal, sections, chunk).and_then(|info| {
        let put = disk.rename(&part, &place).and_then(|()| disk.sync_folder(store));
        put.map_err(|source| disk::at("put in place", &place, source))?;
        Ok(info)
    });
    written.inspect_err(|_| {
        // This makes room on a full disk for the next attempt; what cannot be removed goes when the store is opened.
        let _ = disk.remove_folder(&part);
    })
}

fn write_part(
    disk: &dyn Disk,
    open: &Opener,
    part: &Path,
    mut seal: Seal,
    sections: &[Section],
    chunk: usize,
) -> Result<SnapshotInfo, StoreError> {
    if part.exists() {
        disk::remove(disk, part)?;
    }
    let data = part.join(DATA);
    let made = disk.create_folder(part).and_then(|()| disk.create_folder(&data));
    made.map_err(|source| disk::at("create", part, source))?;

    let mut engine = open(&data).map_err(|error| engine_at("create the database", &data, error))?;
    let put = payload::put(&mut *engine, &data, seal.snapshot, seal.barrier, sections, chunk);
    let closed = engine.close().map_err(|error| engine_at("close the database", &data, error));
    put.and(closed)?;

    seal_folder(disk, &data, "", &mut seal.files)?;
    text::write(disk, &part.join(SEAL), &seal)?;
    Ok(seal.info(disk::size_on_disk(part)?))
}

/// Syncs the files of a folder and computes their hashes, in the order of their names.
fn seal_folder(
    disk: &dyn Disk,
    folder: &Path,
    prefix: &str,
    files: &mut Vec<Sealed>,
) -> Result<(), StoreError> {
    let mut names = names(folder)?;
    names.sort_unstable();
    for name in names {
        let path = folder.join(&name);
        let fail = |source| disk::at("read", &path, source);
        if path.is_dir() {
            seal_folder(disk, &path, &format!("{prefix}{name}/"), files)?;
        } else {
            let file = File::open(&path).map_err(fail)?;
            disk.sync(&file).map_err(|source| disk::at("write", &path, source))?;
            let bytes = fs::read(&path).map_err(fail)?;
            let (len, xxh3) = (bytes.len() as u64, disk::hash_of(&bytes));
            files.push(Sealed { name: format!("{prefix}{name}"), len, xxh3 });
        }
    }
    disk.sync_folder(folder).map_err(|source| disk::at("write", folder, source))
}

/// The seal of a snapshot.
pub(super) fn seal(store: &Path, number: u64) -> Result<Seal, StoreError> {
    let path = path(store, number).join(SEAL);
    let part = Part::Seal(number);
    let Some(text) = Text::read(path.clone(), part.clone())? else {
        return Err(StoreError::Damaged { part, path, why: "is not there".to_owned() });
    };
    let seal: Seal = text.value()?;
    if seal.snapshot == number {
        Ok(seal)
    } else {
        Err(text.damaged(format!("is of snapshot {}", seal.snapshot)))
    }
}

/// Checks every file of a snapshot, and passes each to `with`.
pub(super) fn check(
    store: &Path,
    seal: &Seal,
    mut with: impl FnMut(&str, &[u8]) -> Result<(), StoreError>,
) -> Result<(), StoreError> {
    let data = path(store, seal.snapshot).join(DATA);
    for Sealed { name, len, xxh3 } in &seal.files {
        let part = Part::File(seal.snapshot);
        with(name, &disk::read_checked(data.join(name), part, *len, xxh3)?)?;
    }
    Ok(())
}

/// The sections of a snapshot: the engine opens a copy of the database, whose files match the seal.
pub(super) fn read(
    disk: &dyn Disk,
    open: &Opener,
    store: &Path,
    seal: &Seal,
) -> Result<Vec<Section>, StoreError> {
    let copy = Copied::new(disk, store)?;
    check(store, seal, |name, bytes| {
        let path = copy.folder.join(name);
        let written = (|| {
            if let Some(folder) = path.parent() {
                fs::create_dir_all(folder)?;
            }
            disk.write(&mut disk.open(&path)?, bytes)
        })();
        written.map_err(|source| disk::at("write", &path, source))
    })?;
    let original = path(store, seal.snapshot).join(DATA);
    let engine = open(&copy.folder).map_err(|error| engine_at("open the database", &original, error))?;
    let sections = payload::get(&*engine, &original, seal.snapshot);
    // The database is closed before the copy is removed; a failure to close it does not affect what was read.
    let _ = engine.close();
    sections
}

/// A folder for a copy, which is removed when this is dropped.
struct Copied<'a> {
    disk: &'a dyn Disk,
    folder: PathBuf,
}

static COPIES: AtomicU64 = AtomicU64::new(0);

impl<'a> Copied<'a> {
    /// Makes the folder in the store or, if that is read-only, where the system keeps temporary files.
    fn new(disk: &'a dyn Disk, store: &Path) -> Result<Self, StoreError> {
        let name = format!("{READING}{}-{}", std::process::id(), COPIES.fetch_add(1, Ordering::Relaxed));
        let folder = store.join(&name);
        let made = match disk.create_folder(&folder) {
            Err(error) if disk::is_read_only(&error) => {
                let folder = std::env::temp_dir().join(format!("gridemu-{name}"));
                disk.create_folder(&folder).map(|()| folder)
            }
            made => made.map(|()| folder),
        };
        let folder = made.map_err(|source| disk::at("create", &store.join(&name), source))?;
        Ok(Self { disk, folder })
    }
}

impl Drop for Copied<'_> {
    fn drop(&mut self) {
        // What remains goes when the store is opened the next time.
        let _ = self.disk.remove_folder(&self.folder);
    }
}

/// Removes a snapshot: at any time it is either whole or absent.
pub(super) fn remove(disk: &dyn Disk, store: &Path, number: u64) -> Result<(), StoreError> {
    let place = path(store, number);
    let gone = store.join(format!("{PREFIX}{number:08}{GONE}"));
    let removed = (|| {
        if gone.exists() {
            disk.remove_folder(&gone)?;
        }
        disk.rename(&place, &gone)?;
        disk.remove_folder(&gone)
    })();
    removed.map_err(|source| disk::at("remove", &place, source))
}
