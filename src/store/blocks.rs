//! Blocks: bytes that are written once and that many snapshots share.
//!
//! They are in one file, in the order in which they were put. A snapshot needs those that were there when it was
//! taken, which its [`Mark`] records.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::{Xxh3, xxh3_128};

use super::disk::{self, Disk};
use super::error::{Part, StoreError};
use super::log::{self, Log, Rest};

/// The file of blocks.
pub(super) const BLOCKS: &str = "blocks";

/// The blocks that a snapshot needs: the first so many, with this hash of their hashes.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Mark {
    pub(super) count: u64,
    pub(super) hash: String,
}

/// The blocks of a store.
#[derive(Debug)]
pub(super) struct Blocks {
    disk: Arc<dyn Disk>,
    path: PathBuf,
    /// The file, opened for appending by the first put.
    log: Option<Log>,
    by_id: BTreeMap<Vec<u8>, Place>,
    /// For each number of blocks: their end in the file, and the hash of their hashes.
    ends: Vec<(u64, u128)>,
    /// The damage of the block that follows the last readable one, if it is damaged.
    damage: Option<String>,
    /// Whether a block has been put since the last sync.
    fresh: bool,
    /// Whether snapshots from now on need none of them.
    released: bool,
}

/// The position of a block in the file.
#[derive(Copy, Clone, Debug)]
struct Place {
    number: u64,
    start: u64,
    len: usize,
    hash: u128,
}

impl Blocks {
    /// Finds the blocks of a store.
    pub(super) fn open(disk: Arc<dyn Disk>, folder: &Path) -> Result<Self, StoreError> {
        let path = folder.join(BLOCKS);
        let mut blocks = Self {
            disk,
            path,
            log: None,
            by_id: BTreeMap::new(),
            ends: Vec::new(),
            damage: None,
            fresh: false,
            released: false,
        };
        let Some((bytes, scan)) = log::load(&blocks.path, 0)? else { return Ok(blocks) };
        for entry in &scan.entries {
            let body = &bytes[entry.range.clone()];
            let Some((id, content)) = entry.intact.then(|| split(body)).flatten() else {
                blocks.damage = Some(format!("has another content at byte {}", entry.range.start));
                break;
            };
            let start = (entry.range.end - content.len()) as u64;
            let place = Place { number: 0, start, len: content.len(), hash: xxh3_128(content) };
            // The hash of an entry follows its bytes.
            blocks.know(id.to_vec(), place, entry.hash, entry.range.end as u64 + 16);
        }
        if let (None, Rest::Damaged(why)) = (&blocks.damage, scan.rest) {
            blocks.damage = Some(why);
        }
        Ok(blocks)
    }

    fn know(&mut self, id: Vec<u8>, place: Place, hash: u128, end: u64) {
        let number = self.ends.len() as u64;
        let mut all = Xxh3::new();
        all.update(&self.ends.last().map_or(0, |&(_, hash)| hash).to_le_bytes());
        all.update(&hash.to_le_bytes());
        self.ends.push((end, all.digest128()));
        self.by_id.insert(id, Place { number, ..place });
    }

    /// Puts a block; it is durable after [`sync`](Self::sync). Nothing happens if it exists.
    pub(super) fn put(&mut self, id: &[u8], bytes: &[u8]) -> Result<(), StoreError> {
        let hash = xxh3_128(bytes);
        self.released = false;
        if let Some(place) = self.by_id.get(id) {
            return if place.hash == hash && place.len == bytes.len() {
                Ok(())
            } else {
                Err(StoreError::OtherBlock(self.path.clone()))
            };
        }
        let mut body = Vec::with_capacity(4 + id.len() + bytes.len());
        body.extend_from_slice(&(id.len() as u32).to_le_bytes());
        body.extend_from_slice(id);
        body.extend_from_slice(bytes);
        let log = match &mut self.log {
            Some(log) => log,
            none => none.insert(match self.ends.last() {
                Some(&(end, _)) => Log::resume(&self.disk, &self.path, end, self.ends.len() as u64)?,
                None => Log::create(&self.disk, &self.path, 0)?,
            }),
        };
        let start = log.end() + 8 + (body.len() - bytes.len()) as u64;
        let entry = log.append(&body)?;
        let end = log.end();
        self.damage = None;
        self.fresh = true;
        self.know(id.to_vec(), Place { number: 0, start, len: bytes.len(), hash }, entry, end);
        Ok(())
    }

    /// A block, with its hash checked.
    pub(super) fn get(&self, id: &[u8]) -> Result<Vec<u8>, StoreError> {
        let Some(place) = self.by_id.get(id) else {
            return Err(match &self.damage {
                Some(why) => self.damaged(self.ends.len() as u64, why),
                None => StoreError::NoBlock(self.path.clone()),
            });
        };
        let mut bytes = vec![0; place.len];
        let read = File::open(&self.path).and_then(|mut file| {
            file.seek(SeekFrom::Start(place.start))?;
            file.read_exact(&mut bytes)
        });
        read.map_err(|source| disk::at("read", &self.path, source))?;
        if xxh3_128(&bytes) == place.hash {
            Ok(bytes)
        } else {
            Err(self.damaged(place.number, &format!("has another content at byte {}", place.start)))
        }
    }

    /// Waits until all blocks are on the disk.
    pub(super) fn sync(&mut self) -> Result<(), StoreError> {
        if let (true, Some(log)) = (self.fresh, &mut self.log) {
            log.sync()?;
            self.fresh = false;
        }
        Ok(())
    }

    /// Declares that snapshots need none of the present blocks, until another block is put.
    pub(super) const fn release(&mut self) {
        self.released = true;
    }

    /// Whether there are blocks that snapshots from now on do not need.
    pub(super) fn are_released(&self) -> bool {
        self.released && !self.ends.is_empty()
    }

    /// The blocks that a snapshot needs that is taken now.
    pub(super) fn mark(&self) -> Mark {
        if self.released {
            return Mark::default();
        }
        self.ends.last().map_or_else(Mark::default, |&(_, hash)| Mark {
            count: self.ends.len() as u64,
            hash: format!("{hash:032x}"),
        })
    }

    /// Checks that the blocks that a snapshot needs are there.
    pub(super) fn check(&self, mark: &Mark) -> Result<(), StoreError> {
        let Some(last) = mark.count.checked_sub(1) else { return Ok(()) };
        let Some(&(_, hash)) = self.ends.get(last as usize) else {
            let count = self.ends.len() as u64;
            if let Some(why) = &self.damage {
                return Err(self.damaged(count, why));
            }
            let why = format!("has {count} of the {} blocks that are needed", mark.count);
            return Err(StoreError::CutShort { part: Part::Block(count), path: self.path.clone(), why });
        };
        if format!("{hash:032x}") == mark.hash {
            Ok(())
        } else {
            Err(self.damaged(last, "has other blocks than the snapshot was taken with"))
        }
    }

    /// Removes the blocks that came after a snapshot.
    pub(super) fn truncate(&mut self, mark: &Mark) -> Result<(), StoreError> {
        let count = mark.count.min(self.ends.len() as u64);
        if count == 0 {
            return self.clear();
        }
        self.ends.truncate(count as usize);
        self.by_id.retain(|_, place| place.number < count);
        let Some(&(end, _)) = self.ends.last() else { return Ok(()) };
        self.log = Some(Log::resume(&self.disk, &self.path, end, count)?);
        self.damage = None;
        Ok(())
    }

    /// Removes all blocks.
    pub(super) fn clear(&mut self) -> Result<(), StoreError> {
        self.log = None;
        self.by_id.clear();
        self.ends.clear();
        self.damage = None;
        (self.fresh, self.released) = (false, false);
        let there = fs::exists(&self.path).map_err(|source| disk::at("read", &self.path, source))?;
        if there { disk::remove(&*self.disk, &self.path) } else { Ok(()) }
    }

    fn damaged(&self, number: u64, why: &str) -> StoreError {
        StoreError::Damaged { part: Part::Block(number), path: self.path.clone(), why: why.to_owned() }
    }
}

fn split(body: &[u8]) -> Option<(&[u8], &[u8])> {
    let (len, rest) = body.split_first_chunk::<4>()?;
    rest.split_at_checked(u32::from_le_bytes(*len) as usize)
}
