//! The store itself.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use super::about::{About, Cut, Newest, Section, SnapshotInfo, State, StoreOptions};
use super::blocks::Blocks;
use super::disk::{self, Disk, RealDisk};
use super::engines::EngineKind;
use super::error::StoreError;
use super::finished;
use super::generation::{self, Draft, Opener, Seal};
use super::journal::{Entries, Journal};
use super::lock::Lock;
use super::marker;
use super::place;

/// A folder with the snapshots of one run, open in this process and in no other.
///
/// ```
/// use gridemu::store::{About, Cut, RunKind, Section, Store, StoreOptions};
/// use gridemu::units::Time;
///
/// # let folder = tempfile::tempdir()?;
/// # let folder = folder.path().join("store");
/// let (kind, title, program) = (RunKind::Run, "two sites".to_owned(), "0.1.0".to_owned());
/// let about = About { kind, description: b"how to build it".to_vec(), title, hash: 7, program };
/// let mut store = Store::create(&folder, &about, &StoreOptions::default())?;
/// let cut = Cut { at: Time::from_secs(60), jobs: 3, records: 6, entries: 0, kept: false };
/// store.write(cut, &[Section { name: "grid".to_owned(), version: 1, bytes: vec![1, 2, 3] }])?;
/// drop(store);
///
/// let store = Store::open(&folder, &StoreOptions::default())?;
/// let newest = store.newest()?;
/// assert_eq!((newest.cut, &newest.sections[0].bytes[..]), (cut, &[1, 2, 3][..]));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Store {
    pub(super) folder: PathBuf,
    about: About,
    options: StoreOptions,
    pub(super) means: Means,
    blocks: Blocks,
    pub(super) journal: Journal,
    trouble: Option<StoreError>,
    /// For each snapshot whether it is always kept, `None` for one that cannot be used; or `None` if this is not known yet.
    pub(super) known: Option<BTreeMap<u64, Option<bool>>>,
    _lock: Lock,
}

/// The disk and the database that a store works with, so that tests can make both fail.
#[derive(Clone)]
pub(super) struct Means {
    pub(super) disk: Arc<dyn Disk>,
    /// Opens a database; `None` opens that of the store's own engine.
    pub(super) open: Option<Arc<Opener>>,
}

impl Means {
    fn real() -> Self {
        Self { disk: Arc::new(RealDisk), open: None }
    }
}

impl std::fmt::Debug for Means {
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
        Self::create_with(folder, about, options, Means::real())
    }

    pub(super) fn create_with(
        folder: &Path,
        about: &About,
        options: &StoreOptions,
        means: Means,
    ) -> Result<Self, StoreError> {
        fs::create_dir_all(folder).map_err(|source| disk::at("create the folder", folder, source))?;
        place::refuse_others(folder)?;
        let lock = Lock::take(&*means.disk, folder, options.patience)?;
        // Another process may have made one while this one waited for the lock.
        place::refuse_others(folder)?;
        generation::tidy(&*means.disk, folder)?;
        marker::write(&*means.disk, folder, about, options.engine)?;
        if let Some(parent) = folder.parent().filter(|parent| !parent.as_os_str().is_empty()) {
            let synced = means.disk.sync_folder(parent);
            synced.map_err(|source| disk::at("create the folder", folder, source))?;
        }
        Self::of(folder, about.clone(), *options, means, lock)
    }

    /// Opens an existing store. It keeps the engine that it was made with.
    ///
    /// # Errors
    /// [`StoreError::Absent`], [`StoreError::Foreign`], [`StoreError::InUse`], [`StoreError::Newer`],
    /// [`StoreError::Older`], and damage of the marker or of the description of the run. Damaged snapshots are
    /// no error here: [`snapshots`](Self::snapshots) reports them.
    pub fn open(folder: &Path, options: &StoreOptions) -> Result<Self, StoreError> {
        Self::open_with(folder, options, Means::real())
    }

    pub(super) fn open_with(folder: &Path, options: &StoreOptions, means: Means) -> Result<Self, StoreError> {
        place::refuse_no_store(folder)?;
        let lock = Lock::take(&*means.disk, folder, options.patience)?;
        let (about, engine) = marker::read(folder)?;
        match generation::tidy(&*means.disk, folder) {
            // The remains of a killed process do no harm in a read-only store.
            Err(StoreError::ReadOnly { .. }) | Ok(()) => {}
            Err(error) => return Err(error),
        }
        Self::of(folder, about, StoreOptions { engine, ..*options }, means, lock)
    }

    fn of(
        folder: &Path,
        about: About,
        options: StoreOptions,
        means: Means,
        lock: Lock,
    ) -> Result<Self, StoreError> {
        let blocks = Blocks::open(Arc::clone(&means.disk), folder)?;
        // A damaged seal is passed over here; reading its snapshot reports it.
        let seals = generation::numbers(folder)?.into_iter().map(|number| generation::seal(folder, number));
        let known = seals.flatten().map(|seal| seal.cut.entries).max().unwrap_or(0);
        let journal = Journal::new(Arc::clone(&means.disk), folder, known);
        let folder = folder.to_owned();
        Ok(Self { folder, about, options, means, blocks, journal, trouble: None, known: None, _lock: lock })
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
        disk::size_on_disk(&self.folder).map_err(|source| disk::at("read", &self.folder, source))
    }

    /// The snapshots, oldest first. Every byte of them has been compared with the seals.
    ///
    /// # Errors
    /// [`StoreError`] if the folder cannot be read. Damage is part of the list.
    pub fn snapshots(&self) -> Result<Vec<SnapshotInfo>, StoreError> {
        generation::numbers(&self.folder)?.into_iter().map(|number| self.look(number)).collect()
    }

    fn look(&self, number: u64) -> Result<SnapshotInfo, StoreError> {
        let path = generation::path(&self.folder, number);
        let on_disk = disk::size_on_disk(&path).map_err(|source| disk::at("read", &path, source))?;
        let (seal, state) = match generation::seal(&self.folder, number) {
            Ok(seal) => {
                let checked = self.check(&seal);
                (Some(seal), checked)
            }
            Err(error) => (None, Err(error)),
        };
        let state = match state {
            Ok(()) => State::Intact,
            Err(error) if error.is_damage() => State::Damaged(error.to_string()),
            Err(error) => return Err(error),
        };
        let (cut, taken, bytes) = seal.map_or((None, 0, 0), |seal| (Some(seal.cut), seal.taken, seal.bytes));
        Ok(SnapshotInfo { number, cut, taken, bytes, on_disk, state })
    }

    fn check(&self, seal: &Seal) -> Result<(), StoreError> {
        generation::check(&self.folder, seal, |_, _| Ok(()))?;
        self.blocks.check(&seal.blocks)
    }

    /// Writes a snapshot, with the blocks that have been put. When this returns, it is durable. Then older snapshots are removed,
    /// except the latest few, as [`StoreOptions::last`] says, and those that are always kept.
    ///
    /// # Errors
    /// [`StoreError`] if it cannot be written; the snapshots before it are unchanged then.
    pub fn write(&mut self, cut: Cut, sections: &[Section]) -> Result<SnapshotInfo, StoreError> {
        self.blocks.sync()?;
        let mut known = self.take_known()?;
        let number = known.last_key_value().map_or(1, |(&number, _)| number + 1);
        let draft = Draft {
            number,
            cut,
            taken: seconds_since_1970(),
            blocks: self.blocks.mark(),
            sections,
            chunk: self.options.engine.chunk(),
        };
        let written = generation::write(&*self.means.disk, &*self.opener(), &self.folder, &draft);
        // After an error it may be in place without being durable, so `known` is computed anew.
        let info = written?;
        known.insert(number, Some(cut.kept));
        self.known = Some(known);
        self.trouble = self.give_back_space().err();
        Ok(info)
    }

    /// Removes what is not needed once there is a newer snapshot.
    fn give_back_space(&mut self) -> Result<(), StoreError> {
        // A damaged snapshot has no use any more.
        self.drop_all_but(self.options.last, true)?;
        if self.blocks.are_released() && !self.any_needs_blocks()? {
            self.blocks.clear()?;
            self.blocks.release();
        }
        Ok(())
    }

    /// Why space could not be freed after the last snapshot, if it could not; the next snapshot tries again.
    pub const fn take_trouble(&mut self) -> Option<StoreError> {
        self.trouble.take()
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
        self.has(number)?;
        let seal = generation::seal(&self.folder, number)?;
        self.blocks.check(&seal.blocks)?;
        let sections = generation::read(&*self.means.disk, &*self.opener(), &self.folder, &seal)?;
        let path = generation::path(&self.folder, number);
        let on_disk = disk::size_on_disk(&path).map_err(|source| disk::at("read", &path, source))?;
        let Seal { cut, taken, bytes, .. } = seal;
        let (cut, state) = (Some(cut), State::Intact);
        Ok((SnapshotInfo { number, cut, taken, bytes, on_disk, state }, sections))
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
    pub fn newest_before(&self, wanted: impl Fn(&Cut) -> bool) -> Result<Newest, StoreError> {
        let mut skipped = Vec::new();
        for number in generation::numbers(&self.folder)?.into_iter().rev() {
            match generation::seal(&self.folder, number) {
                Ok(seal) if !wanted(&seal.cut) => continue,
                Ok(_) => {}
                Err(error) if error.is_damage() => {
                    skipped.push((number, error.to_string()));
                    continue;
                }
                Err(error) => return Err(error),
            }
            match self.read(number) {
                Ok((info, sections)) => {
                    let Some(cut) = info.cut else { continue };
                    return Ok(Newest { number, cut, info, sections, skipped });
                }
                // A database that fails on unchanged files is no better than a damaged one.
                Err(error) if error.is_damage() || matches!(error, StoreError::Engine { .. }) => {
                    skipped.push((number, error.to_string()));
                }
                Err(error) => return Err(error),
            }
        }
        Err(StoreError::NoSnapshot { path: self.folder.clone(), skipped })
    }

    /// Makes this snapshot the newest: later snapshots and blocks belong to a future that is now discarded. The journal stays.
    ///
    /// # Errors
    /// [`StoreError::Unknown`], damage of its seal, and errors of the file system.
    pub fn go_on_from(&mut self, number: u64) -> Result<(), StoreError> {
        self.has(number)?;
        let seal = generation::seal(&self.folder, number)?;
        self.blocks.check(&seal.blocks)?;
        self.known = None;
        for later in generation::numbers(&self.folder)?.into_iter().rev().filter(|&n| n > number) {
            generation::remove(&*self.means.disk, &self.folder, later)?;
        }
        // A snapshot that needs no blocks may come after some that do.
        if seal.blocks.count > 0 { self.blocks.cut(&seal.blocks) } else { Ok(()) }
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

    /// Removes all blocks. Snapshots that need one count as damaged from then on.
    ///
    /// # Errors
    /// Errors of the file system.
    pub fn drop_blocks(&mut self) -> Result<(), StoreError> {
        self.known = None;
        self.blocks.clear()
    }

    /// A handle to the journal, for another thread.
    pub fn journal_handle(&self) -> Journal {
        self.journal.clone()
    }

    /// Sets the number of the first journal entry of a new store: earlier entries are in the store from which this run was forked.
    ///
    /// # Errors
    /// [`StoreError::Occupied`] if there are entries or snapshots already, and errors of the file system.
    pub fn begin_journal_at(&mut self, number: u64) -> Result<(), StoreError> {
        if self.journal.entries()? > 0 || !generation::numbers(&self.folder)?.is_empty() {
            let (path, title) = (self.folder.clone(), self.about.title.clone());
            return Err(StoreError::Occupied { path, title, finished: self.finished()?.is_some() });
        }
        self.journal.begin_at(number)
    }

    /// Appends an entry to the journal. When this returns, it is durable, and may be used. Returns its number.
    ///
    /// # Errors
    /// As [`Journal::append`].
    pub fn append(&mut self, entry: &[u8]) -> Result<u64, StoreError> {
        self.journal.append(entry)
    }

    /// The entries of the journal after the barrier of a snapshot.
    ///
    /// # Errors
    /// [`StoreError::Damaged`] and [`StoreError::CutShort`] name the entry; damage of the seal; and errors of the
    /// file system.
    pub fn journal(&self, snapshot: u64) -> Result<Entries, StoreError> {
        self.has(snapshot)?;
        self.journal.since(generation::seal(&self.folder, snapshot)?.cut.entries)
    }

    /// Marks the run as over, with its summary.
    ///
    /// # Errors
    /// Errors of the file system.
    pub fn finish(&mut self, summary: &[u8]) -> Result<(), StoreError> {
        finished::write(&*self.means.disk, &self.folder, summary)
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
        self.means.open.clone().unwrap_or_else(|| Arc::new(move |folder: &Path| engine.open(folder)))
    }
}

#[expect(
    clippy::disallowed_methods,
    reason = "when a snapshot was taken is told to people; no result depends on it"
)]
fn seconds_since_1970() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs())
}
