//! The conversations of futures with the broker's program.

use std::fs;
use std::path::{Path, PathBuf};

use tempfile::TempDir;

use crate::experiment::RunError;
use crate::experiment::program::JOURNAL;
use crate::experiment::resume::Stored;
use crate::experiment::scratch::scratch;

/// Copies of the conversation of a run, one for each future.
pub(super) struct Conversations {
    folder: PathBuf,
    /// Removes the folder, if it is their own.
    _own: Option<TempDir>,
}

impl Conversations {
    /// The conversation of a stored run, as far as its store has it, in this folder or in one that is removed with the copies.
    ///
    /// # Errors
    /// `RunErrorKind::Request` if it cannot be copied.
    pub(super) fn of(stored: &Stored, folder: Option<&Path>) -> Result<Self, RunError> {
        let conversations = match folder {
            Some(folder) => Self { folder: folder.to_owned(), _own: None },
            None => {
                let own = scratch("fork")?;
                Self { folder: own.path().to_owned(), _own: Some(own) }
            }
        };
        let of_run = stored.store.folder().join(JOURNAL);
        copy(&of_run, &conversations.as_it_was())?;
        Ok(conversations)
    }

    /// That of the unchanged future, and of the run up to the fork.
    pub(super) fn as_it_was(&self) -> PathBuf {
        self.folder.join("as-it-was")
    }

    /// That of the changed future: what was said up to now.
    ///
    /// # Errors
    /// `RunErrorKind::Request` if it cannot be copied.
    pub(super) fn changed(&self) -> Result<PathBuf, RunError> {
        let changed = self.folder.join("changed");
        copy(&self.as_it_was(), &changed)?;
        Ok(changed)
    }
}

fn copy(from: &Path, to: &Path) -> Result<(), RunError> {
    fs::copy(from, to).map(|_| ()).map_err(|error| {
        RunError::request(format!(
            "the conversation of the broker's program, `{}`, cannot be copied: {error}",
            from.display()
        ))
    })
}
