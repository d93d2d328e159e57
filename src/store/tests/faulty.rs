//! A disk that fails on request, and databases on it.

use std::collections::BTreeMap;
use std::fs::{self, File, OpenOptions};
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use crate::store::disk::Disk;
use crate::store::{Engine, EngineError};

/// The kind of a failure.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(super) enum How {
    /// No space is left, after half of the bytes have been written.
    Short,
    /// The device does not answer.
    Io,
    /// Power is lost: what was not synced is as if it had never been written or renamed.
    PowerLoss,
}

/// The duration of a failure.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(super) enum Duty {
    /// A single operation fails.
    Once,
    /// All operations fail from then on.
    FromThenOn,
}

/// A disk that fails at the n-th operation.
#[derive(Debug)]
pub(super) struct Faulty {
    at: u64,
    how: How,
    duty: Duty,
    state: Mutex<Ledger>,
}

/// The operations of a disk so far.
#[derive(Debug, Default)]
struct Ledger {
    asked: u64,
    /// The content of each file at its last sync; `None` for one that was not there.
    synced: BTreeMap<PathBuf, Option<Vec<u8>>>,
    /// Renames whose folder has not been synced since: from, to, and the former content of `to`.
    renames: Vec<(PathBuf, PathBuf, Option<Vec<u8>>)>,
}

impl Faulty {
    pub(super) fn new(at: u64, how: How, duty: Duty) -> Arc<Self> {
        Arc::new(Self { at, how, duty, state: Mutex::default() })
    }

    /// Counts an operation, and fails it if it is due to fail.
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

    pub(super) fn asked(&self) -> u64 {
        self.state.lock().unwrap().asked
    }

    /// Restores the contents of the disk after a loss of power.
    pub(super) fn lose_power(&self) {
        let state = self.state.lock().unwrap();
        for (from, to, before) in state.renames.iter().rev() {
            // A folder or file that was renamed since the last sync of its parent is back at its old place.
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
        // Content that was written to the file and not synced is lost with its name.
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

/// A simple engine: a map that each flush writes to one file. Every operation can fail.
#[derive(Debug)]
pub(super) struct Plain {
    disk: Arc<Faulty>,
    path: PathBuf,
    map: BTreeMap<Vec<u8>, Vec<u8>>,
}

impl Plain {
    pub(super) fn open(disk: &Arc<Faulty>, folder: &Path) -> Result<Box<dyn Engine>, EngineError> {
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
