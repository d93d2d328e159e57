//! sled 0.34, used as its own issues advise: no background flush, small values, explicit flushes.

use std::collections::BTreeMap;
use std::fs::File;
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

use crate::store::engine::{Engine, EngineError};

/// Values stay below the 128 KiB (a fourth of a segment) from which on sled keeps each in a file of its own.
pub(super) const CHUNK: usize = 100_000;

/// How many bits of the last byte of a key choose its place in a tree rather than its tree.
///
/// sled appends each value to its log, and writes all values of a page again whenever it has gathered ten changes.
/// With at most eight keys a tree that never happens, and a database takes 1.02 to 1.1 times what is in it; in one
/// tree it takes 2 to 3 times as much.
const SHARED_BITS: u32 = 3;

/// The number of times, a millisecond apart, to check whether sled has released its file: 5 seconds in all.
const LOOKS: u32 = 5_000;
const PAUSE: Duration = Duration::from_millis(1);

#[derive(Debug)]
struct Sled {
    folder: PathBuf,
    db: sled::Db,
    /// The existing trees: opening a tree that does not exist would make it.
    trees: BTreeMap<Vec<u8>, sled::Tree>,
    /// Whether there is one tree only.
    even: bool,
}

/// Opens the database in this folder; if it is `even`, with all keys in one tree. Keys that are hashes would each have a tree of their
/// own, and a tree costs more than the pages that are written again.
pub(super) fn open(folder: &Path, even: bool) -> Result<Box<dyn Engine>, EngineError> {
    remove_unfinished(folder)?;
    guard(|| {
        let db = sled::Config::new()
            .path(folder)
            .flush_every_ms(None)
            // A snapshot is written once and read once, so a cache of pages has no use.
            .cache_capacity(8 << 20)
            .open()?;
        let names = db.tree_names().into_iter().filter(|name| name.starts_with(PREFIX));
        let trees = names.map(|name| Ok((name.to_vec(), db.open_tree(&name)?)));
        let trees = trees.collect::<sled::Result<_>>()?;
        Ok(Box::new(Sled { folder: folder.to_owned(), db, trees, even }) as Box<dyn Engine>)
    })
}

/// Removes what sled was writing when its process was killed, and would take for whole.
///
/// Snapshots of its own index have their name once they are whole, but it takes the remains of one for the newest, and then its file for corrupted (its
/// issue 1527). It has the one before, or makes one from its log. Its settings are written once, before there is anything in its file.
fn remove_unfinished(folder: &Path) -> io::Result<()> {
    let is_empty = std::fs::metadata(folder.join("db")).map_or(true, |file| file.len() == 0);
    for entry in std::fs::read_dir(folder)? {
        let path = entry?.path();
        let name = path.file_name().map(|name| name.to_string_lossy());
        let is_unfinished = |name: &str| name.starts_with("snap.") && name.ends_with(".generating");
        if name.is_some_and(|name| is_unfinished(&name) || (is_empty && name == "conf")) {
            std::fs::remove_file(&path)?;
        }
    }
    Ok(())
}

/// The prefix of the store's trees; sled has some of its own.
const PREFIX: &[u8] = b"keys ";

impl Sled {
    /// The tree that holds a key.
    fn tree_of(&self, key: &[u8]) -> Vec<u8> {
        if self.even {
            return PREFIX.to_vec();
        }
        let mut name = [PREFIX, key].concat();
        if let (false, Some(last)) = (key.is_empty(), name.last_mut()) {
            *last >>= SHARED_BITS;
        }
        name
    }
}

impl Engine for Sled {
    fn put(&mut self, key: &[u8], value: &[u8]) -> Result<(), EngineError> {
        guard(|| {
            let name = self.tree_of(key);
            let tree = match self.trees.get(&name) {
                Some(tree) => tree,
                None => {
                    let tree = self.db.open_tree(&name)?;
                    self.trees.entry(name).or_insert(tree)
                }
            };
            tree.insert(key, value).map(drop)
        })
    }

    fn get(&self, key: &[u8]) -> Result<Option<Vec<u8>>, EngineError> {
        let Some(tree) = self.trees.get(&self.tree_of(key)) else { return Ok(None) };
        guard(|| Ok(tree.get(key)?.map(|value| value.to_vec())))
    }

    fn keys(&self, prefix: &[u8]) -> Result<Vec<Vec<u8>>, EngineError> {
        let mut keys = Vec::new();
        for tree in self.trees.values() {
            let found: Vec<_> = guard(|| tree.scan_prefix(prefix).keys().collect::<sled::Result<_>>())?;
            keys.extend(found.iter().map(|key| key.to_vec()));
        }
        keys.sort_unstable();
        Ok(keys)
    }

    fn flush(&mut self) -> Result<(), EngineError> {
        guard(|| self.db.flush().map(drop))
    }

    /// Dropping the handle is not enough: threads of sled may hold the database for a moment longer, and with it
    /// the lock on its file. Once this lock can be taken, they are gone.
    fn close(self: Box<Self>) -> Result<(), EngineError> {
        let Self { folder, db, trees, even: _ } = *self;
        guard(move || {
            drop((trees, db));
            Ok(())
        })?;
        let file = File::open(folder.join("db"))?;
        for _ in 0..LOOKS {
            match file.try_lock() {
                Ok(()) => return Ok(()),
                Err(std::fs::TryLockError::WouldBlock) => thread::sleep(PAUSE),
                Err(std::fs::TryLockError::Error(error)) => return Err(error.into()),
            }
        }
        Err(EngineError::Io(io::Error::new(io::ErrorKind::TimedOut, "sled does not let go of its file")))
    }
}

/// Calls sled, and turns a panic into an error: sled panics on some errors of the disk.
fn guard<T>(call: impl FnOnce() -> sled::Result<T>) -> Result<T, EngineError> {
    match catch_unwind(AssertUnwindSafe(call)) {
        Ok(done) => done.map_err(EngineError::from),
        Err(panic) => {
            let message = panic.downcast_ref::<String>().cloned();
            let message = message.or_else(|| panic.downcast_ref::<&str>().map(|&text| text.to_owned()));
            Err(EngineError::Panicked(message.unwrap_or_else(|| "no message".to_owned())))
        }
    }
}

impl From<sled::Error> for EngineError {
    fn from(error: sled::Error) -> Self {
        match error {
            sled::Error::Io(error) => Self::Io(error),
            sled::Error::Corruption { .. } => Self::Damaged("sled finds its file corrupted".to_owned()),
            other => Self::Other(other.to_string()),
        }
    }
}
