//! How writing results can fail.

use std::io;
use std::path::PathBuf;

use thiserror::Error;

/// A result that could not be written.
#[derive(Debug, Error)]
pub enum OutputError {
    /// A file or folder that could not be made, replaced or put in place.
    #[error("cannot {operation} `{}`: {source}", path.display())]
    Place {
        /// What was attempted, such as `create the folder`.
        operation: &'static str,
        /// On what.
        path: PathBuf,
        /// Why it failed.
        source: io::Error,
    },
    /// A table that could not be written to the end.
    #[error("cannot write `{}`: {source}; it holds {rows} complete rows", path.display())]
    Write {
        /// The file.
        path: PathBuf,
        /// Complete rows in it, not counting the header.
        rows: u64,
        /// Why it failed.
        source: io::Error,
    },
}

impl OutputError {
    /// What the user can do about it.
    pub fn hint(&self) -> &'static str {
        hint_for(self.io().kind())
    }

    const fn io(&self) -> &io::Error {
        match self {
            Self::Place { source, .. } | Self::Write { source, .. } => source,
        }
    }
}

/// What a user can do about a file or folder that cannot be written.
pub fn hint_for(kind: io::ErrorKind) -> &'static str {
    use io::ErrorKind::{
        AlreadyExists, IsADirectory, NotADirectory, PermissionDenied, QuotaExceeded, ReadOnlyFilesystem,
        StorageFull,
    };
    match kind {
        StorageFull | QuotaExceeded => "free some space, or choose a folder on another disk",
        PermissionDenied | ReadOnlyFilesystem => "choose a folder that you may write to",
        AlreadyExists | NotADirectory => "a file is in the way; choose another folder",
        IsADirectory => "a folder is in the way; choose another folder",
        _ => "check the disk, or choose another folder",
    }
}
