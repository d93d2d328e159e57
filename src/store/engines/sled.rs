//! sled 0.34, used as its own issues advise: no background flush, small values, explicit flushes.

use std::fs::File;
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

use crate::store::engine::{Engine, EngineError};

/// Values stay far below the 128 KiB from which on sled keeps each in a file of its own.
pub(super) const CHUNK: usize = 60 * 1024;

/// How often, and how long apart, to look whether sled has let go of its file: 5 seconds in all.
const LOOKS: u32 = 5_000;
const PAUSE: Duration = Duration::from_millis(1);

#[derive(Debug)]
struct Sled {
    folder: PathBuf,
    db: sled::Db,
}

/// Opens the database in this folder.
pub(super) fn open(folder: &Path) -> Result<Box<dyn Engine>, EngineError> {
    guard(|| {
        let config = sled::Config::new()
            .path(folder)
            .flush_every_ms(None)
            // A snapshot is written once and read once: nothing is gained by keeping pages.
            .cache_capacity(8 << 20)
            .open()?;
        Ok(Box::new(Sled { folder: folder.to_owned(), db: config }) as Box<dyn Engine>)
    })
}

impl Engine for Sled {
    fn put(&mut self, key: &[u8], value: &[u8]) -> Result<(), EngineError> {
        guard(|| self.db.insert(key, value).map(drop))
    }

    fn get(&self, key: &[u8]) -> Result<Option<Vec<u8>>, EngineError> {
        guard(|| Ok(self.db.get(key)?.map(|value| value.to_vec())))
    }

    fn remove(&mut self, key: &[u8]) -> Result<(), EngineError> {
        guard(|| self.db.remove(key).map(drop))
    }

    fn keys(&self, prefix: &[u8]) -> Result<Vec<Vec<u8>>, EngineError> {
        guard(|| self.db.scan_prefix(prefix).keys().map(|key| Ok(key?.to_vec())).collect())
    }

    fn flush(&mut self) -> Result<(), EngineError> {
        guard(|| self.db.flush().map(drop))
    }

    /// Dropping the handle is not enough: threads of sled may hold the database for a moment longer, and with it
    /// the lock on its file. Whoever gets that lock knows that they are gone.
    fn close(self: Box<Self>) -> Result<(), EngineError> {
        let Self { folder, db } = *self;
        guard(move || {
            drop(db);
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

/// Calls sled. Where it panics, which it does on some errors of the disk, that is an error.
fn guard<T>(call: impl FnOnce() -> sled::Result<T>) -> Result<T, EngineError> {
    match catch_unwind(AssertUnwindSafe(call)) {
        Ok(done) => done.map_err(EngineError::from),
        Err(panic) => {
            let said = panic.downcast_ref::<String>().cloned();
            let said = said.or_else(|| panic.downcast_ref::<&str>().map(|&text| text.to_owned()));
            Err(EngineError::Panicked(said.unwrap_or_else(|| "no message".to_owned())))
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
