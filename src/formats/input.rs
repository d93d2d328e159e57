//! Decompression and lines, shared by all readers.

use std::io::{self, BufReader, Read};

use flate2::bufread::MultiGzDecoder;
use lzma_rust2::XzReader;

/// The number of bytes read at once from a plain file, and the size of the buffers of a gzip stream.
const CHUNK: usize = 128 * 1024;

/// The longest line of any format here; the rest of a longer one is dropped unread.
pub(crate) const MAX_LINE: usize = 64 * 1024;

/// The most memory that unpacking xz may take, in KiB: four times what the strongest of its presets needs.
const XZ_MEMORY: u32 = 256 * 1024;

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
    Ok(match (gzip, xz) {
        (true, _) => Box::new(MultiGzDecoder::new(BufReader::with_capacity(CHUNK, whole))),
        (_, true) => {
            Box::new(XzReader::new_mem_limit(BufReader::with_capacity(CHUNK, whole), true, XZ_MEMORY))
        }
        _ => Box::new(whole),
    })
}

/// What the user can do about a failure to read.
pub(crate) fn hint(error: &io::Error) -> &'static str {
    match error.kind() {
        io::ErrorKind::UnexpectedEof => "the file is cut short; fetch it again",
        io::ErrorKind::InvalidInput | io::ErrorKind::InvalidData => "the file is damaged; fetch it again",
        io::ErrorKind::Unsupported => "unpack it, or pack it with gzip",
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
        while !self.finished {
            (self.start, self.end) = (MAX_LINE, MAX_LINE);
            self.read_at_end()?;
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
