//! What a store says of its campaign to whoever finds it: which command goes on with it, and how far its table is.

use std::fs;
use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::experiment::RunError;
use crate::experiment::scenario::Override;
use crate::experiment::scenario::shell_word;

/// The file in the store.
const ABOUT: &str = "campaign.json";

/// How far a campaign is, as the last command on its store left it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(in crate::experiment) struct About {
    /// What the campaign is called.
    pub(in crate::experiment) name: String,
    /// What was typed, without the store.
    pub(super) command: String,
    /// Runs that the campaign has.
    pub(in crate::experiment) runs: u64,
    /// Runs in its table; `None` while they are done, and after a kill.
    pub(in crate::experiment) tabled: Option<u64>,
}

impl About {
    /// What the store `folder` says; `None` if it does not say, or not in words of today.
    pub(in crate::experiment) fn read(folder: &Path) -> Option<Self> {
        serde_json::from_slice(&fs::read(folder.join(ABOUT)).ok()?).ok()
    }

    /// Writes it into the store `folder`, whole or not at all.
    ///
    /// # Errors
    /// [`RunError::Run`] if it cannot be written.
    pub(super) fn write(&self, folder: &Path) -> Result<(), RunError> {
        let text = serde_json::to_string_pretty(self).map_err(RunError::run)?;
        write_whole(&folder.join(ABOUT), text.as_bytes())
    }

    /// The command that goes on with the campaign in `store`.
    pub(in crate::experiment) fn go_on(&self, store: &Path) -> String {
        format!("{} --store {}", self.command, shell_word(&store.display().to_string()))
    }
}

/// The command of the campaign of `file` with these values.
pub(super) fn command(file: &Path, sets: &[Override]) -> String {
    let mut command = format!("gridemu campaign {}", shell_word(&file.display().to_string()));
    for set in sets {
        command = format!("{command} {}", set.typed_again());
    }
    command
}

/// Writes a file that appears whole or not at all.
///
/// # Errors
/// [`RunError::Run`] if it cannot be written.
pub(super) fn write_whole(path: &Path, bytes: &[u8]) -> Result<(), RunError> {
    let mut part = path.as_os_str().to_owned();
    part.push(".part");
    let written = fs::write(&part, bytes).and_then(|()| fs::rename(&part, path));
    written.map_err(|error| RunError::run(format!("cannot write `{}`: {error}", path.display())))
}
