//! The store itself.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use super::about::{About, Barrier, Newest, Section, SnapshotInfo, StoreOptions};
use super::blocks::Blocks;
use super::disk::{self, Disk, RealDisk};
use super::engines::EngineKind;
use super::error::StoreError;
use super::finished;
use super::generation::{self, Opener, Seal};
use super::journal::{Entries, Journal};
use super::lock::Lock;
use super::marker;
use super::place;

/// A folder with the snapshots of one run, open in this process and in no other.
///
/// ```
/// use gridemu::store::{About, Barrier, RunKind, Section, Store, StoreOptions};
/// use gridemu::units::Time;
///
/// # let folder = tempfile::tempdir()?;
/// # let folder = folder.path().join("store");
/// let (kind, title, program) = (RunKind::Run, "two sites".to_owned(), "0.1.0".to_owned());
/// let about = About { kind, description: b"how to build it".to_vec(), title, hash: 7, program };
/// let mut store = Store::create(&folder, &about, &StoreOptions::default())?;
/// let barrier = Barrier { at: Time::from_secs(60), jobs: 3, records: 6, entries: 0, kept: false };
/// store.write(barrier, &[Section { name: "grid".to_owned(), version: 1, bytes: vec![1, 2, 3] }])?;
/// drop(store);
///
/// let store = Store::open(&folder, &StoreOptions::default())?;
/// let newest = store.newest()?;
/// assert_eq!((newest.barrier, &newest.sections[0].bytes[..]), (barrier, &[1, 2, 3][..]));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Store {
    pub(super) folder: PathBuf,
    about: About,
    options: StoreOptions,
    pub(super) backend: Backend,
    blocks: Blocks,
    pub(super) journal: Journal,
    /// Why space could not be freed after the last snapshot.
    unfreed: Option<StoreError>,
    /// For each snapshot whether it is always kept, `None` for one that cannot be used; or `None` if this is not known yet.
    pub(super) known: Option<BTreeMap<u64, Option<bool>>>,
    _lock: Lock,
}

/// The disk and the database that a store works with, so that tests can make both fail.
#[derive(Clone)]
pub(super) struct Backend {
    pub(super) disk: Arc<dyn Disk>,
    /// Opens a database; `None` opens that of the store's own engine.
    pub(super) open: Option<Arc<Opener>>,
}

impl Backend {
    fn real() -> Self {
        Self { disk: Arc::new(RealDisk), open: None }
    }
}

impl std::fmt::Debug for Backend {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.disk.fmt(f)
    }
}

impl Store {
    /// Makes a store in a folder that does not exist or is empty.
    ///
    /// # Errors
    /// [`StoreError::Occupied`] if there is a store already, [`StoreError::Foreign`] if there is something else,
    /// and errors of the file system.
    pub fn create(folder: &Path, about: &About, options: &StoreOptions) -> Result<Self, StoreError> {
        Self::create_with(folder, about, options, Backend::real())
    }

    pub(super) fn create_with(
        folder: &Path,
        about: &About,
        options: &StoreOptions,
        backend: Backend,
    ) -> Result<Self, StoreError> {
        fs::create_dir_all(folder).map_err(|source| disk::at("create the folder", folder, source))?;
        place::refuse_others(folder)?;
        let lock = Lock::take(&*backend.disk, folder, options.patience)?;
        // Another process may have made one while this one waited for the lock.
        place::refuse_others(folder)?;
        generation::tidy(&*backend.disk, folder)?;
        marker::write(&*backend.disk, folder, about, options.engine)?;
        if let Some(parent) = folder.parent().filter(|parent| !parent.as_os_str().is_empty()) {
            let synced = backend.disk.sync_folder(parent);
            synced.map_err(|source| disk::at("create the folder", folder, source))?;
        }
        Self::of(folder, about.clone(), *options, backend, lock)
    }

    /// Opens an existing store. It keeps the engine that it was made with.
    ///
    /// # Errors
    /// [`StoreError::Absent`], [`StoreError::Foreign`], [`StoreError::InUse`], [`StoreError::Newer`],
    /// [`StoreError::Older`], and damage of the marker or of the description of the run. Damaged snapshots are
    /// no error here: [`snapshots`](Self::snapshots) reports them.
    pub fn open(folder: &Path, options: &StoreOptions) -> Result<Self, StoreError> {
        Self::open_with(folder, options, Backend::real())
    }

    pub(super) fn open_with(
        folder: &Path,
        options: &StoreOptions,
        backend: Backend,
    ) -> Result<Self, StoreError> {
        place::refuse_no_store(folder)?;
        let lock = Lock::take(&*backend.disk, folder, options.patience)?;
        let (about, engine) = marker::read(folder)?;
        // The remains of a killed process do no harm in a read-only store.
        if let Err(error) = generation::tidy(&*backend.disk, folder)
            && !error.is_read_only()
        {
            return Err(error);
        }
        Self::of(folder, about, StoreOptions { engine, ..*options }, backend, lock)
    }

    fn of(
        folder: &Path,
        about: About,
        options: StoreOptions,
        backend: Backend,
        lock: Lock,
    ) -> Result<Self, StoreError> {
        let blocks = Blocks::open(Arc::clone(&backend.disk), folder)?;
        // A damaged seal is passed over here; reading its snapshot reports it.
        let seals = generation::numbers(folder)?.into_iter().map(|number| generation::seal(folder, number));
        let known = seals.flatten().map(|seal| seal.barrier.entries).max().unwrap_or(0);
        let journal = Journal::new(Arc::clone(&backend.disk), folder, known);
        let folder = folder.to_owned();
        Ok(Self { folder, about, options, backend, blocks, journal, unfreed: None, known: None, _lock: lock })
    }

    /// The run that this store is of.
    pub const fn about(&self) -> &About {
        &self.about
    }

    /// The folder of the store.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// The database that holds it.
    pub const fn engine(&self) -> EngineKind {
        self.options.engine
    }

    /// The number of bytes that the store takes on the disk.
    ///
    /// # Errors
    /// [`StoreError`] if the folder cannot be read.
    pub fn size_on_disk(&self) -> Result<u64, StoreError> {
        disk::size_on_disk(&self.folder)
    }

    /// The snapshots, oldest first. Every byte of them has been compared with the seals.
    ///
    /// # Errors
    /// [`StoreError`] if the folder cannot be read. Damage is part of the list.
    pub fn snapshots(&self) -> Result<Vec<SnapshotInfo>, StoreError> {
        generation::numbers(&self.folder)?.into_iter().map(|number| self.look(number)).collect()
    }

    fn look(&self, number: u64) -> Result<SnapshotInfo, StoreError> {
        let on_disk = disk::size_on_disk(&generation::path(&self.folder, number))?;
        let (info, checked) = match generation::seal(&self.folder, number) {
            Ok(seal) => {
                let checked = generation::check(&self.folder, &seal, |_, _| Ok(()));
                (seal.info(on_disk), checked.and_then(|()| self.blocks.check(&seal.blocks)))
            }
            Err(error) => {
                let unread =
                    SnapshotInfo { number, barrier: None, taken: 0, bytes: 0, on_disk, damage: None };
                (unread, Err(error))
            }
        };
        match checked {
            Ok(()) => Ok(info),
            Err(error) if error.is_damage() => Ok(SnapshotInfo { damage: Some(error.to_string()), ..info }),
            Err(error) => Err(error),
        }
    }

    /// Writes a snapshot, with the blocks that have been put. When this returns, it is durable. Then older snapshots are removed,
    /// except the latest few, as [`StoreOptions::last`] says, and those that are always kept.
    ///
    /// # Errors
    /// [`StoreError`] if it cannot be written; the snapshots before it are unchanged then.
    pub fn write(&mut self, barrier: Barrier, sections: &[Section]) -> Result<SnapshotInfo, StoreError> {
        self.blocks.sync()?;
        let mut known = self.take_known()?;
        let number = known.last_key_value().map_or(1, |(&number, _)| number + 1);
        let seal = Seal {
            snapshot: number,
            barrier,
            taken: seconds_since_1970(),
            bytes: sections.iter().map(|section| section.bytes.len() as u64).sum(),
            blocks: self.blocks.mark(),
            files: Vec::new(),
        };
        let (disk, chunk) = (&*self.backend.disk, self.options.engine.chunk());
        let written = generation::write(disk, &*self.opener(), &self.folder, seal, sections, chunk);
        // After an error it may be in place without being durable, so `known` is computed anew.
        let info = written?;
        known.insert(number, Some(barrier.kept));
        self.known = Some(known);
        self.unfreed = self.free_space().err();
        Ok(info)
    }

    /// Removes what is not needed once there is a newer snapshot.
    fn free_space(&mut self) -> Result<(), StoreError> {
        // A damaged snapshot has no use any more.
        self.drop_all_but(self.options.last, true)?;
        if self.blocks.are_released() && !self.any_needs_blocks()? {
            self.blocks.clear()?;
            self.blocks.release();
        }
        Ok(())
    }

    /// Why space could not be freed after the last snapshot, if it could not; the next snapshot tries again.
    pub const fn take_cleanup_error(&mut self) -> Option<StoreError> {
        self.unfreed.take()
    }

    /// Declares that snapshots from now on need none of the blocks that have been put, until another is put. The blocks are removed with
    /// the last snapshot that needs them.
    pub fn release_blocks(&mut self) {
        self.blocks.release();
    }

    /// Whether any snapshot needs blocks, or may need them.
    fn any_needs_blocks(&self) -> Result<bool, StoreError> {
        let needs =
            |number| generation::seal(&self.folder, number).map_or(true, |seal| seal.blocks.count > 0);
        Ok(generation::numbers(&self.folder)?.into_iter().any(needs))
    }

    /// A snapshot, with every byte checked.
    ///
    /// # Errors
    /// [`StoreError::Unknown`] if no snapshot has this number, and any damage to it.
    pub fn read(&self, number: u64) -> Result<(SnapshotInfo, Vec<Section>), StoreError> {
        let seal = self.seal(number)?;
        self.blocks.check(&seal.blocks)?;
        let sections = generation::read(&*self.backend.disk, &*self.opener(), &self.folder, &seal)?;
        Ok((seal.info(disk::size_on_disk(&generation::path(&self.folder, number))?), sections))
    }

    /// The seal of a snapshot that must be there.
    fn seal(&self, number: u64) -> Result<Seal, StoreError> {
        self.has(number)?;
        generation::seal(&self.folder, number)
    }

    pub(super) fn has(&self, number: u64) -> Result<(), StoreError> {
        let have = generation::numbers(&self.folder)?;
        if have.contains(&number) {
            Ok(())
        } else {
            Err(StoreError::Unknown { path: self.folder.clone(), number, have })
        }
    }

    /// The newest snapshot that can be used, with the newer ones that cannot.
    ///
    /// # Errors
    /// [`StoreError::NoSnapshot`] if none can be used, and errors of the file system.
    pub fn newest(&self) -> Result<Newest, StoreError> {
        self.newest_before(|_| true)
    }

    /// The newest usable snapshot with a barrier for which `wanted` holds, with the newer ones that cannot be used.
    ///
    /// # Errors
    /// As [`newest`](Self::newest).
    pub fn newest_before(&self, wanted: impl Fn(&Barrier) -> bool) -> Result<Newest, StoreError> {
        let mut skipped = Vec::new();
        for number in generation::numbers(&self.folder)?.into_iter().rev() {
            let read = match generation::seal(&self.folder, number) {
                Ok(seal) if !wanted(&seal.barrier) => continue,
                Ok(seal) => self.read(number).map(|(_, sections)| (seal.barrier, sections)),
                Err(error) => Err(error),
            };
            match read {
                Ok((barrier, sections)) => return Ok(Newest { number, barrier, sections, skipped }),
                // A database that fails on unchanged files is no better than a damaged one.
                Err(error) if error.is_damage() || matches!(error, StoreError::Engine { .. }) => {
                    skipped.push((number, error.to_string()));
                }
                Err(error) => return Err(error),
            }
        }
        let path = self.folder.clone();
        Err(if skipped.is_empty() {
            StoreError::Unsaved(path)
        } else {
            StoreError::NoSnapshot { path, skipped }
        })
    }

    /// Makes this snapshot the newest: later snapshots and blocks belong to a future that is now discarded. The journal stays.
    ///
    /// # Errors
    /// [`StoreError::Unknown`], damage of its seal, and errors of the file system.
    pub fn continue_from(&mut self, number: u64) -> Result<(), StoreError> {
        let seal = self.seal(number)?;
        self.blocks.check(&seal.blocks)?;
        self.known = None;
        for later in generation::numbers(&self.folder)?.into_iter().rev().filter(|&n| n > number) {
            generation::remove(&*self.backend.disk, &self.folder, later)?;
        }
        // A snapshot that needs no blocks may come after some that do.
        if seal.blocks.count > 0 { self.blocks.truncate(&seal.blocks) } else { Ok(()) }
    }

    /// Puts a block that snapshots from now on share; it becomes durable with the next of them. Nothing happens
    /// if it exists with the same content.
    ///
    /// # Errors
    /// [`StoreError::OtherBlock`] if it exists with other content, and errors of the file system.
    pub fn put_block(&mut self, id: &[u8], bytes: &[u8]) -> Result<(), StoreError> {
        self.blocks.put(id, bytes)
    }

    /// A block, with its hash checked.
    ///
    /// # Errors
    /// [`StoreError::NoBlock`], or damage to it.
    pub fn block(&self, id: &[u8]) -> Result<Vec<u8>, StoreError> {
        self.blocks.get(id)
    }

    /// A handle to the journal, for another thread.
    pub fn journal_handle(&self) -> Journal {
        self.journal.clone()
    }

    /// The entries of the journal after the barrier of a snapshot.
    ///
    /// # Errors
    /// [`StoreError::Damaged`] and [`StoreError::CutShort`] name the entry; damage of the seal; and errors of the
    /// file system.
    pub fn journal(&self, snapshot: u64) -> Result<Entries, StoreError> {
        self.journal.since(self.seal(snapshot)?.barrier.entries)
    }

    /// Marks the run as over, with its summary.
    ///
    /// # Errors
    /// Errors of the file system.
    pub fn finish(&mut self, summary: &[u8]) -> Result<(), StoreError> {
        finished::write(&*self.backend.disk, &self.folder, summary)
    }

    /// The summary of the run, if it is over.
    ///
    /// # Errors
    /// Damage to it, and errors of the file system.
    pub fn finished(&self) -> Result<Option<Vec<u8>>, StoreError> {
        finished::read(&self.folder)
    }

    fn opener(&self) -> Arc<Opener> {
        let engine = self.options.engine;
        self.backend.open.clone().unwrap_or_else(|| Arc::new(move |folder: &Path| engine.open(folder)))
    }
}

#[expect(
    clippy::disallowed_methods,
    reason = "when a snapshot was taken is told to people; no result depends on it"
)]
fn seconds_since_1970() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs())
}
