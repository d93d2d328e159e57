//! A scenario before overrides: read once, and assembled repeatedly with other values.

use std::fs;
use std::path::{Path, PathBuf};

use super::tree::{Node, Origins};
use crate::scenario::problem::{Problem, ScenarioError};

/// The tree of a scenario's text, with the places of its values.
#[derive(Clone, Debug)]
pub(crate) struct Base {
    pub(super) file: PathBuf,
    pub(super) root: Node,
    pub(super) origins: Origins,
    /// True for the scenario of a finished run: its logs need not be there any more.
    pub(super) kept: bool,
}

impl Base {
    /// Reads the scenario in a file.
    ///
    /// # Errors
    /// If it cannot be read, or is not valid TOML.
    pub(crate) fn load(file: &Path) -> Result<Self, ScenarioError> {
        let text = fs::read_to_string(file).map_err(|error| ScenarioError::unreadable(file, &error))?;
        Ok(Self::parse(file, &text)?)
    }

    /// Reads the scenario `text` of the file `file`.
    ///
    /// # Errors
    /// If it is not valid TOML.
    pub(crate) fn parse(file: &Path, text: &str) -> Result<Self, Problem> {
        let mut origins = Origins::default();
        let folder = file.parent().unwrap_or(Path::new("")).to_owned();
        let root = origins.parse(&file.display().to_string(), text, folder)?;
        Ok(Self { file: file.to_owned(), root, origins, kept: false })
    }

    /// A scenario that is a part of a larger file, whose places are in `origins`.
    pub(crate) const fn within(file: PathBuf, root: Node, origins: Origins) -> Self {
        Self { file, root, origins, kept: false }
    }

    /// The same scenario, as that of a finished run: its logs need not be there any more.
    pub(crate) fn kept(self) -> Self {
        Self { kept: true, ..self }
    }
}
