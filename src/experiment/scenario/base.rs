//! What a scenario says before anything is said instead: read once, put together again and again with other values.

use std::fs;
use std::path::{Path, PathBuf};

use super::document::Document;
use super::tree::{Node, Origins};
use super::{Override, Problem, Scenario, ScenarioError, unreadable};
use crate::broker::BrokerRegistry;
use crate::local::Registry;

/// The text of a scenario as a tree, and where it was written.
#[derive(Clone, Debug)]
pub(in crate::experiment) struct Base {
    file: PathBuf,
    root: Node,
    origins: Origins,
}

impl Base {
    /// The scenario in a file.
    ///
    /// # Errors
    /// If it cannot be read, or is no TOML.
    pub(in crate::experiment) fn load(file: &Path) -> Result<Self, ScenarioError> {
        let text = fs::read_to_string(file).map_err(|error| unreadable(file, &error))?;
        Ok(Self::parse(file, &text)?)
    }

    /// The scenario `text` of the file `file`.
    ///
    /// # Errors
    /// If it is no TOML.
    pub(in crate::experiment) fn parse(file: &Path, text: &str) -> Result<Self, Problem> {
        let mut origins = Origins::default();
        let folder = file.parent().unwrap_or(Path::new("")).to_owned();
        let root = origins.parse(&file.display().to_string(), text, folder)?;
        Ok(Self { file: file.to_owned(), root, origins })
    }

    /// A scenario that stands in a larger file, of which `origins` knows the places.
    pub(in crate::experiment) const fn within(file: PathBuf, root: Node, origins: Origins) -> Self {
        Self { file, root, origins }
    }

    /// Reads it, with values said instead of what is written.
    ///
    /// # Errors
    /// Everything that is wrong, with its place.
    pub(in crate::experiment) fn read(
        &self,
        sets: &[Override],
        registry: &Registry,
        brokers: &BrokerRegistry,
    ) -> Result<Scenario, ScenarioError> {
        let document =
            Document::assemble(self.root.clone(), self.origins.clone(), &self.file, sets, &|path: &Path| {
                fs::read_to_string(path)
            })?;
        Scenario::of(&document, &self.file, registry, brokers)
    }
}
