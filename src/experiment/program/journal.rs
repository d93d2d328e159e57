//! The conversation beside the snapshots of a run, so that it goes on in another process as if nothing had been.
//!
//! A line of the file is a message after its direction: `> ` to the program, `< ` from it, `! ` that another policy has taken its place, and why. The first
//! two are the greeting. A pair is written when the next question is asked, so that an answer that ended the run is not there; and all of it when a
//! snapshot is taken.

use std::fs::{File, OpenOptions};
use std::io::{BufRead, BufReader, BufWriter, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use serde::Deserialize;

use super::GoesOn;
use crate::output::files;

/// The name of the file in the folder of a store.
pub(in crate::experiment) const FILE: &str = "conversation";

/// The journal of a conversation that goes on.
#[derive(Debug)]
pub(super) struct Journal {
    path: PathBuf,
    file: BufWriter<File>,
    /// What has been said and may still have to be forgotten.
    pending: Vec<u8>,
}

impl Journal {
    /// Begins a journal with the greeting and its answer.
    pub(super) fn create(path: &Path, greeting: &[u8], hello: &[u8]) -> Result<Self, String> {
        let file = files::create(path).map_err(|error| trouble("created", path, &error))?;
        let mut journal = Self { path: path.to_owned(), file: BufWriter::new(file), pending: Vec::new() };
        journal.note(b'>', greeting);
        journal.note(b'<', hello);
        journal.flush()?;
        Ok(journal)
    }

    /// Goes on behind so many bytes.
    pub(super) fn go_on(path: &Path, bytes: u64) -> Result<Self, String> {
        let open = || {
            let mut file = OpenOptions::new().write(true).open(path)?;
            file.set_len(bytes)?;
            file.seek(SeekFrom::End(0))?;
            Ok(file)
        };
        let file = open().map_err(|error| trouble("continued", path, &error))?;
        Ok(Self { path: path.to_owned(), file: BufWriter::new(file), pending: Vec::new() })
    }

    /// Writes what the last question and its answer were; they hold.
    pub(super) fn settle(&mut self) -> Result<(), String> {
        let written = self.file.write_all(&self.pending);
        self.pending.clear();
        written.map_err(|error| trouble("written", &self.path, &error))
    }

    /// Notes a message, which holds from the next question on.
    pub(super) fn note(&mut self, direction: u8, line: &[u8]) {
        self.pending.extend([direction, b' ']);
        self.pending.extend(line.trim_ascii_end());
        self.pending.push(b'\n');
    }

    /// Has all on the disk.
    pub(super) fn flush(&mut self) -> Result<(), String> {
        self.settle()?;
        let flushed = self.file.flush().and_then(|()| self.file.get_ref().sync_data());
        flushed.map_err(|error| trouble("written", &self.path, &error))
    }
}

fn trouble(what: &str, path: &Path, error: &std::io::Error) -> String {
    format!("the journal of its conversation, `{}`, cannot be {what}: {error}", path.display())
}

/// What was said before, in another process.
#[derive(Debug)]
pub(super) struct Past {
    path: PathBuf,
    file: BufReader<File>,
    /// The number of the question that is read next.
    next: u64,
    /// The number of the last question with an answer.
    pub(super) last: u64,
    /// The bytes up to the end of that.
    pub(super) end: u64,
    /// What the program gave to be saved last: with the answer of which number, and where the question after that begins.
    pub(super) save: Option<String>,
    saved: (u64, u64),
}

/// What was answered to a question.
#[derive(Debug)]
pub(super) enum Answered {
    /// This line.
    Line(Vec<u8>),
    /// Nothing of use, for this reason: another policy decided.
    Not(String),
}

#[derive(Deserialize)]
struct Saving {
    #[serde(default)]
    save: Option<String>,
}

impl Past {
    /// The greeting's answer, with which a journal begins.
    pub(super) fn hello(path: &Path) -> Result<Vec<u8>, String> {
        let file = File::open(path).map_err(|error| trouble("read", path, &error))?;
        let mut lines = BufReader::new(file).split(b'\n').skip(1);
        match lines.next() {
            Some(Ok(line)) if line.starts_with(b"< ") => Ok(line[2..].to_vec()),
            _ => Err(format!("the journal of its conversation, `{}`, has no greeting", path.display())),
        }
    }

    /// Reads what was said after so many questions; that is nothing if the conversation goes on otherwise from there.
    pub(super) fn open(path: &Path, questions: u64, how: GoesOn) -> Result<Self, String> {
        let fail = |error: std::io::Error| trouble("read", path, &error);
        let mut file = BufReader::new(File::open(path).map_err(fail)?);
        let (mut line, mut at, mut number) = (Vec::new(), 0_u64, 0_u64);
        let (mut end, mut from, mut saved, mut save) = (0, 0, (0, 0), None);
        for row in 0_u64.. {
            line.clear();
            let read = file.read_until(b'\n', &mut line).map_err(fail)?;
            if read == 0 || !line.ends_with(b"\n") {
                break;
            }
            if how == GoesOn::Otherwise && number == questions && row > 1 && line.starts_with(b">") {
                break;
            }
            at += read as u64;
            match (row, line.first()) {
                (0, _) => {}
                (1, _) => (end, from, saved) = (at, at, (0, at)),
                (_, Some(b'>')) => number += 1,
                (_, Some(b'<')) => {
                    end = at;
                    // Few answers have something to save; the others are not read.
                    let has = memchr::memmem::find(&line, b"\"save\"").is_some();
                    let read = has.then(|| serde_json::from_slice::<Saving>(&line[2..]).ok()).flatten();
                    if let Some(given) = read.and_then(|read| read.save) {
                        (save, saved) = (Some(given), (number, at));
                    }
                }
                (_, Some(b'!')) => end = at,
                _ => {
                    return Err(format!(
                        "line {} of the journal of its conversation, `{}`, is damaged",
                        row + 1,
                        path.display()
                    ));
                }
            }
            if number == questions && row > 1 {
                from = at;
            }
        }
        // A question without an answer was never used.
        let last = number.saturating_sub(u64::from(at > end));
        if last < questions {
            return Err(format!(
                "the journal of its conversation, `{}`, ends with question {last}, and the snapshot is of question {questions}",
                path.display()
            ));
        }
        file.seek(SeekFrom::Start(from)).map_err(fail)?;
        Ok(Self { path: path.to_owned(), file, next: questions + 1, last, end, save, saved })
    }

    /// Whether the question of this number was answered.
    pub(super) fn has(&self, number: u64) -> bool {
        number >= self.next && number <= self.last
    }

    /// The answer to the next question, which must be the same as before.
    pub(super) fn answer(&mut self, question: &[u8]) -> Result<Answered, String> {
        let (asked, answered) = self.pair()?;
        if asked != question.trim_ascii_end() {
            return Err(format!(
                "question {} is not the one that the journal of its conversation, `{}`, has: {} instead of {}",
                self.next,
                self.path.display(),
                short(question),
                short(&asked)
            ));
        }
        self.next += 1;
        Ok(answered)
    }

    /// The questions since the program gave something to be saved, with their answers, in order, and the number of the last one before.
    pub(super) fn history(&mut self) -> Result<u64, String> {
        let (number, at) = self.saved;
        self.file.seek(SeekFrom::Start(at)).map_err(|error| trouble("read", &self.path, &error))?;
        self.next = number + 1;
        Ok(number)
    }

    /// The next question and its answer.
    pub(super) fn pair(&mut self) -> Result<(Vec<u8>, Answered), String> {
        let mut asked = None;
        loop {
            let line = self.line()?;
            let text = line.get(2..).unwrap_or_default();
            match (line.first(), asked.take()) {
                (Some(b'>'), None) => asked = Some(text.to_vec()),
                (Some(b'<'), Some(asked)) => return Ok((asked, Answered::Line(text.to_vec()))),
                (Some(b'!'), Some(asked)) => {
                    return Ok((asked, Answered::Not(String::from_utf8_lossy(text).into_owned())));
                }
                // Another policy took the place of the program although it had answered.
                (Some(b'!'), None) => {}
                _ => {
                    return Err(format!(
                        "the journal of its conversation, `{}`, is damaged",
                        self.path.display()
                    ));
                }
            }
        }
    }

    fn line(&mut self) -> Result<Vec<u8>, String> {
        let mut line = Vec::new();
        let read =
            self.file.read_until(b'\n', &mut line).map_err(|error| trouble("read", &self.path, &error))?;
        if read == 0 {
            return Err(format!("the journal of its conversation, `{}`, has ended", self.path.display()));
        }
        line.truncate(line.trim_ascii_end().len());
        Ok(line)
    }
}

fn short(line: &[u8]) -> String {
    let text: String = String::from_utf8_lossy(line).chars().take(200).collect();
    format!("`{}`", text.trim_end())
}

/// Whether two lines of JSON say the same.
pub(super) fn is_same(one: &[u8], other: &[u8]) -> bool {
    let read = |line: &[u8]| serde_json::from_slice::<serde_json::Value>(line).ok();
    one == other || (read(one).is_some() && read(one) == read(other))
}
