//! A file that is only ever appended to, in which every entry carries its own check.
//!
//! ```text
//! file   = "gridelog" first:u64 check:u64 entry*        check = xxh3-64 of what stands before it
//! entry  = length:u32 check:u32 bytes hash:u128         check = of number and length; hash = of number and bytes
//! ```
//!
//! Numbers count from `first`; all integers are little-endian. The length has a check of its own, so that a file
//! that ends too early (a write was torn by a kill) can be distinguished from one in which a length was changed.

use std::fs::File;
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

/// A file of entries that is open for appending.
#[derive(Debug)]
pub(super) struct Log {
    disk: Arc<dyn Disk>,
    path: PathBuf,
    file: File,
    /// The position of the next entry.
    end: u64,
    /// The number of the next entry.
    next: u64,
    /// Whether an append has failed and its remains could not be removed.
    broken: bool,
}

/// The entries of a file, and what follows them.
#[derive(Debug, Default)]
pub(super) struct Scan {
    /// The entries in order, up to the first without a valid length.
    pub(super) entries: Vec<Entry>,
    /// The end of the last of them.
    pub(super) end: u64,
    /// What follows them.
    pub(super) rest: Rest,
}

/// An entry of a file.
#[derive(Debug)]
pub(super) struct Entry {
    /// The position of its bytes.
    pub(super) range: Range<usize>,
    /// The hash in the file.
    pub(super) hash: u128,
    /// Whether that is the hash of its bytes.
    pub(super) intact: bool,
}

/// What follows the last entry of a file.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) enum Rest {
    /// Nothing.
    #[default]
    Nothing,
    /// An incomplete entry.
    Torn,
    /// Bytes that are no entry.
    Damaged(String),
}

impl Log {
    /// Makes a file whose first entry has this number, and replaces an existing one.
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

    /// Continues after the entry that ends at `end`, and cuts off what follows. `next` is the number of the next entry.
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
            return Err(StoreError::Broken(self.path.clone()));
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
            // No later entry may follow an incomplete one.
            let back = self.disk.set_len(&self.file, self.end);
            let back = back.and_then(|()| self.file.seek(SeekFrom::Start(self.end)));
            self.broken = back.is_err();
            return Err(disk::at("write", &self.path, source));
        }
        self.end += entry.len() as u64;
        self.next += 1;
        Ok(hash)
    }

    /// Waits until all entries are on the disk.
    pub(super) fn sync(&mut self) -> Result<(), StoreError> {
        if self.broken {
            return Err(StoreError::Broken(self.path.clone()));
        }
        self.disk.sync(&self.file).map_err(|source| {
            // After a failed sync the contents of the disk are unknown, and a second sync would report success.
            self.broken = true;
            disk::at("write", &self.path, source)
        })
    }

    /// Appends an entry and waits until it is on the disk. If that fails, it removes the entry as far as possible.
    pub(super) fn append_durably(&mut self, bytes: &[u8]) -> Result<(), StoreError> {
        let end = self.end;
        self.append(bytes)?;
        self.sync().inspect_err(|_| {
            // The file accepts no more entries, but this one must not look like one that was used.
            let _ = self.disk.set_len(&self.file, end);
        })
    }

    /// The length of the file.
    pub(super) const fn end(&self) -> u64 {
        self.end
    }
}

/// Reads a file of entries, the first of which should have the number `first`; `None` if there is no file.
pub(super) fn load(path: &Path, first: u64) -> Result<Option<(Vec<u8>, Scan)>, StoreError> {
    let scanned = |bytes: Vec<u8>| {
        let scan = scan(&bytes, first);
        (bytes, scan)
    };
    Ok(disk::read(path)?.map(scanned))
}

/// Finds the entries in the bytes of a file.
fn scan(file: &[u8], first: u64) -> Scan {
    // After a loss of power a file may be longer without the new bytes.
    let torn_or = |bytes: &[u8], why: &dyn Fn() -> String| {
        if bytes.iter().all(|&byte| byte == 0) { Rest::Torn } else { Rest::Damaged(why()) }
    };
    let Some(header) = file.get(..HEADER) else {
        // A file whose header was not completed has never held an entry.
        return Scan { rest: Rest::Torn, ..Scan::default() };
    };
    if header != header_of(first) {
        let rest = torn_or(file, &|| "has another header than was written".to_owned());
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
            scan.rest = torn_or(&file[at..], &|| format!("holds no entry at byte {at}"));
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
    // The low half of a good hash is a good hash. Zeros must not look like an entry of length zero.
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
