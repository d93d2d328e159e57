//! What goes into a store and comes out of it.

use std::fmt;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::engines::EngineKind;
use crate::units::Time;

/// Which command made the run.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RunKind {
    /// `gridemu run`.
    Run,
    /// `gridemu replay`.
    Replay,
}

impl fmt::Display for RunKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Run => "run",
            Self::Replay => "replay",
        })
    }
}

/// The run that a store is of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct About {
    /// Which command made it.
    pub kind: RunKind,
    /// Everything that is needed to build it again, as its maker encodes it.
    pub description: Vec<u8>,
    /// What it is called, for people.
    pub title: String,
    /// The hash of its scenario.
    pub hash: u128,
    /// The version of the program that made it.
    pub program: String,
}

/// Where a run was cut for a snapshot.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cut {
    /// Everything before this moment has happened, and nothing at it or after it has.
    pub at: Time,
    /// How many jobs had ended.
    pub jobs: u64,
    /// How many records had been written.
    pub records: u64,
    /// How many entries of the journal had been used: those from this number on come after the cut.
    pub entries: u64,
    /// Kept until it is removed by name, however many come after it.
    pub kept: bool,
}

/// A named part of a snapshot.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Section {
    /// What it is; no two of a snapshot have the same.
    pub name: String,
    /// The version of its encoding.
    pub version: u32,
    /// What it holds.
    pub bytes: Vec<u8>,
}

/// Whether a snapshot is as it was written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum State {
    /// Every byte is.
    Intact,
    /// It is not, and cannot be used: why.
    Damaged(String),
}

/// A snapshot in a list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SnapshotInfo {
    /// Its number in the store; later ones have larger ones.
    pub number: u64,
    /// Where the run was cut; `None` if that cannot be read any more.
    pub cut: Option<Cut>,
    /// When it was taken, in seconds since 1970.
    pub taken: u64,
    /// How many bytes its sections hold.
    pub bytes: u64,
    /// How many bytes it takes on the disk.
    pub on_disk: u64,
    /// Whether it can be used.
    pub state: State,
}

/// The newest snapshot that can be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Newest {
    /// Its number.
    pub number: u64,
    /// Where the run was cut.
    pub cut: Cut,
    /// What it is.
    pub info: SnapshotInfo,
    /// What it holds.
    pub sections: Vec<Section>,
    /// The newer ones that cannot be used, and why, newest first.
    pub skipped: Vec<(u64, String)>,
}

/// How a store is kept.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct StoreOptions {
    /// The database; a store that is there already stays in its own.
    pub engine: EngineKind,
    /// How many of the latest snapshots are there at any time, at least one.
    pub last: usize,
    /// How long to wait for another process to let go of the store.
    pub patience: Duration,
}

impl Default for StoreOptions {
    fn default() -> Self {
        Self { engine: EngineKind::default(), last: 2, patience: Duration::from_secs(2) }
    }
}
