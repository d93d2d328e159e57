//! The conversation in a file: each line with its direction.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use crate::experiment::RunError;
use crate::output::files;

/// The file of a conversation.
#[derive(Debug)]
pub(super) struct Log {
    path: PathBuf,
    file: BufWriter<File>,
}

impl Log {
    /// Begins a file.
    ///
    /// # Errors
    /// `RunErrorKind::Request` if it cannot be created.
    pub(super) fn create(path: &Path) -> Result<Self, RunError> {
        let file = files::create(path).map_err(|error| {
            RunError::request(format!("cannot write the broker's log `{}`: {error}", path.display()))
        })?;
        Ok(Self { path: path.to_owned(), file: BufWriter::new(file) })
    }

    /// Notes a line to the program.
    pub(super) fn to(&mut self, line: &[u8]) -> Result<(), String> {
        self.write("to", line)
    }

    /// Notes a line from the program. What is no JSON is written as a text.
    pub(super) fn from(&mut self, line: &[u8]) -> Result<(), String> {
        if serde_json::from_slice::<serde::de::IgnoredAny>(line).is_ok() {
            return self.write("from", line);
        }
        let text = serde_json::to_string(&String::from_utf8_lossy(line)).unwrap_or_default();
        self.write("from", text.as_bytes())
    }

    fn write(&mut self, direction: &str, line: &[u8]) -> Result<(), String> {
        let write = |file: &mut BufWriter<File>| {
            write!(file, "{{\"{direction}\":")?;
            file.write_all(line.trim_ascii())?;
            file.write_all(b"}\n")
        };
        write(&mut self.file)
            .map_err(|error| format!("the broker's log `{}` cannot be written: {error}", self.path.display()))
    }
}
