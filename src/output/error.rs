//! Errors of writing results.

use std::io;
use std::path::PathBuf;

use thiserror::Error;

/// A result that could not be written.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum OutputError {
    /// A file or folder could not be created, replaced or renamed.
    #[error("cannot {operation} `{}`: {source}", path.display())]
    Place {
        /// The operation, such as `create the folder`.
        operation: &'static str,
        /// The path it was applied to.
        path: PathBuf,
        /// Why it failed.
        source: io::Error,
    },
    /// A table could not be written to the end.
    #[error("cannot write `{}`: {source}; it holds {rows} complete rows", path.display())]
    Write {
        /// The file.
        path: PathBuf,
        /// The number of complete rows in it, without the header.
        rows: u64,
        /// Why it failed.
        source: io::Error,
    },
    /// A file of the interrupted run is missing.
    #[error("`{}` is missing: the interrupted run had written to it", path.display())]
    Gone {
        /// The file.
        path: PathBuf,
    },
    /// A file of the interrupted run is shorter than at the snapshot.
    #[error("`{}` has {bytes} bytes, but had {marked} at the snapshot", path.display())]
    Short {
        /// The file.
        path: PathBuf,
        /// Its length in bytes.
        bytes: u64,
        /// Its length in bytes at the snapshot.
        marked: u64,
    },
    /// A file of the interrupted run was changed before the mark.
    #[error("`{}` was changed: its first {bytes} bytes are not those that the run had written by the snapshot", path.display())]
    Edited {
        /// The file.
        path: PathBuf,
        /// Its length in bytes at the snapshot.
        bytes: u64,
    },
    /// The scenario in the folder is not that of the run.
    #[error("`{}` is not the scenario of this run", path.display())]
    OtherScenario {
        /// The file.
        path: PathBuf,
    },
    /// A file that the options require was not written up to the snapshot.
    #[error("`{}` cannot be continued: it was not among the files of the run at the snapshot", path.display())]
    Unmarked {
        /// The file.
        path: PathBuf,
    },
    /// A file of the interrupted run has the columns of another version.
    #[error("`{}` has other columns than this version of gridemu writes", path.display())]
    Columns {
        /// The file.
        path: PathBuf,
    },
    /// Another run writes the folder.
    #[error("`{}` is being written by another run{}", path.display(), by.map_or_else(String::new, |by| format!(" (process {by})")))]
    InUse {
        /// The folder.
        path: PathBuf,
        /// The process of that run, if it is known.
        by: Option<u32>,
    },
    /// A fork would overwrite the files of the run it starts from.
    #[error("`{}` contains the files that are to be copied there", path.display())]
    Same {
        /// The folder.
        path: PathBuf,
    },
}

impl OutputError {
    /// The error of an operation on a file or folder.
    pub(super) fn place(operation: &'static str, path: impl Into<PathBuf>) -> impl FnOnce(io::Error) -> Self {
        let path = path.into();
        move |source| Self::Place { operation, path, source }
    }

    /// What the user can do about it.
    pub fn hint(&self) -> &'static str {
        match self {
            Self::Place { source, .. } | Self::Write { source, .. } => hint_for(source.kind()),
            Self::Gone { .. } | Self::Edited { .. } => {
                "restore the file as the run left it, or run from the beginning into another folder"
            }
            Self::Short { .. } => {
                "restore the file as the run left it, remove this snapshot (`gridemu snapshots STORE --remove N`) to continue from the previous one, or run from the beginning"
            }
            Self::OtherScenario { .. } => {
                "remove it, and it is written again; to continue with another scenario, fork the run"
            }
            Self::Unmarked { .. } => "omit this output, or run from the beginning with it",
            Self::Columns { .. } => "use the version of gridemu that began the run",
            Self::InUse { .. } => "wait until that run has ended, or choose another folder",
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
