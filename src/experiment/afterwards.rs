//! What is made of the files of a run once it has ended.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

/// What is made of the files of a run once it has ended. It is kept with the snapshots of the run, so that a resumed run makes it too.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Afterwards {
    /// A trace for Perfetto.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub trace: bool,
    /// A page with tables and figures, and its path.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub page: Option<PathBuf>,
}

impl Afterwards {
    /// Whether nothing is made.
    pub fn is_nothing(&self) -> bool {
        *self == Self::default()
    }

    /// The same with its path relative to this folder.
    pub(super) fn typed_in(mut self, folder: &Path) -> Self {
        self.page = self.page.map(|page| folder.join(page));
        self
    }
}
