//! What a store says of its run: enough to build it again in another process.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::experiment::{ReplayOptions, RunError};
use crate::store::{About, RunKind};

/// A run that can be built again. It is kept as JSON, which people can read.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(in crate::experiment) enum Description {
    /// `gridemu run`.
    Run {
        /// The folder in which the command was typed, which paths are seen from.
        folder: PathBuf,
        /// The scenario with every default.
        scenario: String,
        /// Threads of the actors.
        threads: usize,
    },
    /// `gridemu replay`.
    Replay {
        /// The folder in which the command was typed, which paths are seen from.
        folder: PathBuf,
        /// What is replayed.
        options: Box<ReplayOptions>,
    },
}

impl Description {
    /// For a store of a run that is called `title`.
    pub(in crate::experiment) fn about(&self, title: &str, hash: u128) -> Result<About, RunError> {
        let description = serde_json::to_vec_pretty(self)
            .map_err(|error| RunError::run(format!("the run cannot be described in its store: {error}")))?;
        Ok(About {
            kind: match self {
                Self::Run { .. } => RunKind::Run,
                Self::Replay { .. } => RunKind::Replay,
            },
            description,
            title: title.to_owned(),
            hash,
            program: env!("CARGO_PKG_VERSION").to_owned(),
        })
    }

    /// Of the run of a store in the folder `store`.
    pub(in crate::experiment) fn read(store: &Path, about: &About) -> Result<Self, RunError> {
        serde_json::from_slice(&about.description).map_err(|error| {
            let store = store.display();
            RunError::request(format!(
                "`{store}` describes its run in a way that this gridemu does not know: {error}"
            ))
            .with_hint(format!("it was written by gridemu {}; resume it with that version", about.program))
        })
    }
}
