//! Removal of a store.

use std::path::Path;
use std::time::Duration;

use super::blocks::BLOCKS;
use super::disk::{self, Disk, RealDisk};
use super::error::StoreError;
use super::finished::FINISHED;
use super::folder::Store;
use super::generation;
use super::journal;
use super::lock::Lock;
use super::marker::{MARKER, RUN};

impl Store {
    /// Removes the store in `folder`, whatever state it is in, and nothing else that is there; the empty folder stays. Nothing happens
    /// if there is no store.
    ///
    /// # Errors
    /// [`StoreError::InUse`], and errors of the file system; the call can be repeated then.
    pub fn clear(folder: &Path, patience: Duration) -> Result<(), StoreError> {
        let disk = RealDisk;
        if !folder.join(MARKER).exists() {
            return Ok(());
        }
        let _lock = Lock::take(&disk, folder, patience)?;
        let names = generation::names(folder)?;
        let is_snapshot = |name: &str| generation::number_of(name).is_some() || generation::is_leftover(name);
        let is_file = |name: &str| name == BLOCKS || name == FINISHED || name.starts_with(journal::PREFIX);
        // Without the marker the folder is no store any more, so the marker goes last, before files that can stay without harm.
        let parts = names.iter().filter(|name| is_snapshot(name) || is_file(name)).map(String::as_str);
        for name in parts.chain([MARKER, RUN]) {
            let path = folder.join(name);
            if !path.exists() {
                continue;
            }
            let removed = if path.is_dir() { disk.remove_folder(&path) } else { disk.remove_file(&path) };
            removed.map_err(|source| disk::at("remove", &path, source))?;
        }
        Ok(())
    }
}
