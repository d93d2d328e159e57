//! What a store keeps of a run that has ended.

use std::path::Path;

use serde::{Deserialize, Serialize};

use super::RunError;
use crate::metrics::GridSummary;
use crate::output::{FileMark, Since};

/// What a store keeps of a run that has ended.
#[derive(Clone, Debug, Deserialize)]
pub struct Ended {
    /// Its summary.
    pub summary: GridSummary,
    /// What its files held.
    files: Vec<FileMark>,
}

/// The same as it is written.
#[derive(Debug, Serialize)]
pub(super) struct Ending<'a> {
    pub(super) summary: &'a GridSummary,
    pub(super) files: Vec<FileMark>,
}

impl Ended {
    /// Reads what [`Ending`] wrote, or a summary alone, which older versions wrote.
    pub(super) fn read(bytes: &[u8]) -> Result<Self, RunError> {
        let alone = |_| serde_json::from_slice(bytes).map(|summary| Self { summary, files: Vec::new() });
        serde_json::from_slice(bytes).or_else(alone).map_err(|error: serde_json::Error| {
            RunError::request(format!("the summary in the store cannot be read: {error}"))
        })
    }

    /// Checks that the files in `folder` are those that the run wrote there.
    ///
    /// # Errors
    /// `RunErrorKind::Run` names those that are gone or have changed.
    pub fn check_files(&self, folder: &Path) -> Result<(), RunError> {
        let mut wrong = Vec::new();
        for file in &self.files {
            let what = match file.since(folder).map_err(RunError::from)? {
                Since::AsItWas => continue,
                Since::Gone => "is gone",
                Since::Changed => "has changed",
            };
            wrong.push(format!("{} {what}", file.name));
        }
        if wrong.is_empty() {
            return Ok(());
        }
        let message = format!(
            "the files in `{}` are not those of this run any more: {}",
            folder.display(),
            wrong.join(", ")
        );
        Err(RunError::run(message).with_hint(
            "the store has the result, not the files; run the scenario again with `--checkpoint-anew`",
        ))
    }
}
