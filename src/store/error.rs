//! Errors of a store, each with a hint of what to do.

use std::fmt;
use std::io;
use std::path::PathBuf;

use thiserror::Error;

use super::disk::is_read_only;

/// How to get a build with redb.
pub(crate) const BUILD_REDB: &str = "build it with it: `cargo build --release --features redb`";

/// A part of a store.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Part {
    /// The marker file.
    Marker,
    /// The description of the run.
    Run,
    /// The summary of a finished run.
    Summary,
    /// The seal of the snapshot with this number.
    Seal(u64),
    /// A file of the database of this snapshot.
    File(u64),
    /// The table of contents of this snapshot.
    Manifest(u64),
    /// A piece of a section of a snapshot.
    Chunk {
        /// The snapshot.
        snapshot: u64,
        /// The section.
        section: String,
        /// The number of the piece, from 0.
        chunk: usize,
    },
    /// The entry of the journal with this number.
    Entry(u64),
    /// The block with this number among those that snapshots share, from 0.
    Block(u64),
    /// The result of a run of a campaign, by its key.
    Result(u128),
}

impl fmt::Display for Part {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Marker => f.write_str("the marker"),
            Self::Run => f.write_str("the description of the run"),
            Self::Summary => f.write_str("the summary"),
            Self::Seal(snapshot) => write!(f, "the seal of snapshot {snapshot}"),
            Self::File(snapshot) => write!(f, "a database file of snapshot {snapshot}"),
            Self::Manifest(snapshot) => write!(f, "the contents of snapshot {snapshot}"),
            Self::Chunk { snapshot, section, chunk } => {
                write!(f, "chunk {chunk} of section `{section}` of snapshot {snapshot}")
            }
            Self::Entry(entry) => write!(f, "entry {entry} of the journal"),
            Self::Block(block) => write!(f, "shared block {block}"),
            Self::Result(key) => write!(f, "the result {key:032x}"),
        }
    }
}

/// An error of an operation on a store.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum StoreError {
    /// The folder does not exist.
    #[error("there is no store at `{}`", .0.display())]
    Absent(PathBuf),
    /// The folder holds something that is no store.
    #[error("`{}` is not a store of gridemu: {what}", path.display())]
    Foreign {
        /// The folder.
        path: PathBuf,
        /// What it holds.
        what: String,
    },
    /// The folder holds the results of another campaign.
    #[error("`{}` holds the results of the campaign `{of}`, not of `{wanted}`", path.display())]
    OtherCampaign {
        /// The folder.
        path: PathBuf,
        /// The campaign of the results.
        of: String,
        /// The campaign that was asked for.
        wanted: String,
    },
    /// The folder of a new store holds a store already.
    #[error(
        "`{}` is the store of {}: {title}",
        path.display(),
        if *finished { "a finished run" } else { "a run that has not ended" }
    )]
    Occupied {
        /// The folder.
        path: PathBuf,
        /// The title of the run in the store.
        title: String,
        /// Whether that run is over.
        finished: bool,
    },
    /// A newer version of the program made the store.
    #[error(
        "the store `{}` has layout {layout} and was made by gridemu {program}; this program knows layout {known}",
        path.display()
    )]
    Newer {
        /// The folder.
        path: PathBuf,
        /// The layout of the store.
        layout: u32,
        /// The latest layout that this program reads.
        known: u32,
        /// The version of the program that made it.
        program: String,
    },
    /// An older version of the program made the store, with a layout that is not read any more.
    #[error(
        "the store `{}` has layout {layout} and was made by gridemu {program}; this program reads layouts \
         from {known} on",
        path.display()
    )]
    Older {
        /// The folder.
        path: PathBuf,
        /// The layout of the store.
        layout: u32,
        /// The earliest layout that this program reads.
        known: u32,
        /// The version of the program that made it.
        program: String,
    },
    /// Another process has the store open.
    #[error("the store `{}` is in use by {}", path.display(), holder(by))]
    InUse {
        /// The folder.
        path: PathBuf,
        /// The process number in the lock file.
        by: Option<u32>,
    },
    /// A file is shorter than it should be.
    #[error("{part} is cut short: `{}` {why}", path.display())]
    CutShort {
        /// The part of the store.
        part: Part,
        /// The file.
        path: PathBuf,
        /// The symptom.
        why: String,
    },
    /// Something is not as it was written.
    #[error("{part} is damaged: `{}` {why}", path.display())]
    Damaged {
        /// The part of the store.
        part: Part,
        /// The file or folder.
        path: PathBuf,
        /// The symptom.
        why: String,
    },
    /// A run ended before its first snapshot, or while its store was being made.
    #[error("the run of `{}` ended before its first snapshot: there is nothing to go on from", .0.display())]
    Unsaved(PathBuf),
    /// No snapshot can be used.
    #[error("no snapshot of `{}` can be used{}", path.display(), list(skipped))]
    NoSnapshot {
        /// The folder.
        path: PathBuf,
        /// The snapshots of the store, with the reasons why they cannot be used; newest first.
        skipped: Vec<(u64, String)>,
    },
    /// No snapshot has this number.
    #[error("there is no snapshot {number} in `{}`{}", path.display(), there(have))]
    Unknown {
        /// The folder.
        path: PathBuf,
        /// The number that was asked for.
        number: u64,
        /// The numbers of the snapshots of the store.
        have: Vec<u64>,
    },
    /// The only usable snapshot may not be removed.
    #[error("snapshot {number} is the only one of `{}` that can be used", path.display())]
    Last {
        /// The folder.
        path: PathBuf,
        /// The snapshot.
        number: u64,
    },
    /// A block exists with other content.
    #[error("a block of `{}` is there already, with other content", .0.display())]
    OtherBlock(PathBuf),
    /// A block is missing.
    #[error("a block that a snapshot needs is not in `{}`", .0.display())]
    NoBlock(PathBuf),
    /// Nothing more can be appended, since an earlier write failed in the middle.
    #[error("`{}` cannot be written any more since an earlier write failed", .0.display())]
    Broken(PathBuf),
    /// An error of the file system.
    #[error("cannot {operation} `{}`: {source}", path.display())]
    Io {
        /// What was attempted.
        operation: &'static str,
        /// The file or folder.
        path: PathBuf,
        /// The error of the system.
        source: io::Error,
    },
    /// The store is kept in a database that this build lacks.
    #[error("`{}` is kept in {engine}, and this gridemu is built without the feature `{engine}`", path.display())]
    NotBuiltIn {
        /// The file or folder that was to be opened.
        path: PathBuf,
        /// The database.
        engine: &'static str,
    },
    /// An error of the database.
    #[error("cannot {operation} `{}`: {why}", path.display())]
    Engine {
        /// What was attempted.
        operation: &'static str,
        /// The file or folder.
        path: PathBuf,
        /// The message of the database.
        why: String,
    },
}

impl StoreError {
    /// What the user can do.
    pub fn hint(&self) -> &'static str {
        match self {
            Self::Absent { .. } => "check the path; a store is made by a run with `--checkpoint`",
            Self::OtherCampaign { .. } => "give each campaign its own folder: `--store DIR`",
            Self::Foreign { .. } => "name the folder of a store; to make one, a new or empty folder",
            Self::Occupied { finished: false, .. } => {
                "continue with `gridemu resume`, or choose another folder, or remove this one"
            }
            Self::Occupied { finished: true, .. } => "choose another folder, or remove this one",
            Self::Newer { .. } => "use that version of gridemu, or a later one",
            Self::Older { .. } => "use the version of gridemu that made it, or start the run again",
            Self::InUse { .. } => "wait until that process ends, or stop it",
            Self::CutShort { part, .. } | Self::Damaged { part, .. } => match part {
                Part::Marker | Part::Run => "restore the file from a copy, or start the run again",
                Part::Summary => {
                    "remove the file `finished` from the store: the run can then be resumed from its last snapshot"
                }
                Part::Entry(_) => "later commands are lost; restore the file from a copy, or start again",
                Part::Result(_) => "remove the folder and run the campaign again, or restore it from a copy",
                Part::Block(_) => "use a snapshot from before that block, or start the run again",
                _ => "use another snapshot: `gridemu snapshots` lists those that are intact",
            },
            Self::Unsaved(_) => "begin it again: the same command takes the same folder",
            Self::NoSnapshot { .. } => "restore the store from a copy, or start the run again",
            Self::Unknown { .. } => "`gridemu snapshots` lists those that there are",
            Self::Last { .. } => "remove the folder if you do not need the run any more",
            Self::OtherBlock { .. } | Self::NoBlock { .. } => {
                "the store is of another run or another version; start the run again"
            }
            Self::Broken { .. } => "free some space or check the disk, then resume the run",
            Self::Io { .. } if self.is_full() => "free some space, then resume the run",
            Self::Io { .. } if self.is_read_only() => "copy the store to a folder that you may write to",
            Self::Io { .. } => "check the disk, then resume the run",
            Self::NotBuiltIn { .. } => BUILD_REDB,
            Self::Engine { .. } => "check the disk; if it is sound, this is a bug: please report it",
        }
    }

    /// Whether the disk is full.
    pub fn is_full(&self) -> bool {
        use io::ErrorKind::{FileTooLarge, QuotaExceeded, StorageFull};
        matches!(self, Self::Io { source, .. } if matches!(source.kind(), StorageFull | QuotaExceeded | FileTooLarge))
    }

    /// Whether nothing may be written there.
    pub fn is_read_only(&self) -> bool {
        matches!(self, Self::Io { source, .. } if is_read_only(source))
    }

    /// Whether bytes differ from those that were written, or are missing.
    pub const fn is_damage(&self) -> bool {
        matches!(self, Self::CutShort { .. } | Self::Damaged { .. })
    }
}

fn holder(by: &Option<u32>) -> String {
    by.map_or_else(|| "another process".to_owned(), |id| format!("process {id}"))
}

fn list(skipped: &[(u64, String)]) -> String {
    if skipped.is_empty() {
        return ": there is none".to_owned();
    }
    let each: Vec<String> = skipped.iter().map(|(number, why)| format!("{number}: {why}")).collect();
    format!(": {}", each.join("; "))
}

fn there(have: &[u64]) -> String {
    if have.is_empty() {
        return "; there is none".to_owned();
    }
    let each: Vec<String> = have.iter().map(u64::to_string).collect();
    format!("; there are {}", each.join(", "))
}
