//! A scenario before overrides: read once, and assembled repeatedly with other values.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use super::set::shell_word;
use super::traces::Traces;
use super::tree::{Node, Origins};
use crate::output::files;
use crate::scenario::problem::{Problem, ScenarioError};

/// True for the usual names of logs.
fn is_log(file: &Path) -> bool {
    let name = file.to_string_lossy().to_lowercase();
    [".swf", ".cwf"].iter().any(|ending| name.trim_end_matches(".gz").ends_with(ending))
}

/// The command for a log.
fn replay(log: &Path) -> String {
    format!("this looks like a log: `gridemu replay {} --policy easy`", shell_word(&log.to_string_lossy()))
}

/// The tree of a scenario's text, with the places of its values.
#[derive(Clone, Debug)]
pub(crate) struct Base {
    pub(super) file: PathBuf,
    pub(super) root: Node,
    pub(super) origins: Origins,
    /// True for the scenario of a finished run: its logs need not be there any more.
    pub(super) kept: bool,
    /// The traces that it names, as far as they have been read.
    pub(super) traces: Traces,
}

impl Base {
    /// Reads the scenario in a file.
    ///
    /// # Errors
    /// If it cannot be read, or is not valid TOML.
    pub(crate) fn load(file: &Path) -> Result<Self, ScenarioError> {
        let text = files::text(file).map_err(|error| {
            let unreadable = ScenarioError::unreadable(file, &error);
            if matches!(error.kind(), ErrorKind::InvalidData | ErrorKind::FileTooLarge) && is_log(file) {
                return unreadable.first_with_hint(replay(file));
            }
            unreadable
        })?;
        Self::parse(file, &text).map_err(|problem| {
            ScenarioError::from(if is_log(file) || text.starts_with(';') {
                problem.with_hint(replay(file))
            } else {
                problem
            })
        })
    }

    /// Reads the scenario `text` of the file `file`.
    ///
    /// # Errors
    /// If it is not valid TOML.
    pub(crate) fn parse(file: &Path, text: &str) -> Result<Self, Problem> {
        let mut origins = Origins::default();
        let folder = file.parent().unwrap_or(Path::new("")).to_owned();
        let root = origins.parse(&file.display().to_string(), text, folder)?;
        Ok(Self { file: file.to_owned(), root, origins, kept: false, traces: Traces::default() })
    }

    /// A scenario that is a part of a larger file, whose places are in `origins`.
    pub(crate) fn within(file: PathBuf, root: Node, origins: Origins) -> Self {
        Self { file, root, origins, kept: false, traces: Traces::default() }
    }

    /// The same scenario, as that of a finished run: its logs need not be there any more.
    pub(crate) fn kept(self) -> Self {
        Self { kept: true, ..self }
    }
}
