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
    // The remains of a process that was killed while it made a store here.
    let ours = |name: &String| [LOCK, RUN].contains(&name.as_str()) || generation::is_leftover(name);
    match names.iter().find(|name| !ours(name)) {
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
    let names = generation::names(folder)?;
    let what = if names.is_empty() {
        "it is empty: nothing has been saved in it".to_owned()
    } else if names.iter().any(|name| name == RUN || name == LOCK) {
        format!("the file `{MARKER}` is not there; it was being made, or the file was removed")
    } else {
        format!("the file `{MARKER}` is not there")
    };
    Err(StoreError::Foreign { path: folder.to_owned(), what })
}
