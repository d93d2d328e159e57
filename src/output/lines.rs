//! A file of lines, written in blocks of whole lines.

use std::fmt;
use std::fs::{File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::PathBuf;

use xxhash_rust::xxh3::Xxh3;

use super::OutputError;
use super::files;
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
#[derive(Default)]
struct Hash(Box<Xxh3>);

impl fmt::Debug for Hash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:032x}", self.0.digest128())
    }
}

/// A file of an interrupted run whose beginning matches the mark of that run.
#[derive(Debug)]
pub(super) struct MarkedFile {
    file: File,
    path: PathBuf,
    mark: FileMark,
    hash: Hash,
}

impl MarkedFile {
    /// Opens the file at `path` and reads it up to the mark, passing its bytes to `each`; nothing is changed.
    pub(super) fn read(
        path: PathBuf,
        mark: &FileMark,
        access: &OpenOptions,
        mut each: impl FnMut(&[u8]) -> Result<(), OutputError>,
    ) -> Result<Self, OutputError> {
        files::own(&path).map_err(OutputError::place("open the file", &path))?;
        let mut file = match access.open(&path) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Err(OutputError::Gone { path }),
            Err(error) => return Err(OutputError::place("open the file", path)(error)),
        };
        let mut hash = Hash::default();
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
                Err(error) => return Err(OutputError::place("read", path)(error)),
            }
        }
        if hash.0.digest128() != mark.hash {
            return Err(OutputError::Edited { path, bytes: mark.bytes });
        }
        Ok(Self { file, path, mark: mark.clone(), hash })
    }

    /// Truncates what was written after the mark, and continues from there.
    pub(super) fn resume(mut self) -> Result<Lines<File>, OutputError> {
        self.file.cut(self.mark.bytes).map_err(OutputError::place("cut back", &self.path))?;
        let mut lines = Lines::empty(self.file, self.path);
        (lines.bytes, lines.lines, lines.hash) = (self.mark.bytes, self.mark.rows + 1, self.hash);
        Ok(lines)
    }
}

impl Lines<File> {
    /// A second handle of the file, for another thread to sync.
    pub(super) fn handle(&self) -> Result<(PathBuf, File), OutputError> {
        let file = self.sink.try_clone().map_err(OutputError::place("sync", &self.path))?;
        Ok((self.path.clone(), file))
    }

    /// Creates or empties the file at `path`.
    pub(super) fn create(path: PathBuf, header: &str) -> Result<Self, OutputError> {
        let file = files::create(&path).map_err(OutputError::place("create the file", &path))?;
        Ok(Self::new(file, path, header))
    }
}

impl<S: Sink> Lines<S> {
    pub(super) fn new(sink: S, path: PathBuf, header: &str) -> Self {
        let mut lines = Self::empty(sink, path);
        lines.block.extend_from_slice(header.as_bytes());
        lines.block.push(b'\n');
        lines.gathered = 1;
        lines
    }

    fn empty(sink: S, path: PathBuf) -> Self {
        let (block, hash) = (Vec::with_capacity(BLOCK + MARGIN), Hash::default());
        Self { sink, path, block, gathered: 0, bytes: 0, lines: 0, hash, failed: None }
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
