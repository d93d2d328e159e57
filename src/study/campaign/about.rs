//! The description of a campaign in its store: the command that continues it, and the state of its table.

use std::fs;
use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::experiment::RunError;
use crate::output::write_whole;
use crate::scenario::Override;
use crate::scenario::shell_word;

/// The file name of the table in the store of a campaign.
pub(crate) const TABLE: &str = "results.csv";

/// The beginning of a command.
pub(super) const PROGRAM: &str = "gridemu ";

/// The file name of the description.
const ABOUT: &str = "campaign.json";

/// The state of a campaign after the last command on its store.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct About {
    /// The name of the campaign.
    pub(crate) name: String,
    /// The typed command, without the store.
    pub(super) command: String,
    /// The number of runs of the campaign.
    pub(crate) runs: u64,
    /// The number of runs in its table; `None` while runs are carried out, and after a kill.
    pub(crate) tabled: Option<u64>,
    /// The label with which comparisons compare the others, if the campaign names one.
    #[serde(default)]
    pub(crate) baseline: Option<String>,
    /// The dates at which its seeds begin, as in [`StudyTable::dates`](crate::study::StudyTable::dates).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) dates: Vec<(u64, String)>,
    /// The part of the campaign to which the store belongs; `None` for the whole campaign, and if several parts share the store.
    #[serde(default)]
    pub(super) part: Option<Part>,
}

/// A part of a campaign with a store of its own.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Part {
    /// The part, such as `1/2`.
    pub(super) shard: String,
    /// The number of its runs without a result in the table.
    pub(super) left: u64,
}

impl About {
    /// The description in the store `folder`; `None` if there is none, or if it has another form.
    pub(crate) fn read(folder: &Path) -> Option<Self> {
        serde_json::from_slice(&fs::read(folder.join(ABOUT)).ok()?).ok()
    }

    /// Writes the description into the store `folder`, whole or not at all.
    ///
    /// # Errors
    /// `RunErrorKind::Output` if it cannot be written.
    pub(super) fn write(&self, folder: &Path) -> Result<(), RunError> {
        let text = serde_json::to_string_pretty(self).map_err(RunError::run)?;
        Ok(write_whole(&folder.join(ABOUT), text)?)
    }

    /// The hint about runs that are missing in `store`: continue the campaign, or its part; once a part is complete, merge it with the
    /// others.
    pub(crate) fn go_on(&self, store: &Path) -> String {
        let (command, store) = (&self.command, shell_word(&store.display().to_string()));
        match &self.part {
            None => format!("continue with `{command} --store {store}`"),
            Some(part) if part.left > 0 || self.tabled.is_none() => {
                format!("continue with `{command} --shard {} --store {store}`", part.shard)
            }
            Some(_) => format!("merge it with the others: `{command} --merge {store} OTHERS`"),
        }
    }

    /// What the store contains: a campaign that is not finished, or a complete part.
    pub(crate) fn what(&self) -> String {
        match &self.part {
            Some(part) if part.left == 0 && self.tabled.is_some() => {
                format!("part {} of a campaign", part.shard)
            }
            Some(part) => format!("an unfinished part of a campaign ({})", part.shard),
            None => "an unfinished campaign".to_owned(),
        }
    }
}

/// The command for the campaign of `file` with these overrides, which begins with [`PROGRAM`]. Paths are absolute, since a reader may be
/// in another folder.
pub(super) fn command(file: &Path, sets: &[Override]) -> String {
    let file = std::path::absolute(file).unwrap_or_else(|_| file.to_owned());
    let mut command = format!("{PROGRAM}campaign {}", shell_word(&file.display().to_string()));
    for set in sets {
        command = format!("{command} {}", set.typed_again());
    }
    command
}
