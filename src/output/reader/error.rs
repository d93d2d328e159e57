//! Errors of reading the folder of a run.

use std::io;
use std::path::{Path, PathBuf};

use thiserror::Error;

/// A folder or table cannot be read: where, what is wrong, and what would be right.
#[derive(Debug, Error)]
#[error("{}{message}", place(path, *line))]
pub struct ReadError {
    /// The file or folder.
    path: PathBuf,
    /// The line of a table, from 1; 0 if the error concerns the file as a whole.
    line: u64,
    message: String,
    hint: Option<&'static str>,
}

fn place(path: &Path, line: u64) -> String {
    match line {
        0 => format!("`{}`: ", path.display()),
        _ => format!("{}:{line}: ", path.display()),
    }
}

impl ReadError {
    /// An error in the line `line` of the table at `path`; 0 means the table as a whole.
    pub(crate) fn at(path: &Path, line: u64, message: impl Into<String>) -> Self {
        Self { path: path.to_owned(), line, message: message.into(), hint: None }
    }

    pub(crate) fn with_hint(self, hint: &'static str) -> Self {
        Self { hint: Some(hint), ..self }
    }

    pub(super) fn unreadable(path: &Path, error: &io::Error) -> Self {
        let hint = match error.kind() {
            io::ErrorKind::NotFound => Some("give a folder that `run --out` or `replay --out` wrote"),
            _ => None,
        };
        Self { hint, ..Self::at(path, 0, format!("cannot be read: {error}")) }
    }

    pub(super) fn broken_summary(path: &Path, error: &serde_json::Error) -> Self {
        Self::at(path, error.line() as u64, format!("this is not the summary of a run: {error}"))
            .with_hint("run it again; a run writes its summary last")
    }

    pub(super) fn no_run(path: &Path) -> Self {
        if path.join("jobs.csv").is_file() {
            return Self::at(path, 0, "there is a jobs.csv, but no summary.json: this run has not finished")
                .with_hint(
                    "if it still runs, wait for its end; if it was stopped, continue it (`gridemu resume`); if it failed, run it again; or give the path of jobs.csv itself",
                );
        }
        Self::at(path, 0, "there is no run in this folder: no summary.json, and no out_jobs.csv of Batsim")
            .with_hint("give a folder that `run --out` or `replay --out` wrote")
    }

    /// What the user can do about it.
    pub const fn hint(&self) -> Option<&'static str> {
        self.hint
    }
}
