//! A disk that fails at any write: what was acknowledged stays.

use std::collections::BTreeMap;
use std::fs::{self, File, OpenOptions};
use std::io::{self, ErrorKind, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use redb::StorageBackend;

use super::{about, cut, sections};
use crate::store::disk::Disk;
use crate::store::engines::redb::Redb;
use crate::store::folder::Means;
use crate::store::{Engine, EngineError, Section, Store, StoreError, StoreOptions};

/// How a disk fails.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
enum How {
    /// There is no space, and half of what was to be written has been.
    Short,
    /// The device does not answer.
    Io,
    /// Power is lost: what was not synced is as if it had never been written or renamed.
    PowerLoss,
}

/// When a disk fails.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
enum Duty {
    /// Once, and then no more.
    Once,
    /// From then on.
    FromThenOn,
}

/// A disk that fails at the n-th thing that is asked of it.
#[derive(Debug)]
struct Faulty {
    at: u64,
    how: How,
    duty: Duty,
    state: Mutex<Ledger>,
}

/// What a disk has been asked to do.
#[derive(Debug, Default)]
struct Ledger {
    asked: u64,
    /// The content of each file at its last sync; `None` for one that was not there.
    synced: BTreeMap<PathBuf, Option<Vec<u8>>>,
    /// Renames whose folder has not been synced since: from, to, and what was at `to`.
    renames: Vec<(PathBuf, PathBuf, Option<Vec<u8>>)>,
}

impl Faulty {
    fn new(at: u64, how: How, duty: Duty) -> Arc<Self> {
        Arc::new(Self { at, how, duty, state: Mutex::default() })
    }

    /// Counts a request, and fails it if it is its turn.
    fn ask(&self) -> Result<(), io::Error> {
        let mut state = self.state.lock().unwrap();
        state.asked += 1;
        let fails = match self.duty {
            Duty::Once => state.asked == self.at,
            Duty::FromThenOn => state.asked >= self.at,
        };
        if !fails {
            return Ok(());
        }
        Err(match self.how {
            How::Short => ErrorKind::StorageFull.into(),
            How::Io | How::PowerLoss => io::Error::other("the device does not answer"),
        })
    }

    fn asked(&self) -> u64 {
        self.state.lock().unwrap().asked
    }

    /// What the disk holds after a loss of power.
    fn lose_power(&self) {
        let state = self.state.lock().unwrap();
        for (from, to, before) in state.renames.iter().rev() {
            // A folder or file that was moved in place since its parent was last synced is where it was.
            if to.exists() && !from.exists() {
                fs::rename(to, from).unwrap();
            }
            if let Some(bytes) = before {
                fs::write(to, bytes).unwrap();
            }
        }
        for (path, content) in &state.synced {
            if path.exists() {
                match content {
                    Some(bytes) => fs::write(path, bytes).unwrap(),
                    None => fs::write(path, b"").unwrap(),
                }
            }
        }
    }
}

/// The path of an open file.
fn path_of(file: &File) -> Option<PathBuf> {
    use std::os::fd::AsRawFd;
    fs::read_link(format!("/proc/self/fd/{}", file.as_raw_fd())).ok()
}

impl Disk for Faulty {
    fn create_folder(&self, path: &Path) -> io::Result<()> {
        self.ask()?;
        fs::create_dir(path)
    }

    fn open(&self, path: &Path) -> io::Result<File> {
        self.ask()?;
        if !path.exists() {
            self.state.lock().unwrap().synced.insert(path.to_owned(), None);
        }
        OpenOptions::new().read(true).write(true).create(true).truncate(false).open(path)
    }

    fn write(&self, file: &mut File, bytes: &[u8]) -> io::Result<()> {
        if let Some(path) = path_of(file) {
            let before = fs::read(&path).ok();
            self.state.lock().unwrap().synced.entry(path).or_insert(before);
        }
        let asked = self.ask();
        if asked.is_err() && self.how == How::Short {
            file.write_all(&bytes[..bytes.len() / 2])?;
        }
        asked?;
        file.write_all(bytes)
    }

    fn set_len(&self, file: &File, len: u64) -> io::Result<()> {
        self.ask()?;
        file.set_len(len)
    }

    fn sync(&self, file: &File) -> io::Result<()> {
        self.ask()?;
        if let Some(path) = path_of(file) {
            self.state.lock().unwrap().synced.remove(&path);
        }
        Ok(())
    }

    fn sync_folder(&self, path: &Path) -> io::Result<()> {
        self.ask()?;
        self.state.lock().unwrap().renames.retain(|(_, to, _)| to.parent() != Some(path));
        Ok(())
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.ask()?;
        let before = if to.is_file() { Some(fs::read(to)?) } else { None };
        fs::rename(from, to)?;
        let mut state = self.state.lock().unwrap();
        // What was written to the file and not synced goes with its name.
        if let Some(content) = state.synced.remove(from) {
            state.synced.insert(to.to_owned(), content);
        }
        state.renames.push((from.to_owned(), to.to_owned(), before));
        Ok(())
    }

    fn remove_file(&self, path: &Path) -> io::Result<()> {
        self.ask()?;
        self.state.lock().unwrap().synced.remove(path);
        fs::remove_file(path)
    }

    fn remove_folder(&self, path: &Path) -> io::Result<()> {
        self.ask()?;
        let mut state = self.state.lock().unwrap();
        state.synced.retain(|file, _| !file.starts_with(path));
        state.renames.retain(|(_, to, _)| !to.starts_with(path));
        drop(state);
        fs::remove_dir_all(path)
    }
}

/// A plain engine: a map that is written to one file when it is flushed. Every operation can fail.
#[derive(Debug)]
struct Plain {
    disk: Arc<Faulty>,
    path: PathBuf,
    map: BTreeMap<Vec<u8>, Vec<u8>>,
}

impl Plain {
    fn open(disk: &Arc<Faulty>, folder: &Path) -> Result<Box<dyn Engine>, EngineError> {
        let path = folder.join("map");
        let map = match fs::read(&path) {
            Ok(bytes) => {
                postcard::from_bytes(&bytes).map_err(|error| EngineError::Damaged(error.to_string()))?
            }
            Err(_) => BTreeMap::new(),
        };
        Ok(Box::new(Self { disk: Arc::clone(disk), path, map }))
    }
}

impl Engine for Plain {
    fn put(&mut self, key: &[u8], value: &[u8]) -> Result<(), EngineError> {
        self.disk.ask()?;
        self.map.insert(key.to_vec(), value.to_vec());
        Ok(())
    }

    fn get(&self, key: &[u8]) -> Result<Option<Vec<u8>>, EngineError> {
        Ok(self.map.get(key).cloned())
    }

    fn remove(&mut self, key: &[u8]) -> Result<(), EngineError> {
        self.map.remove(key);
        Ok(())
    }

    fn keys(&self, prefix: &[u8]) -> Result<Vec<Vec<u8>>, EngineError> {
        Ok(self.map.keys().filter(|key| key.starts_with(prefix)).cloned().collect())
    }

    fn flush(&mut self) -> Result<(), EngineError> {
        let bytes = postcard::to_stdvec(&self.map).map_err(|error| EngineError::Other(error.to_string()))?;
        let mut file = self.disk.open(&self.path)?;
        self.disk.set_len(&file, 0)?;
        self.disk.write(&mut file, &bytes)?;
        Ok(self.disk.sync(&file)?)
    }

    fn close(self: Box<Self>) -> Result<(), EngineError> {
        Ok(())
    }
}

/// The file of a redb database on a faulty disk.
#[derive(Debug)]
struct Backend {
    disk: Arc<Faulty>,
    file: Mutex<File>,
}

impl StorageBackend for Backend {
    fn len(&self) -> io::Result<u64> {
        Ok(self.file.lock().unwrap().metadata()?.len())
    }

    fn read(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
        let mut file = self.file.lock().unwrap();
        file.seek(SeekFrom::Start(offset))?;
        file.read_exact(out)
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        self.disk.set_len(&self.file.lock().unwrap(), len)
    }

    fn sync_data(&self) -> io::Result<()> {
        self.disk.sync(&self.file.lock().unwrap())
    }

    fn write(&self, offset: u64, data: &[u8]) -> io::Result<()> {
        let mut file = self.file.lock().unwrap();
        file.seek(SeekFrom::Start(offset))?;
        self.disk.write(&mut file, data)
    }
}

fn redb_on(disk: &Arc<Faulty>, folder: &Path) -> Result<Box<dyn Engine>, EngineError> {
    let file = disk.open(&folder.join("pairs.redb"))?;
    let backend = Backend { disk: Arc::clone(disk), file: Mutex::new(file) };
    let db = redb::Builder::new().create_with_backend(backend);
    match db {
        Ok(db) => Ok(Box::new(Redb::new(db))),
        Err(redb::DatabaseError::Storage(redb::StorageError::Io(error))) => Err(error.into()),
        Err(error) => Err(EngineError::Other(error.to_string())),
    }
}

type OpenOn = fn(&Arc<Faulty>, &Path) -> Result<Box<dyn Engine>, EngineError>;

fn means(disk: &Arc<Faulty>, open: OpenOn) -> Means {
    let on = Arc::clone(disk);
    Means {
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

/// What a store has said is there.
#[derive(Debug, Default)]
struct Acknowledged {
    made: bool,
    snapshots: Vec<u64>,
    entries: Vec<u64>,
    blocks: Vec<u64>,
    finished: bool,
    refused: Vec<StoreError>,
}

/// Uses a store for a while; goes on after errors, except that an entry that was refused ends the journal, as it
/// ends a run.
fn use_store(folder: &Path, means: Means) -> Acknowledged {
    let mut acknowledged = Acknowledged::default();
    let mut store = match Store::create_with(folder, &about(), &options(), means) {
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
            match store.append(format!("entry {next}").as_bytes()) {
                Ok(number) => acknowledged.entries.push(number),
                Err(error) => {
                    acknowledged.refused.push(error);
                    stopped = true;
                }
            }
        }
        let put = store.put_block(&[at as u8], &[at as u8; 200]);
        let cut = cut(at, acknowledged.entries.len() as u64);
        match put.and_then(|()| store.write(cut, &contents(at))) {
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

/// Opens a store on a disk that is sound again and compares.
fn check(folder: &Path, open: OpenOn, acknowledged: &Acknowledged, what: &str) {
    for error in &acknowledged.refused {
        let told = matches!(
            error,
            StoreError::Full { .. }
                | StoreError::Io { .. }
                | StoreError::Broken { .. }
                | StoreError::Engine { .. }
        );
        assert!(told, "{what}: {error:?}");
        assert!(!error.hint().is_empty());
    }
    let sound = Faulty::new(u64::MAX, How::Io, Duty::Once);
    let store = match Store::open_with(folder, &options(), means(&sound, open)) {
        Ok(store) => store,
        Err(error) => {
            assert!(!acknowledged.made, "{what}: {error}");
            // Nothing was made; it can be made now.
            Store::create_with(folder, &about(), &options(), means(&sound, open)).expect(what);
            return;
        }
    };
    assert_eq!(store.about(), &about(), "{what}");
    let newest = match store.newest() {
        Ok(newest) => newest,
        Err(StoreError::NoSnapshot { skipped, .. }) => {
            assert!(acknowledged.snapshots.is_empty(), "{what}: {skipped:?}");
            assert!(skipped.is_empty(), "{what}: {skipped:?}");
            return;
        }
        Err(error) => panic!("{what}: {error}"),
    };
    let last = acknowledged.snapshots.last().copied().unwrap_or(0);
    assert!(newest.cut.records >= last, "{what}: {last} is lost, there is {}", newest.cut.records);
    assert_eq!(newest.skipped, [], "{what}");
    assert_eq!(newest.sections, contents(newest.cut.records), "{what}");
    let found = store.journal(newest.number).expect(what).entries;
    let all = newest.cut.entries + found.len() as u64;
    assert!(all >= acknowledged.entries.len() as u64, "{what}: entries are lost");
    for (number, entry) in (newest.cut.entries..).zip(found) {
        assert_eq!(entry, format!("entry {number}").into_bytes(), "{what}");
    }
    for at in &acknowledged.blocks {
        assert_eq!(store.block(&[*at as u8]).expect(what), [*at as u8; 200], "{what}");
    }
    if acknowledged.finished {
        assert_eq!(store.finished().expect(what).as_deref(), Some(&b"done"[..]), "{what}");
    }
}

/// Lets each single thing that is asked of a disk fail.
fn fail_each(open: OpenOn, hows: &[How], stride: usize) {
    let place = tempfile::tempdir().unwrap();
    let sound = Faulty::new(u64::MAX, How::Io, Duty::Once);
    let acknowledged = use_store(&place.path().join("sound"), means(&sound, open));
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
                let acknowledged = use_store(&folder, means(&disk, open));
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

#[test]
fn every_write_of_redb_can_fail() {
    fail_each(redb_on, &[How::Short], 5);
    fail_each(redb_on, &[How::Io], 17);
}
