//! A file that is only ever appended to, in which every entry says itself whether it is whole.
//!
//! ```text
//! file   = "gridelog" first:u64 check:u64 entry*        check = xxh3-64 of what stands before it
//! entry  = length:u32 check:u32 bytes hash:u128         check = of number and length; hash = of number and bytes
//! ```
//!
//! Numbers count on from `first`; all integers are little-endian. The length has a check of its own, so that a file
//! that ends too early (a write was torn by a kill) can be told from one in which a length was changed.

use std::fs::{self, File};
use std::io::{ErrorKind, Seek, SeekFrom};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use xxhash_rust::xxh3::{Xxh3, xxh3_64};

use super::disk::{self, Disk};
use super::error::StoreError;

const MAGIC: &[u8; 8] = b"gridelog";
const HEADER: usize = 24;
const HEAD: usize = 8;
const HASH: usize = 16;

/// A file that can be appended to.
#[derive(Debug)]
pub(super) struct Log {
    disk: Arc<dyn Disk>,
    path: PathBuf,
    file: File,
    /// Where the next entry goes.
    end: u64,
    /// The number of the next entry.
    next: u64,
    /// An append has failed, and what it left could not be taken back.
    broken: bool,
}

/// What a file of entries holds.
#[derive(Debug, Default)]
pub(super) struct Scan {
    /// The entries, in order, as far as their lengths can be believed.
    pub(super) entries: Vec<Entry>,
    /// Where the last of them ends.
    pub(super) end: u64,
    /// What follows them.
    pub(super) rest: Rest,
}

/// An entry of a file.
#[derive(Debug)]
pub(super) struct Entry {
    /// Where its bytes are.
    pub(super) range: Range<usize>,
    /// The hash that it has.
    pub(super) hash: u128,
    /// Whether that is the hash that it should have.
    pub(super) intact: bool,
}

/// What follows the last entry of a file.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) enum Rest {
    /// Nothing.
    #[default]
    Nothing,
    /// An entry that was not written to its end.
    Torn,
    /// Something that is no entry.
    Damaged(String),
}

impl Log {
    /// Makes a file whose first entry has this number, in the place of what is there.
    pub(super) fn create(disk: &Arc<dyn Disk>, path: &Path, first: u64) -> Result<Self, StoreError> {
        let fail = |source| disk::at("create", path, source);
        let mut file = disk.open(path).map_err(fail)?;
        disk.set_len(&file, 0).map_err(fail)?;
        disk.write(&mut file, &header_of(first)).map_err(fail)?;
        disk.sync(&file).map_err(fail)?;
        path.parent().map_or(Ok(()), |folder| disk.sync_folder(folder)).map_err(fail)?;
        let (disk, path) = (Arc::clone(disk), path.to_owned());
        Ok(Self { disk, path, file, end: HEADER as u64, next: first, broken: false })
    }

    /// Goes on after the entry that ends at `end`; what follows it is cut off. `next` is the next entry's number.
    pub(super) fn resume(disk: &Arc<dyn Disk>, path: &Path, end: u64, next: u64) -> Result<Self, StoreError> {
        let fail = |source| disk::at("open", path, source);
        let mut file = disk.open(path).map_err(fail)?;
        if file.metadata().map_err(fail)?.len() != end {
            disk.set_len(&file, end).map_err(fail)?;
            disk.sync(&file).map_err(fail)?;
        }
        file.seek(SeekFrom::Start(end)).map_err(fail)?;
        Ok(Self { disk: Arc::clone(disk), path: path.to_owned(), file, end, next, broken: false })
    }

    /// Appends an entry and returns its hash. It is durable after [`sync`](Self::sync).
    pub(super) fn append(&mut self, bytes: &[u8]) -> Result<u128, StoreError> {
        if self.broken {
            return Err(StoreError::Broken { path: self.path.clone() });
        }
        let fail = |source| disk::at("write", &self.path, source);
        let len = u32::try_from(bytes.len()).map_err(|_| fail(ErrorKind::FileTooLarge.into()))?;
        let hash = hash_of(self.next, bytes);
        let mut entry = Vec::with_capacity(HEAD + bytes.len() + HASH);
        entry.extend_from_slice(&len.to_le_bytes());
        entry.extend_from_slice(&check_of(self.next, len).to_le_bytes());
        entry.extend_from_slice(bytes);
        entry.extend_from_slice(&hash.to_le_bytes());
        if let Err(source) = self.disk.write(&mut self.file, &entry) {
            // Half an entry must not stand in front of a later one.
            let back = self.disk.set_len(&self.file, self.end);
            let back = back.and_then(|()| self.file.seek(SeekFrom::Start(self.end)));
            self.broken = back.is_err();
            return Err(disk::at("write", &self.path, source));
        }
        self.end += entry.len() as u64;
        self.next += 1;
        Ok(hash)
    }

    /// Waits until the disk has all entries.
    pub(super) fn sync(&mut self) -> Result<(), StoreError> {
        if self.broken {
            return Err(StoreError::Broken { path: self.path.clone() });
        }
        self.disk.sync(&self.file).map_err(|source| {
            // After a failed sync nobody knows what the disk has, and a second one would claim success.
            self.broken = true;
            disk::at("write", &self.path, source)
        })
    }

    /// Appends an entry and waits until the disk has it. If that fails, it is taken back as far as that goes.
    pub(super) fn append_durably(&mut self, bytes: &[u8]) -> Result<(), StoreError> {
        let end = self.end;
        self.append(bytes)?;
        self.sync().inspect_err(|_| {
            // The file takes no more entries, but this one must not be taken for one that was used.
            let _ = self.disk.set_len(&self.file, end);
        })
    }

    /// How long the file is.
    pub(super) const fn end(&self) -> u64 {
        self.end
    }
}

/// Reads a file of entries, the first of which should have the number `first`; `None` if there is none.
pub(super) fn load(path: &Path, first: u64) -> Result<Option<(Vec<u8>, Scan)>, StoreError> {
    match fs::read(path) {
        Ok(bytes) => {
            let scan = scan(&bytes, first);
            Ok(Some((bytes, scan)))
        }
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(disk::at("read", path, error)),
    }
}

/// Finds the entries of a file.
pub(super) fn scan(file: &[u8], first: u64) -> Scan {
    let Some(header) = file.get(..HEADER) else {
        // A file that was killed before its header was whole has never held an entry.
        return Scan { rest: Rest::Torn, ..Scan::default() };
    };
    if header != header_of(first) {
        let rest = if file.iter().all(|&byte| byte == 0) {
            Rest::Torn
        } else {
            Rest::Damaged("has another header than was written".to_owned())
        };
        return Scan { rest, ..Scan::default() };
    }
    let mut scan = Scan { end: HEADER as u64, ..Scan::default() };
    let mut at = HEADER;
    while at < file.len() {
        let number = first + scan.entries.len() as u64;
        let Some(head) = file.get(at..at + HEAD) else {
            scan.rest = Rest::Torn;
            break;
        };
        let (len, check) = (short(&head[..4]), short(&head[4..]));
        if check != check_of(number, len) {
            // A disk that lost power may have made the file longer and not written into it.
            scan.rest = if file[at..].iter().all(|&byte| byte == 0) {
                Rest::Torn
            } else {
                Rest::Damaged(format!("holds no entry at byte {at}"))
            };
            break;
        }
        let start = at + HEAD;
        let end = start + len as usize;
        let Some(stored) = file.get(end..end + HASH) else {
            scan.rest = Rest::Torn;
            break;
        };
        let hash = hash_of(number, &file[start..end]);
        scan.entries.push(Entry { range: start..end, hash, intact: stored == hash.to_le_bytes().as_slice() });
        at = end + HASH;
        scan.end = at as u64;
    }
    scan
}

fn header_of(first: u64) -> [u8; HEADER] {
    let mut header = [0; HEADER];
    header[..8].copy_from_slice(MAGIC);
    header[8..16].copy_from_slice(&first.to_le_bytes());
    let check = xxh3_64(&header[..16]);
    header[16..].copy_from_slice(&check.to_le_bytes());
    header
}

fn check_of(number: u64, len: u32) -> u32 {
    let mut head = [0; 12];
    head[..8].copy_from_slice(&number.to_le_bytes());
    head[8..].copy_from_slice(&len.to_le_bytes());
    // The low half of a good hash is a good hash. An empty file of zeros is no entry of no length.
    (xxh3_64(&head) as u32).max(1)
}

fn hash_of(number: u64, bytes: &[u8]) -> u128 {
    let mut hash = Xxh3::new();
    hash.update(&number.to_le_bytes());
    hash.update(bytes);
    hash.digest128()
}

fn short(bytes: &[u8]) -> u32 {
    bytes.iter().rev().fold(0, |value, &byte| value << 8 | u32::from(byte))
}
