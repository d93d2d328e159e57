//! Commands from outside, one per line, to a run that follows the wall clock.

mod line;
#[cfg(test)]
mod tests;

use std::fs::{self, File, OpenOptions};
use std::io::{self, BufRead, BufReader};
use std::path::Path;
use std::thread;

use super::{Progress, RunError};
use crate::entity::ToSite;
use crate::grid::JournalEntry;
use crate::model::BookAct;
use crate::model::SiteSpec;
use crate::runtime::{Caller, Outside, Refusal};
use crate::scenario::ResolvedScenario;

/// An input of commands, and the name that messages give it.
pub struct Commands {
    name: String,
    input: Box<dyn BufRead + Send>,
}

impl Commands {
    /// Reads commands from `input`; messages about a line call it `name`.
    pub fn new(name: impl Into<String>, input: impl BufRead + Send + 'static) -> Self {
        Self { name: name.into(), input: Box::new(input) }
    }

    /// Reads commands from a file or a named pipe, or from standard input if `path` is `-`. A named pipe is read until
    /// the run ends, however often its writer closes it.
    ///
    /// # Errors
    /// `RunErrorKind::Request` if `path` cannot be read.
    pub fn open(path: &Path) -> Result<Self, RunError> {
        if path == Path::new("-") {
            return Ok(Self::new("standard input", BufReader::new(io::stdin())));
        }
        let name = format!("`{}`", path.display());
        let opened = open(path).map_err(|error| {
            RunError::request(format!("cannot read commands from {name}: {error}"))
                .with_hint("give a file, a named pipe (`mkfifo commands`), or `-` for standard input")
        })?;
        Ok(Self::new(name, BufReader::new(opened)))
    }

    /// Checks that a run of `resolved` can take commands.
    ///
    /// # Errors
    /// `RunErrorKind::Request` if it does not follow the wall clock.
    pub(super) fn check(resolved: &ResolvedScenario) -> Result<(), RunError> {
        if resolved.pace.is_some() {
            return Ok(());
        }
        Err(RunError::request("`--commands` needs a paced run").with_hint(
            "add `--pace X`, in virtual seconds per second; for events at known times use `[[event]]` in \
             the scenario",
        ))
    }

    /// Reads commands in a thread of its own until the run ends. `next` is the number of the next command of the run, and
    /// `journal` writes each command down before it is used.
    ///
    /// # Errors
    /// `RunErrorKind::Run` if the thread cannot be started.
    pub(super) fn listen(
        self,
        sites: Vec<SiteSpec>,
        next: u64,
        journal: impl FnMut(&JournalEntry) -> Result<(), String> + Send + 'static,
        progress: &Progress,
    ) -> Result<Outside, RunError> {
        let (caller, outside) = Outside::new(journal);
        let reader = Reader { name: self.name, sites, next, caller, progress: progress.clone() };
        // The thread is not joined: it may wait for a line for ever.
        let spawned =
            thread::Builder::new().name("commands".to_owned()).spawn(move || reader.read(self.input));
        spawned.map_err(|error| {
            RunError::run(format!("no thread can be started that reads commands: {error}"))
        })?;
        Ok(outside)
    }
}

/// Reads commands and passes them to the run.
struct Reader {
    name: String,
    sites: Vec<SiteSpec>,
    /// The number of the next command.
    next: u64,
    caller: Caller,
    progress: Progress,
}

impl Reader {
    fn read(mut self, mut input: Box<dyn BufRead + Send>) {
        let mut line = Vec::new();
        for number in 1_u64.. {
            line.clear();
            match input.read_until(b'\n', &mut line) {
                Ok(0) => return,
                Ok(_) => {}
                Err(error) => {
                    return self.progress.warn(format!("no more commands from {}: {error}", self.name));
                }
            }
            if !self.take(number, String::from_utf8_lossy(&line).trim()) {
                return;
            }
        }
    }

    /// Passes the command of a line to the run. Returns false if the run has ended.
    fn take(&mut self, number: u64, text: &str) -> bool {
        let place = format!("line {number} of {}", self.name);
        let (site, body) = match line::read(text, &self.sites, self.next) {
            Ok(Some(command)) => command,
            Ok(None) => return true,
            Err(problem) => {
                self.progress.warn(format!("{place}: {problem}"));
                return true;
            }
        };
        match self.caller.command(site, body).wait() {
            Ok(JournalEntry { number, command }) => {
                self.next = number + 1;
                let job = match &command.body {
                    ToSite::Submit(job) => format!(", which is job {}", job.id),
                    ToSite::Book(BookAct::Reserve(wanted)) => format!(", by the name of `{}`", wanted.name),
                    _ => String::new(),
                };
                self.progress.note(format!("{place}, at {} s of the run: {text}{job}", command.at));
                true
            }
            Err(Refusal::Over) => {
                self.progress.warn(format!("{place} came too late: the run has ended"));
                false
            }
            Err(refusal) => {
                self.progress.warn(format!("{place}: {refusal}; it is not carried out"));
                true
            }
        }
    }
}

/// Opens the input of commands.
fn open(path: &Path) -> io::Result<File> {
    let kind = fs::metadata(path)?.file_type();
    if kind.is_dir() {
        return Err(io::Error::from(io::ErrorKind::IsADirectory));
    }
    // A pipe that this process has also open for writing does not end when its writer closes it, and opening it does not wait for a
    // writer.
    OpenOptions::new().read(true).write(is_pipe(kind)).open(path)
}

#[cfg(unix)]
fn is_pipe(kind: fs::FileType) -> bool {
    std::os::unix::fs::FileTypeExt::is_fifo(&kind)
}

#[cfg(not(unix))]
fn is_pipe(_: fs::FileType) -> bool {
    false
}
