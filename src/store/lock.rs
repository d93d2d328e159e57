//! The lock by which only one process at a time uses a store.

use std::fs::{File, TryLockError};
use std::io::{ErrorKind, Write};
use std::path::Path;
use std::thread;
use std::time::Duration;

use super::disk::{Disk, at, is_read_only};
use super::error::StoreError;

/// The file that is locked. It always stays: only the lock shows whether a process uses the store.
pub(super) const LOCK: &str = "lock";

const PAUSE: Duration = Duration::from_millis(10);

/// Holds the lock of a store until it is dropped.
#[derive(Debug)]
pub(super) struct Lock {
    /// `None` if the store is read-only and was never locked: no process can write to it then.
    file: Option<File>,
}

impl Lock {
    /// Takes the lock, and tries for as long as `patience` if another process has it.
    pub(super) fn take(disk: &dyn Disk, folder: &Path, patience: Duration) -> Result<Self, StoreError> {
        let path = folder.join(LOCK);
        let mut writable = true;
        let mut file = match disk.open(&path) {
            Ok(file) => file,
            Err(error) if is_read_only(&error) => {
                writable = false;
                match File::open(&path) {
                    Ok(file) => file,
                    Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Self { file: None }),
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
                        // The process number is only for messages: nothing depends on it.
                        let _ = file.set_len(0);
                        let _ = writeln!(file, "{}", std::process::id());
                    }
                    return Ok(Self { file: Some(file) });
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

impl Drop for Lock {
    /// Closing the file is not enough: a child process that has been forked and has not yet executed another program
    /// holds a copy of it, and with it the lock.
    fn drop(&mut self) {
        if let Some(file) = &self.file {
            // If this fails, closing the file releases the lock.
            let _ = file.unlock();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::super::disk::RealDisk;
    use super::Lock;

    #[test]
    fn a_copy_of_the_file_does_not_hold_the_lock() {
        let folder = tempfile::tempdir().unwrap();
        let lock = Lock::take(&RealDisk, folder.path(), Duration::ZERO).unwrap();
        let copy = lock.file.as_ref().unwrap().try_clone().unwrap();
        assert!(Lock::take(&RealDisk, folder.path(), Duration::ZERO).is_err());
        drop(lock);
        assert!(Lock::take(&RealDisk, folder.path(), Duration::ZERO).is_ok());
        drop(copy);
    }
}
