//! Checks of a folder in which a store is to be made or opened.

use std::path::Path;

use super::blocks::BLOCKS;
use super::error::StoreError;
use super::finished;
use super::generation;
use super::lock::LOCK;
use super::marker::{self, MARKER, RUN};

/// Refuses a folder for a new store that holds anything.
pub(super) fn refuse_others(folder: &Path) -> Result<(), StoreError> {
    let path = folder.to_owned();
    let names = generation::names(folder)?;
    if names.iter().any(|name| name == MARKER) {
        let (about, _) = marker::read(folder)?;
        let finished = finished::read(folder)?.is_some();
        return Err(StoreError::Occupied { path, title: about.title, finished });
    }
    match names.iter().find(|name| !is_remains(name)) {
        None => Ok(()),
        Some(name) if name == BLOCKS || name.starts_with("snapshot-") => {
            Err(StoreError::Foreign { path, what: format!("it holds `{name}` but no marker") })
        }
        Some(name) => Err(StoreError::Foreign { path, what: format!("it holds `{name}`") }),
    }
}

/// Refuses what is no folder.
pub(super) fn refuse_no_folder(folder: &Path) -> Result<(), StoreError> {
    let path = folder.to_owned();
    if !folder.exists() {
        return Err(StoreError::Absent(path));
    }
    if folder.is_dir() { Ok(()) } else { Err(StoreError::Foreign { path, what: "it is a file".to_owned() }) }
}

/// Refuses a folder that is no store.
pub(super) fn refuse_no_store(folder: &Path) -> Result<(), StoreError> {
    refuse_no_folder(folder)?;
    if folder.join(MARKER).exists() {
        return Ok(());
    }
    if generation::names(folder)?.iter().all(|name| is_remains(name)) {
        return Err(StoreError::Unsaved(folder.to_owned()));
    }
    Err(StoreError::Foreign { path: folder.to_owned(), what: format!("the file `{MARKER}` is not there") })
}

/// Whether a process may leave a file of this name that is killed while it makes a store.
fn is_remains(name: &str) -> bool {
    [LOCK, RUN].contains(&name) || generation::is_leftover(name)
}
