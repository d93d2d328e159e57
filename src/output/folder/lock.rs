//! The lock by which only one run at a time writes a folder.

use std::fs::{self, File, TryLockError};
use std::io::Write;
use std::path::{Path, PathBuf};

use crate::output::OutputError;

/// The file that is locked while a run writes the folder.
const LOCK: &str = "run.lock";

/// How often the file is locked anew because the run before has removed it meanwhile.
const TRIES: usize = 8;

/// Holds the lock of a folder until it is dropped, and then removes its file.
#[derive(Debug)]
pub(super) struct FolderLock {
    file: File,
    path: PathBuf,
}

impl FolderLock {
    /// Takes the lock. A file system without locks gives it to everyone.
    ///
    /// # Errors
    /// [`OutputError::InUse`] if another run has it; [`OutputError::Place`] if its file cannot be written.
    pub(super) fn take(folder: &Path) -> Result<Self, OutputError> {
        let path = folder.join(LOCK);
        let own = std::process::id().to_string();
        let mut tries = 0;
        loop {
            tries += 1;
            let mut options = File::options();
            let opened = options.create(true).truncate(false).write(true).open(&path);
            let mut file = opened.map_err(OutputError::place("lock", &path))?;
            if let Err(TryLockError::WouldBlock) = file.try_lock() {
                let by = fs::read_to_string(&path).ok().and_then(|text| text.trim().parse().ok());
                return Err(OutputError::InUse { path: folder.to_owned(), by });
            }
            // The process number is only for messages, and shows that the locked file is still the one at the path.
            let _ = file.set_len(0).and_then(|()| file.write_all(own.as_bytes()));
            if tries == TRIES || fs::read_to_string(&path).is_ok_and(|text| text == own) {
                return Ok(Self { file, path });
            }
        }
    }
}

impl Drop for FolderLock {
    fn drop(&mut self) {
        // A file that stays does no harm.
        let _ = fs::remove_file(&self.path);
        let _ = self.file.unlock();
    }
}
