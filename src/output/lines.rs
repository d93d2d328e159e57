//! A file of lines, written in blocks of whole lines.

use std::fmt;
use std::fs::{File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use xxhash_rust::xxh3::Xxh3;

use super::OutputError;
use super::mark::FileMark;

/// Large enough that the cost of a write is negligible per row, small enough to stay in the cache.
const BLOCK: usize = 256 << 10;
/// Space for the row that fills a block.
const MARGIN: usize = 16 << 10;

/// The destination of lines.
pub(super) trait Sink: Write {
    /// Truncates the sink to its first `bytes` bytes.
    fn cut(&mut self, bytes: u64) -> io::Result<()>;
}

impl Sink for File {
    fn cut(&mut self, bytes: u64) -> io::Result<()> {
        self.set_len(bytes)?;
        self.seek(SeekFrom::Start(bytes)).map(|_| ())
    }
}

/// A header and rows. If the disk fails, the file is truncated after its last whole row, and the error has the number
/// of rows. Rows that a run had finished when it failed for another reason are written when this is dropped.
#[derive(Debug)]
pub(super) struct Lines<S: Sink> {
    sink: S,
    path: PathBuf,
    block: Vec<u8>,
    /// Number of lines in the block.
    gathered: u64,
    /// Number of bytes and complete lines (with the header) in the sink.
    bytes: u64,
    lines: u64,
    /// Hash of the bytes in the sink.
    hash: Hash,
    failed: Option<io::ErrorKind>,
}

/// The hash of a file so far.
struct Hash(Box<Xxh3>);

impl Hash {
    fn new() -> Self {
        Self(Box::new(Xxh3::new()))
    }
}

impl fmt::Debug for Hash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:032x}", self.0.digest128())
    }
}

/// A file of an interrupted run whose beginning matches the mark of that run.
#[derive(Debug)]
pub(super) struct Past {
    file: File,
    path: PathBuf,
    mark: FileMark,
    hash: Hash,
}

impl Past {
    /// Opens the file at `path` and reads it up to the mark, passing its bytes to `each`; nothing is changed.
    pub(super) fn read(
        path: PathBuf,
        mark: &FileMark,
        access: &OpenOptions,
        mut each: impl FnMut(&[u8]) -> Result<(), OutputError>,
    ) -> Result<Self, OutputError> {
        let fail = |operation, source| OutputError::Place { operation, path: path.clone(), source };
        let mut file = match access.open(&path) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Err(OutputError::Gone { path }),
            Err(error) => return Err(fail("open the file", error)),
        };
        let mut hash = Hash::new();
        let (mut chunk, mut left) = (vec![0; BLOCK], mark.bytes);
        while left > 0 {
            let wanted = chunk.len().min(usize::try_from(left).unwrap_or(usize::MAX));
            match file.read(&mut chunk[..wanted]) {
                Ok(0) => {
                    return Err(OutputError::Short { path, bytes: mark.bytes - left, marked: mark.bytes });
                }
                Ok(read) => {
                    hash.0.update(&chunk[..read]);
                    each(&chunk[..read])?;
                    left -= read as u64;
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(fail("read", error)),
            }
        }
        if hash.0.digest128() != mark.hash {
            return Err(OutputError::Edited { path, bytes: mark.bytes });
        }
        Ok(Self { file, path, mark: mark.clone(), hash })
    }

    /// Truncates what was written after the mark, and continues from there.
    pub(super) fn go_on(mut self) -> Result<Lines<File>, OutputError> {
        let Self { path, mark, .. } = self;
        match self.file.cut(mark.bytes) {
            Ok(()) => Ok(Lines {
                block: Vec::with_capacity(BLOCK + MARGIN),
                gathered: 0,
                bytes: mark.bytes,
                lines: mark.rows + 1,
                hash: self.hash,
                failed: None,
                sink: self.file,
                path,
            }),
            Err(source) => Err(OutputError::Place { operation: "cut back", path, source }),
        }
    }
}

impl Lines<File> {
    /// A second handle of the file, for another thread to sync.
    pub(super) fn handle(&self) -> Result<(PathBuf, File), OutputError> {
        let fail = |source| OutputError::Place { operation: "sync", path: self.path.clone(), source };
        self.sink.try_clone().map(|file| (self.path.clone(), file)).map_err(fail)
    }

    /// Creates or empties the file at `path`.
    pub(super) fn create(path: PathBuf, header: &str) -> Result<Self, OutputError> {
        match File::create(&path) {
            Ok(file) => Ok(Self::new(file, &path, header)),
            Err(source) => Err(OutputError::Place { operation: "create the file", path, source }),
        }
    }
}

impl<S: Sink> Lines<S> {
    pub(super) fn new(sink: S, path: &Path, header: &str) -> Self {
        let mut block = Vec::with_capacity(BLOCK + MARGIN);
        block.extend_from_slice(header.as_bytes());
        block.push(b'\n');
        Self {
            sink,
            path: path.to_owned(),
            block,
            gathered: 1,
            bytes: 0,
            lines: 0,
            hash: Hash::new(),
            failed: None,
        }
    }

    /// Flushes, and returns the mark of the file under this name.
    pub(super) fn mark(&mut self, name: &str) -> Result<FileMark, OutputError> {
        self.flush()?;
        let rows = self.lines.saturating_sub(1);
        Ok(FileMark { name: name.to_owned(), bytes: self.bytes, rows, hash: self.hash.0.digest128() })
    }

    /// Adds a row: `write` appends its cells, each followed by a comma.
    #[inline]
    pub(super) fn row(&mut self, write: impl FnOnce(&mut Vec<u8>)) -> Result<(), OutputError> {
        write(&mut self.block);
        if let Some(last) = self.block.last_mut() {
            debug_assert_eq!(*last, b',');
            *last = b'\n';
        }
        self.gathered += 1;
        if self.block.len() >= BLOCK { self.flush() } else { Ok(()) }
    }

    /// Writes all buffered lines to the sink.
    pub(super) fn flush(&mut self) -> Result<(), OutputError> {
        let block = std::mem::take(&mut self.block);
        let result = match self.failed {
            Some(kind) => Err(self.error(kind.into())),
            None => self.write_block(&block),
        };
        self.block = block;
        self.block.clear();
        self.gathered = 0;
        result
    }

    fn write_block(&mut self, block: &[u8]) -> Result<(), OutputError> {
        let mut done = 0;
        while done < block.len() {
            match self.sink.write(&block[done..]) {
                Ok(0) => return Err(self.fail(&block[..done], io::ErrorKind::WriteZero.into())),
                Ok(written) => done += written,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(self.fail(&block[..done], error)),
            }
        }
        self.bytes += block.len() as u64;
        self.lines += self.gathered;
        self.hash.0.update(block);
        Ok(())
    }

    /// Truncates the sink after the last whole line of the part of the block that was `written`.
    fn fail(&mut self, written: &[u8], error: io::Error) -> OutputError {
        let whole = written.iter().rposition(|byte| *byte == b'\n').map_or(0, |last| last + 1);
        self.bytes += whole as u64;
        self.hash.0.update(&written[..whole]);
        self.lines += written.iter().filter(|byte| **byte == b'\n').count() as u64;
        // If this fails too, half a row remains; the count of complete rows still holds.
        let _ = self.sink.cut(self.bytes);
        self.failed = Some(error.kind());
        self.error(error)
    }

    fn error(&self, source: io::Error) -> OutputError {
        OutputError::Write { path: self.path.clone(), rows: self.lines.saturating_sub(1), source }
    }

    #[cfg(test)]
    pub(super) fn sink(&self) -> &S {
        &self.sink
    }
}

impl<S: Sink> Drop for Lines<S> {
    fn drop(&mut self) {
        if self.failed.is_none() && !self.block.is_empty() {
            // An error cannot be reported here; a caller that needs it flushes before.
            let _ = self.flush();
        }
    }
}
