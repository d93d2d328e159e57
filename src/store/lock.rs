//! One process at a time uses a store.

use std::fs::{File, TryLockError};
use std::io::{ErrorKind, Write};
use std::path::Path;
use std::thread;
use std::time::Duration;

use super::disk::{Disk, at};
use super::error::StoreError;

/// The file that is locked. It stays there: only the lock tells whether somebody uses the store.
pub(super) const LOCK: &str = "lock";

const PAUSE: Duration = Duration::from_millis(10);

/// Holds the lock of a store until it is dropped.
#[derive(Debug)]
pub(super) struct Lock {
    /// `None` if the store may only be read and was never locked: then nobody can write to it either.
    _file: Option<File>,
}

impl Lock {
    /// Takes the lock, and tries for as long as `patience` if somebody else has it.
    pub(super) fn take(disk: &dyn Disk, folder: &Path, patience: Duration) -> Result<Self, StoreError> {
        let path = folder.join(LOCK);
        let mut writable = true;
        let mut file = match disk.open(&path) {
            Ok(file) => file,
            Err(error)
                if matches!(error.kind(), ErrorKind::PermissionDenied | ErrorKind::ReadOnlyFilesystem) =>
            {
                writable = false;
                match File::open(&path) {
                    Ok(file) => file,
                    Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Self { _file: None }),
                    Err(error) => return Err(at("lock", &path, error)),
                }
            }
            Err(error) => return Err(at("lock", &path, error)),
        };
        let tries = patience.as_millis() / PAUSE.as_millis();
        for left in (0..=tries).rev() {
            match file.try_lock() {
                Ok(()) => {
                    if writable {
                        // Who it is is told for people only: nothing depends on it.
                        let _ = file.set_len(0);
                        let _ = writeln!(file, "{}", std::process::id());
                    }
                    return Ok(Self { _file: Some(file) });
                }
                Err(TryLockError::WouldBlock) if left > 0 => thread::sleep(PAUSE),
                Err(TryLockError::WouldBlock) => break,
                Err(TryLockError::Error(error)) => return Err(at("lock", &path, error)),
            }
        }
        let by = std::fs::read_to_string(&path).ok().and_then(|text| text.trim().parse().ok());
        Err(StoreError::InUse { path: folder.to_owned(), by })
    }
}
