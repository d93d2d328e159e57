//! The results of a campaign: the result of each run, by the hash of everything that it depends on.
//!
//! This is another kind of folder than the [`Store`](super::Store), which keeps the snapshots of one run: one database that grows, opened
//! in place by one process at a time. The writer defines what the bytes mean. This module guarantees that a result that was
//! [put](ResultStore::put) and flushed is there after a kill, that a damaged result is never returned (each carries a hash), and that no
//! two processes and no two campaigns share a store.
//!
//! ```text
//! STORE/
//!   gridemu-campaign        the marker: what this is, its layout, its engine, which campaign it is of
//!   lock                    held by the process that uses the store
//!   data                    the database
//! ```
//!
//! The marker comes last when a store is made, so a folder without one holds nothing that was acknowledged.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::xxh3_64;

use super::disk::{self, RealDisk, engine_at};
use super::engine::Engine;
use super::engines::EngineKind;
use super::error::{Part, StoreError};
use super::generation;
use super::lock::{LOCK, Lock};
use super::marker::MARKER as OF_A_RUN;
use super::place;
use super::text;

/// The file that makes a folder a store of results.
const MARKER: &str = "gridemu-campaign";
const DATA: &str = "data";
const DRAFT: &str = "data.part";
/// The present layout.
const LAYOUT: u32 = 1;

const WHAT: &str = "results of a campaign of gridemu, see `gridemu campaign`";
/// The prefix of the keys of results.
const PREFIX: &[u8] = b"result ";

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Marker {
    what: String,
    layout: u32,
    program: String,
    engine: String,
    campaign: String,
}

/// The results of one campaign, open in this process and in no other.
#[derive(Debug)]
pub struct ResultStore {
    folder: PathBuf,
    /// `None` once it is closed.
    engine: Option<Box<dyn Engine>>,
    _lock: Lock,
}

impl ResultStore {
    /// Opens the results of `campaign` in `folder`; in a folder that does not exist or is empty it makes them, in the database `engine`.
    ///
    /// # Errors
    /// [`StoreError::OtherCampaign`], [`StoreError::Foreign`] if there is something else, [`StoreError::InUse`],
    /// [`StoreError::Newer`], damage of the marker, and errors of the file system.
    pub fn open_or_create(
        folder: &Path,
        campaign: &str,
        engine: EngineKind,
        patience: Duration,
    ) -> Result<Self, StoreError> {
        fs::create_dir_all(folder).map_err(|source| disk::at("create the folder", folder, source))?;
        refuse_others(folder)?;
        let lock = Lock::take(&RealDisk, folder, patience)?;
        if !folder.join(MARKER).exists() {
            create(folder, campaign, engine)?;
        }
        Self::of(folder, Some(campaign), lock)
    }

    /// Opens existing results, of `campaign` if one is given.
    ///
    /// # Errors
    /// [`StoreError::Absent`], and as [`ResultStore::open_or_create`].
    pub fn open(folder: &Path, campaign: Option<&str>, patience: Duration) -> Result<Self, StoreError> {
        place::refuse_no_folder(folder)?;
        refuse_others(folder)?;
        if !folder.join(MARKER).exists() {
            let what = "it holds no results of a campaign".to_owned();
            return Err(StoreError::Foreign { path: folder.to_owned(), what });
        }
        Self::of(folder, campaign, Lock::take(&RealDisk, folder, patience)?)
    }

    fn of(folder: &Path, wanted: Option<&str>, lock: Lock) -> Result<Self, StoreError> {
        let (marker, text) = text::read_marker::<Marker>(folder, MARKER, LAYOUT..=LAYOUT)?;
        let engine: EngineKind = marker.engine.parse().map_err(|why: String| text.damaged(why))?;
        if let Some(wanted) = wanted.filter(|wanted| *wanted != marker.campaign) {
            let path = folder.to_owned();
            return Err(StoreError::OtherCampaign { path, of: marker.campaign, wanted: wanted.to_owned() });
        }
        let data = folder.join(DATA);
        let engine = engine.open_even(&data).map_err(|error| engine_at("open", &data, error))?;
        Ok(Self { folder: folder.to_owned(), engine: Some(engine), _lock: lock })
    }

    /// Whether there are results of a campaign in `folder`.
    pub fn is_at(folder: &Path) -> bool {
        folder.join(MARKER).is_file()
    }

    /// The folder of the results.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Stores the result of `key`, and replaces an earlier one. It survives a kill once
    /// [`flush`](Self::flush) has returned.
    ///
    /// # Errors
    /// Errors of the database.
    pub fn put(&mut self, key: u128, result: &[u8]) -> Result<(), StoreError> {
        let value = [&xxh3_64(result).to_le_bytes()[..], result].concat();
        let folder = &self.folder;
        let engine = open(&mut self.engine, folder)?;
        engine.put(&bytes_of(key), &value).map_err(|error| engine_at("write to", folder, error))
    }

    /// Syncs all results.
    ///
    /// # Errors
    /// Errors of the database.
    pub fn flush(&mut self) -> Result<(), StoreError> {
        let folder = &self.folder;
        open(&mut self.engine, folder)?.flush().map_err(|error| engine_at("write to", folder, error))
    }

    /// The result of `key`, if it exists.
    ///
    /// # Errors
    /// [`StoreError::Damaged`] if it is not what was written, and errors of the database.
    pub fn get(&self, key: u128) -> Result<Option<Vec<u8>>, StoreError> {
        let Some(engine) = &self.engine else { return Ok(None) };
        let found = engine.get(&bytes_of(key)).map_err(|error| engine_at("read", &self.folder, error))?;
        let Some(mut value) = found else { return Ok(None) };
        let damaged =
            |why: String| StoreError::Damaged { part: Part::Result(key), path: self.folder.join(DATA), why };
        let Some((hash, result)) = value.split_first_chunk::<8>() else {
            return Err(damaged("has no hash".to_owned()));
        };
        if xxh3_64(result) != u64::from_le_bytes(*hash) {
            return Err(damaged("is not what was written".to_owned()));
        }
        value.drain(..8);
        Ok(Some(value))
    }

    /// The keys of all results, in order.
    ///
    /// # Errors
    /// Errors of the database.
    pub fn keys(&self) -> Result<Vec<u128>, StoreError> {
        let Some(engine) = &self.engine else { return Ok(Vec::new()) };
        let keys = engine.keys(PREFIX).map_err(|error| engine_at("read", &self.folder, error))?;
        let number = |key: &[u8]| key.strip_prefix(PREFIX)?.try_into().ok().map(u128::from_be_bytes);
        Ok(keys.iter().filter_map(|key| number(key)).collect())
    }

    /// Closes the database. When it returns, nothing writes to the store any more.
    ///
    /// # Errors
    /// Errors of the database.
    pub fn close(mut self) -> Result<(), StoreError> {
        let closed = self.engine.take().map_or(Ok(()), |engine| engine.close());
        closed.map_err(|error| engine_at("close", &self.folder, error))
    }
}

impl Drop for ResultStore {
    /// Waits until the database has released its files, so that the store can be opened again at once.
    fn drop(&mut self) {
        if let Some(engine) = self.engine.take() {
            // Acknowledged results have been flushed, and there is no caller to report an error to.
            let _ = engine.close();
        }
    }
}

fn open<'a>(
    engine: &'a mut Option<Box<dyn Engine>>,
    folder: &Path,
) -> Result<&'a mut Box<dyn Engine>, StoreError> {
    engine.as_mut().ok_or_else(|| StoreError::Broken(folder.to_owned()))
}

fn bytes_of(key: u128) -> Vec<u8> {
    [PREFIX, &key.to_be_bytes()].concat()
}

/// Makes the database, then the marker: from then on the folder is a store.
fn create(folder: &Path, campaign: &str, kind: EngineKind) -> Result<(), StoreError> {
    let (draft, data) = (folder.join(DRAFT), folder.join(DATA));
    // The remains of a process that was killed while it made a store here.
    for leftover in [&draft, &data] {
        if leftover.exists() {
            disk::remove(&RealDisk, leftover)?;
        }
    }
    fs::create_dir(&draft).map_err(|source| disk::at("create the folder", &draft, source))?;
    let failed = |error| engine_at("create", &draft, error);
    let mut engine = kind.open_even(&draft).map_err(failed)?;
    engine.flush().map_err(failed)?;
    engine.close().map_err(failed)?;
    fs::rename(&draft, &data).map_err(|source| disk::at("rename", &draft, source))?;
    let marker = Marker {
        what: WHAT.to_owned(),
        layout: LAYOUT,
        program: env!("CARGO_PKG_VERSION").to_owned(),
        engine: kind.to_string(),
        campaign: campaign.to_owned(),
    };
    // This syncs the folder, so the name of the database is on the disk before the marker.
    text::write(&RealDisk, &folder.join(MARKER), &marker)
}

/// Refuses a folder that holds anything else.
fn refuse_others(folder: &Path) -> Result<(), StoreError> {
    let path = folder.to_owned();
    let names = generation::names(folder)?;
    if names.iter().any(|name| name == MARKER) {
        return Ok(());
    }
    if names.iter().any(|name| name == OF_A_RUN) {
        let what = "it keeps the snapshots of one run; results of a campaign need a folder of their own";
        return Err(StoreError::Foreign { path, what: what.to_owned() });
    }
    let ours = |name: &String| [LOCK, DATA].contains(&name.as_str()) || generation::is_leftover(name);
    match names.iter().find(|name| !ours(name)) {
        None => Ok(()),
        Some(name) => Err(StoreError::Foreign { path, what: format!("it holds `{name}`") }),
    }
}
