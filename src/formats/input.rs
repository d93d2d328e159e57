//! Decompression and lines, shared by all readers.

use std::io::{self, BufReader, Read};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use flate2::bufread::MultiGzDecoder;
use lzma_rust2::XzReader;

/// The number of bytes read at once from a plain file, and the size of the buffers of a gzip stream.
const CHUNK: usize = 128 * 1024;

/// The longest line of any format here; the rest of a longer one is dropped unread.
pub(crate) const MAX_LINE: usize = 64 * 1024;

/// The most memory that unpacking xz may take, in KiB: four times what the strongest of its presets needs.
const XZ_MEMORY: u32 = 256 * 1024;

/// What a packed file may unpack to: so much, and so many times what has been read of it. Published files reach 48 times, but small ones.
const MOST_UNPACKED: u64 = 64 << 20;
const MOST_TIMES: u64 = 32;

/// The largest file that is read as a whole, in bytes after decompression: a gigabyte.
const MOST_WHOLE: u64 = 1_000_000_000;

/// The longest line that is passed over: zeros without end are no log.
const MOST_SKIPPED: usize = 64 << 20;

/// The most values of a file in JSON or XML, and how many more each of its jobs may have.
const MOST_VALUES: usize = 5_000_000;
const VALUES_OF_A_JOB: usize = 100;

/// Compressions that are recognised only to be named in an error.
const FOREIGN: [(&[u8], &str); 4] =
    [(b"BZh", "bzip2"), (b"\x28\xb5\x2f\xfd", "zstd"), (b"PK\x03\x04", "zip"), (b"\x1f\x9d", "compress")];

/// `input` as plain bytes: decompressed if it begins like a stream of gzip or xz (of one member or several), else as it is.
///
/// # Errors
/// The error of reading the first bytes; [`io::ErrorKind::Unsupported`] names a compression that is not supported.
pub(crate) fn unpacked(mut input: Box<dyn Read + Send>) -> io::Result<Box<dyn Read + Send>> {
    let mut magic = Vec::with_capacity(5);
    input.by_ref().take(5).read_to_end(&mut magic)?;
    if let Some((_, name)) = FOREIGN.iter().find(|(first, _)| magic.starts_with(first)) {
        let problem = format!("it is compressed with {name}, which is not read here");
        return Err(io::Error::new(io::ErrorKind::Unsupported, problem));
    }
    let (gzip, xz) = (magic.starts_with(b"\x1f\x8b"), magic.starts_with(b"\xfd7zXZ"));
    let whole = io::Cursor::new(magic).chain(input);
    if !gzip && !xz {
        return Ok(Box::new(whole));
    }
    let packed = Arc::new(AtomicU64::new(0));
    let input = BufReader::with_capacity(CHUNK, Counted { input: whole, count: Arc::clone(&packed) });
    let input: Box<dyn Read + Send> = match gzip {
        true => Box::new(MultiGzDecoder::new(input)),
        false => Box::new(XzReader::new_mem_limit(input, true, XZ_MEMORY)),
    };
    Ok(Box::new(Unpacked { input, packed, count: 0 }))
}

/// The whole of `input`, unpacked, without a byte-order mark.
///
/// # Errors
/// As [`unpacked`], and [`io::ErrorKind::FileTooLarge`].
pub(crate) fn whole(input: Box<dyn Read + Send>) -> io::Result<Vec<u8>> {
    let mut text = Vec::new();
    unpacked(input)?.take(MOST_WHOLE + 1).read_to_end(&mut text)?;
    if text.len() as u64 > MOST_WHOLE {
        return Err(too_large(format!("it has more than {MOST_WHOLE} bytes")));
    }
    let begin = if text.starts_with(b"\xef\xbb\xbf") { 3 } else { 0 };
    text.drain(..begin);
    Ok(text)
}

fn too_large(problem: impl Into<String>) -> io::Error {
    io::Error::new(io::ErrorKind::FileTooLarge, problem.into())
}

/// The problem of a file of so many values, if that is far more than its jobs need.
pub(crate) fn too_many(values: usize, jobs: usize) -> Option<String> {
    let most = MOST_VALUES.saturating_add(jobs.saturating_mul(VALUES_OF_A_JOB));
    (values > most).then(|| format!("it has more than {most} values, and {jobs} jobs"))
}

/// The problem of a text in JSON with far more values than its jobs and files need. These have an `id` or a `name` each.
pub(crate) fn too_many_in_json(text: &[u8]) -> Option<String> {
    let values = memchr::memchr3_iter(b',', b'[', b'{', text).count();
    too_many(values, 0)?;
    let is_key = |end: usize| text[end..].trim_ascii_start().starts_with(b":");
    let keys = |key: &str| {
        memchr::memmem::find_iter(text, key.as_bytes()).filter(|at| is_key(at + key.len())).count()
    };
    too_many(values, keys("\"id\"") + keys("\"name\""))
}

/// A packed file, and how many bytes of it have been read.
struct Counted<R> {
    input: R,
    count: Arc<AtomicU64>,
}

impl<R: Read> Read for Counted<R> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let read = self.input.read(into)?;
        self.count.fetch_add(read as u64, Ordering::Relaxed);
        Ok(read)
    }
}

/// What a packed file holds, as long as that is within reason.
struct Unpacked {
    input: Box<dyn Read + Send>,
    packed: Arc<AtomicU64>,
    count: u64,
}

impl Read for Unpacked {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let read = self.input.read(into)?;
        self.count += read as u64;
        if self.count > MOST_UNPACKED + MOST_TIMES * self.packed.load(Ordering::Relaxed) {
            return Err(too_large(format!("it unpacks to more than {MOST_TIMES} times its size")));
        }
        Ok(read)
    }
}

/// What the user can do about a failure to read.
pub(crate) fn hint(error: &io::Error) -> &'static str {
    match error.kind() {
        io::ErrorKind::UnexpectedEof => "the file is cut short; fetch it again",
        io::ErrorKind::InvalidInput | io::ErrorKind::InvalidData => "the file is damaged; fetch it again",
        io::ErrorKind::Unsupported => "unpack it, or pack it with gzip",
        io::ErrorKind::FileTooLarge => "if that is meant, unpack it first, or split it",
        _ => "",
    }
}

/// Where a text stops being JSON, as `line 7, column 3`, and why; `None` if it is JSON and says something else than what was expected.
pub(crate) fn not_json(error: &serde_json::Error) -> Option<(String, String)> {
    let text = error.to_string();
    let problem = text.split(" at line ").next().unwrap_or_default();
    let place = format!("line {}, column {}", error.line(), error.column());
    (!error.is_data()).then(|| (place, format!("not JSON: {problem}")))
}

/// A line without its line feed.
pub(crate) struct Line<'a> {
    /// Its bytes, at most [`MAX_LINE`] of them.
    pub bytes: &'a [u8],
    /// Its number in the file, from 1.
    pub number: u64,
    /// True if the line was longer.
    pub cut: bool,
}

/// The lines of a stream, in one buffer that is reused.
pub(crate) struct Lines {
    input: Box<dyn Read + Send>,
    buffer: Vec<u8>,
    /// The bytes read but not yet returned: `buffer[start..end]`.
    start: usize,
    end: usize,
    finished: bool,
    /// Number of lines begun so far.
    number: u64,
}

impl Lines {
    pub(crate) fn new(input: Box<dyn Read + Send>) -> Self {
        Self { input, buffer: vec![0; CHUNK], start: 0, end: 0, finished: false, number: 0 }
    }

    /// The number of the line returned last, or of the one that failed; 0 before the first.
    pub(crate) fn number(&self) -> u64 {
        self.number
    }

    /// Returns the next line; `None` at the end.
    ///
    /// # Errors
    /// The error of the stream. The beginning of a line that the failure interrupts is dropped: half a number is not
    /// a number.
    pub(crate) fn next(&mut self) -> io::Result<Option<Line<'_>>> {
        self.number += 1;
        let mut searched = 0;
        loop {
            if let Some(at) = memchr::memchr(b'\n', &self.buffer[self.start + searched..self.end]) {
                let from = self.start;
                let to = from + searched + at;
                self.start = to + 1;
                let cut = to - from > MAX_LINE;
                return Ok(Some(self.line(from, if cut { from + MAX_LINE } else { to }, cut)));
            }
            searched = self.end - self.start;
            if self.finished || searched > MAX_LINE {
                if searched == 0 {
                    self.number -= 1;
                    return Ok(None);
                }
                // The beginning of a truncated line is kept at the head of the buffer while the rest is read over.
                self.buffer.copy_within(self.start..self.start + searched.min(MAX_LINE), 0);
                let cut = searched > MAX_LINE;
                (self.start, self.end) = (self.end, self.end);
                if cut {
                    self.skip_rest_of_line()?;
                }
                return Ok(Some(self.line(0, searched.min(MAX_LINE), cut)));
            }
            self.fill()?;
        }
    }

    fn line(&self, from: usize, to: usize, cut: bool) -> Line<'_> {
        Line { bytes: &self.buffer[from..to], number: self.number, cut }
    }

    /// Reads more bytes after those present, which are moved to the head of the buffer.
    fn fill(&mut self) -> io::Result<()> {
        self.buffer.copy_within(self.start..self.end, 0);
        (self.start, self.end) = (0, self.end - self.start);
        self.read_at_end()
    }

    fn read_at_end(&mut self) -> io::Result<()> {
        loop {
            match self.input.read(&mut self.buffer[self.end..]) {
                Ok(count) => {
                    self.finished = count == 0;
                    self.end += count;
                    return Ok(());
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
    }

    /// Drops everything up to and including the next line feed; the first [`MAX_LINE`] bytes of the buffer stay.
    fn skip_rest_of_line(&mut self) -> io::Result<()> {
        let mut skipped = 0;
        while !self.finished {
            (self.start, self.end) = (MAX_LINE, MAX_LINE);
            self.read_at_end()?;
            skipped += self.end - MAX_LINE;
            if skipped > MOST_SKIPPED {
                return Err(too_large(format!("the line has more than {MOST_SKIPPED} bytes")));
            }
            if let Some(at) = memchr::memchr(b'\n', &self.buffer[MAX_LINE..self.end]) {
                self.start = MAX_LINE + at + 1;
                return Ok(());
            }
        }
        (self.start, self.end) = (MAX_LINE, MAX_LINE);
        Ok(())
    }
}

/// The cells of a line, without blanks and quotes around them.
pub(crate) fn cells(line: &str, separator: char) -> Vec<String> {
    let mut cells = vec![String::new()];
    let mut quoted = false;
    for sign in line.chars() {
        if sign == '"' {
            quoted = !quoted;
        } else if sign == separator && !quoted {
            cells.push(String::new());
        } else if let Some(cell) = cells.last_mut() {
            cell.push(sign);
        }
    }
    cells.iter().map(|cell| cell.trim().to_owned()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Returns its bytes in pieces of at most `step` bytes, as pipes do.
    struct Dribble(Vec<u8>, usize, usize);

    impl Read for Dribble {
        fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
            let count = self.1.min(into.len()).min(self.0.len() - self.2);
            into[..count].copy_from_slice(&self.0[self.2..self.2 + count]);
            self.2 += count;
            Ok(count)
        }
    }

    fn lines(text: &[u8], step: usize) -> Vec<(Vec<u8>, u64, bool)> {
        let mut lines = Lines::new(Box::new(Dribble(text.to_vec(), step, 0)));
        let mut got = Vec::new();
        while let Some(line) = lines.next().unwrap() {
            got.push((line.bytes.to_vec(), line.number, line.cut));
        }
        got
    }

    proptest! {
        #[test]
        fn lines_are_those_of_split(text in prop::collection::vec(prop_oneof![Just(b'\n'), any::<u8>()], 0..400), step in 1_usize..50) {
            let mut expected: Vec<_> = text.split(|byte| *byte == b'\n').map(<[u8]>::to_vec).collect();
            if expected.last().is_some_and(Vec::is_empty) {
                expected.pop();
            }
            let expected: Vec<_> = expected.into_iter().zip(1..).map(|(line, at)| (line, at, false)).collect();
            prop_assert_eq!(lines(&text, step), expected);
        }
    }

    #[test]
    fn values_are_counted_against_jobs() {
        let mut text = b"{\"jobs\": [".to_vec();
        text.extend(std::iter::repeat_n(*b"0,", MOST_VALUES).flatten());
        assert!(too_many_in_json(&text).is_some_and(|told| told.contains("and 0 jobs")));
        text.extend(b"\"id\",");
        assert!(too_many_in_json(&text).is_some(), "a value is no job");
        text.extend(b"{\"id\" : 1}");
        assert_eq!(too_many_in_json(&text), None);
    }

    #[test]
    fn a_line_without_end_is_cut_and_passed_over() {
        for (length, step) in
            [(MAX_LINE + 1, 7), (CHUNK - 1, CHUNK), (CHUNK, 1000), (3 * CHUNK, CHUNK), (1 << 20, 9999)]
        {
            for tail in [&b""[..], b"\n", b"\nnext\nlast"] {
                let mut text = vec![b'x'; length];
                text.extend_from_slice(tail);
                let got = lines(&text, step);
                assert_eq!(got[0].0.len(), MAX_LINE, "{length} {step}");
                assert!(got[0].2);
                let rest: Vec<_> = got[1..].iter().map(|line| (&line.0[..], line.1, line.2)).collect();
                let expected: &[_] =
                    if tail.len() > 1 { &[(&b"next"[..], 2, false), (&b"last"[..], 3, false)] } else { &[] };
                assert_eq!(rest, expected);
            }
        }
    }
}
