//! The data types that go into a store and come out of it.

use std::fmt;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::engines::EngineKind;
use crate::units::Time;

/// The command that made the run.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RunKind {
    /// `gridemu run`: the run of a scenario.
    Run,
    /// `gridemu replay`, before replays were runs of a scenario.
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
    /// The command that made it.
    pub kind: RunKind,
    /// Everything that is needed to build it again, in the encoding of its maker.
    pub description: Vec<u8>,
    /// Its title for people.
    pub title: String,
    /// The hash of its scenario.
    pub hash: u128,
    /// The version of the program that made it.
    pub program: String,
}

/// The barrier at which a snapshot was taken.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Barrier {
    /// Everything before this instant has happened, and nothing at or after it.
    pub at: Time,
    /// The number of jobs that had ended.
    pub jobs: u64,
    /// The number of records that had been written.
    pub records: u64,
    /// The number of journal entries that had been used: entries from this number on come after the barrier.
    pub entries: u64,
    /// Whether the snapshot is kept until it is removed by name, however many come after it.
    pub kept: bool,
}

/// A named part of a snapshot.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Section {
    /// Its name, unique in the snapshot.
    pub name: String,
    /// The version of its encoding.
    pub version: u32,
    /// Its content.
    pub bytes: Vec<u8>,
}

/// A snapshot in a list of snapshots.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SnapshotInfo {
    /// Its number in the store; later snapshots have larger ones.
    pub number: u64,
    /// Its barrier; `None` if that cannot be read any more.
    pub barrier: Option<Barrier>,
    /// The time of the snapshot, in seconds since 1970.
    pub taken: u64,
    /// The number of bytes in its sections.
    pub bytes: u64,
    /// The number of bytes that it takes on the disk.
    pub on_disk: u64,
    /// Why it cannot be used; `None` if every byte is as it was written.
    pub damage: Option<String>,
}

/// The newest snapshot that can be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Newest {
    /// Its number.
    pub number: u64,
    /// Its barrier.
    pub barrier: Barrier,
    /// Its sections.
    pub sections: Vec<Section>,
    /// The newer ones that cannot be used, with the reasons, newest first.
    pub skipped: Vec<(u64, String)>,
}

/// Options of a store.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct StoreOptions {
    /// The database of a new store; an existing store keeps its own.
    pub engine: EngineKind,
    /// How many of the latest snapshots are kept, at least one.
    pub last: usize,
    /// How long to wait until another process releases the store.
    pub patience: Duration,
}

impl StoreOptions {
    /// How long to wait by default until another process releases a store.
    pub const PATIENCE: Duration = Duration::from_secs(2);
}

impl Default for StoreOptions {
    fn default() -> Self {
        Self { engine: EngineKind::default(), last: 2, patience: Self::PATIENCE }
    }
}
