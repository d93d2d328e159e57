//! A file of lines, written in blocks of whole lines.

use std::fs::File;
use std::io::{self, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use super::OutputError;

/// Large enough that a write costs nothing a row, small enough to stay in the cache.
const BLOCK: usize = 256 << 10;
/// Room for the row that fills a block.
const MARGIN: usize = 16 << 10;

/// Where lines go.
pub(super) trait Sink: Write {
    /// Cuts what was written to its first `bytes` bytes.
    fn cut(&mut self, bytes: u64) -> io::Result<()>;
}

impl Sink for File {
    fn cut(&mut self, bytes: u64) -> io::Result<()> {
        self.set_len(bytes)?;
        self.seek(SeekFrom::Start(bytes)).map(|_| ())
    }
}

/// A header and rows. If the disk fails, the file is cut back to its last whole row and the error tells how
/// many there are. Rows that a run had finished when it failed elsewhere are written when this is dropped.
#[derive(Debug)]
pub(super) struct Lines<S: Sink> {
    sink: S,
    path: PathBuf,
    block: Vec<u8>,
    /// Lines in the block.
    gathered: u64,
    /// Bytes and complete lines (with the header) that the sink has.
    bytes: u64,
    lines: u64,
    failed: Option<io::ErrorKind>,
}

impl Lines<File> {
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
        Self { sink, path: path.to_owned(), block, gathered: 1, bytes: 0, lines: 0, failed: None }
    }

    /// Adds a row: `write` appends its cells, each with a comma behind it.
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

    /// Hands everything to the sink.
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
        Ok(())
    }

    /// Cuts back to the last whole line of what was `written` of the block.
    fn fail(&mut self, written: &[u8], error: io::Error) -> OutputError {
        let whole = written.iter().rposition(|byte| *byte == b'\n').map_or(0, |last| last + 1);
        self.bytes += whole as u64;
        self.lines += written.iter().filter(|byte| **byte == b'\n').count() as u64;
        // If this fails too, half a row stays behind: the count of complete rows still holds.
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
            // Nobody is left to tell; who wants to know flushes first.
            let _ = self.flush();
        }
    }
}
