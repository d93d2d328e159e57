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
    /// A file of the interrupted run that is not there any more.
    #[error("`{}` is gone: the run that is to go on had been writing it", path.display())]
    Gone {
        /// The file.
        path: PathBuf,
    },
    /// A file of the interrupted run that was cut.
    #[error("`{}` has {bytes} bytes, but had {marked} at the snapshot", path.display())]
    Short {
        /// The file.
        path: PathBuf,
        /// Its bytes.
        bytes: u64,
        /// Its bytes at the snapshot.
        marked: u64,
    },
    /// A file of the interrupted run in which something was changed.
    #[error("`{}` was changed: its first {bytes} bytes are not those that the run had written by the snapshot", path.display())]
    Edited {
        /// The file.
        path: PathBuf,
        /// Its bytes at the snapshot.
        bytes: u64,
    },
    /// A scenario in the folder that is not that of the run.
    #[error("`{}` is not the scenario that the run goes on with", path.display())]
    OtherScenario {
        /// The file.
        path: PathBuf,
    },
    /// A file that is to go on, but was not written up to the snapshot.
    #[error("`{}` cannot go on: it was not among the files of the run at the snapshot", path.display())]
    Unmarked {
        /// The file.
        path: PathBuf,
    },
    /// A file of the interrupted run whose columns are those of another version.
    #[error("`{}` has other columns than this version of gridemu writes", path.display())]
    Columns {
        /// The file.
        path: PathBuf,
    },
    /// A future that would be written over its own past.
    #[error("`{}` holds the past that is to be copied there", path.display())]
    Same {
        /// The folder.
        path: PathBuf,
    },
}

impl OutputError {
    /// What the user can do about it.
    pub fn hint(&self) -> &'static str {
        match self {
            Self::Place { source, .. } | Self::Write { source, .. } => hint_for(source.kind()),
            Self::Gone { .. } | Self::Edited { .. } => {
                "put the file back as the run left it, or run from the beginning into another folder"
            }
            Self::Short { .. } => {
                "put the file back as the run left it, remove this snapshot (`gridemu snapshots STORE --remove N`) to go on from the one before, or run from the beginning"
            }
            Self::OtherScenario { .. } => {
                "remove it, and it is written again; to go on with another scenario, fork the run"
            }
            Self::Unmarked { .. } => "leave this output off, or run from the beginning with it",
            Self::Columns { .. } => "go on with the version that began the run",
            Self::Same { .. } => "choose another folder",
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
