//! The journal: commands from outside, written down before they are used.
//!
//! Entries are numbered through the whole life of a store. They are in files of about a megabyte; a file is removed
//! once no snapshot needs it any more.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use super::disk::{self, Disk};
use super::error::{Part, StoreError};
use super::generation;
use super::log::{self, Log, Rest};

pub(super) const PREFIX: &str = "journal-";

/// A file longer than this gets no more entries.
const FULL: u64 = 1 << 20;

/// A handle to the journal of a store, for the thread that receives commands from outside.
///
/// It can be used in another thread than its [`Store`](super::Store), while a snapshot is being written.
#[derive(Clone, Debug)]
pub struct Journal(Arc<Mutex<Inner>>);

#[derive(Debug)]
struct Inner {
    disk: Arc<dyn Disk>,
    folder: PathBuf,
    /// The file for new entries; `None` before the first of them.
    log: Option<Log>,
    /// The number of the next entry, if it is known without reading the disk.
    next: Option<u64>,
    /// The number of entries that snapshots have used, so at least so many must exist.
    known: u64,
}

/// Entries of the journal.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Entries {
    /// Their bytes, in the order in which they were appended.
    pub entries: Vec<Vec<u8>>,
    /// Whether an incomplete entry follows these, which has never been used and is left out.
    pub torn: bool,
}

impl Journal {
    /// The journal of a store whose snapshots have used `known` entries.
    pub(super) fn new(disk: Arc<dyn Disk>, folder: &Path, known: u64) -> Self {
        Self(Arc::new(Mutex::new(Inner { disk, folder: folder.to_owned(), log: None, next: None, known })))
    }

    /// Appends an entry. When this returns, it is durable, and may be used. Returns its number.
    ///
    /// # Errors
    /// [`StoreError`] if it cannot be written, or if the existing journal is damaged; then the entry must
    /// not be used.
    pub fn append(&self, bytes: &[u8]) -> Result<u64, StoreError> {
        self.with(|inner| inner.append(bytes))
    }

    /// The number of entries that have been appended in the life of the store.
    ///
    /// # Errors
    /// [`StoreError`] if the existing journal cannot be read.
    pub fn entries(&self) -> Result<u64, StoreError> {
        self.with(Inner::next)
    }

    /// The entries from this number on.
    pub(super) fn since(&self, from: u64) -> Result<Entries, StoreError> {
        self.with(|inner| inner.since(from))
    }

    /// Removes the files all of whose entries have smaller numbers.
    pub(super) fn forget_before(&self, number: u64) -> Result<(), StoreError> {
        self.with(|inner| inner.forget_before(number))
    }

    fn with<T>(&self, act: impl FnOnce(&mut Inner) -> T) -> T {
        // After a panic the file itself shows what has been done.
        act(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Inner {
    fn append(&mut self, bytes: &[u8]) -> Result<u64, StoreError> {
        let number = self.next()?;
        if self.log.as_ref().is_none_or(|log| log.end() >= FULL) {
            self.log = Some(Log::create(&self.disk, &self.path(number), number)?);
        }
        let Some(log) = &mut self.log else { return Ok(number) };
        log.append_durably(bytes)?;
        self.next = Some(number + 1);
        Ok(number)
    }

    /// The number of the next entry. The first call reads the last file and cuts off an incomplete entry.
    fn next(&mut self) -> Result<u64, StoreError> {
        if let Some(next) = self.next {
            return Ok(next);
        }
        let mut next = 0;
        if let Some(&first) = self.files()?.last() {
            let path = self.path(first);
            let (_, scan) = log::load(&path, first)?.unwrap_or_default();
            if let Rest::Damaged(why) = scan.rest {
                let part = Part::Entry(first + scan.entries.len() as u64);
                return Err(StoreError::Damaged { part, path, why });
            }
            next = first + scan.entries.len() as u64;
            // A file with an incomplete header has never held an acknowledged entry: it is made anew when needed.
            if scan.end > 0 {
                self.log = Some(Log::resume(&self.disk, &path, scan.end, next)?);
            }
        }
        self.all_there(next)?;
        self.next = Some(next);
        Ok(next)
    }

    fn since(&self, from: u64) -> Result<Entries, StoreError> {
        let files = self.files()?;
        let mut found = Entries::default();
        let mut next = from;
        for (i, &first) in files.iter().enumerate() {
            let after = files.get(i + 1).copied();
            if after.is_some_and(|after| after <= from) {
                continue;
            }
            let path = self.path(first);
            let Some((bytes, scan)) = log::load(&path, first)? else { continue };
            if first > next {
                break;
            }
            for (number, entry) in (first..).zip(&scan.entries) {
                if number < next {
                    continue;
                }
                if !entry.intact {
                    let why = format!("has another content at byte {}", entry.range.start);
                    return Err(StoreError::Damaged { part: Part::Entry(number), path, why });
                }
                found.entries.push(bytes[entry.range.clone()].to_vec());
                next = number + 1;
            }
            let end = first + scan.entries.len() as u64;
            match (scan.rest, after) {
                (Rest::Damaged(why), _) => {
                    return Err(StoreError::Damaged { part: Part::Entry(end), path, why });
                }
                (Rest::Torn, None) => found.torn = true,
                (_, Some(after)) if end < after => {
                    let why = format!("ends before entry {after}, with which the next file begins");
                    return Err(StoreError::CutShort { part: Part::Entry(end), path, why });
                }
                _ => {}
            }
        }
        self.all_there(next)?;
        Ok(found)
    }

    /// Refuses a journal with only `count` entries where snapshots have used more.
    fn all_there(&self, count: u64) -> Result<(), StoreError> {
        if count >= self.known {
            return Ok(());
        }
        let first = self.files()?.into_iter().rfind(|&first| first <= count).unwrap_or(count);
        let why = format!("has no entry {count}, and snapshots have used {}", self.known);
        Err(StoreError::CutShort { part: Part::Entry(count), path: self.path(first), why })
    }

    fn forget_before(&self, number: u64) -> Result<(), StoreError> {
        for pair in self.files()?.windows(2) {
            if pair[1] <= number {
                disk::remove(&*self.disk, &self.path(pair[0]))?;
            }
        }
        Ok(())
    }

    fn path(&self, first: u64) -> PathBuf {
        self.folder.join(format!("{PREFIX}{first:012}"))
    }

    /// The numbers of the files' first entries, in order.
    fn files(&self) -> Result<Vec<u64>, StoreError> {
        let number = |name: &String| name.strip_prefix(PREFIX)?.parse().ok();
        let mut files: Vec<u64> = generation::names(&self.folder)?.iter().filter_map(number).collect();
        files.sort_unstable();
        Ok(files)
    }
}
