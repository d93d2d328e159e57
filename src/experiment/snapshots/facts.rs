//! The description of a store.

use serde::Serialize;

/// A store and its snapshots.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct StoreFacts {
    /// Its folder.
    pub store: String,
    /// The title of the run.
    pub title: String,
    /// The command that made the run: `run` or `replay`.
    pub command: String,
    /// The hash of its scenario.
    pub scenario_hash: String,
    /// The version of gridemu that began it.
    pub version: String,
    /// The store engine.
    pub database: String,
    /// True if the run has ended.
    pub finished: bool,
    /// Size of the store on disk, in bytes.
    pub on_disk: u64,
    /// The snapshots, oldest first.
    pub snapshots: Vec<SnapshotRow>,
}

/// One snapshot in the list of a store.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SnapshotRow {
    /// The number of the snapshot.
    pub number: u64,
    /// The virtual time of the snapshot, in seconds; `None` if it cannot be read.
    pub at_s: Option<f64>,
    /// The time at which it was taken, in UTC.
    pub taken: String,
    /// Jobs that had ended by then.
    pub jobs: Option<u64>,
    /// Records that had been written by then.
    pub records: Option<u64>,
    /// Size of its contents, in bytes.
    pub bytes: u64,
    /// True if it is kept for good, however many follow.
    pub kept: bool,
    /// Why the snapshot cannot be used; `None` if it is usable.
    pub damage: Option<String>,
}

/// The contents of one snapshot.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SnapshotFacts {
    /// The row of the list.
    #[serde(flatten)]
    pub row: SnapshotRow,
    /// Its sections with their sizes in bytes.
    pub sections: Vec<(String, u64)>,
    /// The places of the grid and their jobs.
    pub places: Vec<PlaceFacts>,
}

/// The state of one place of a grid.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PlaceFacts {
    /// A site with a partition, or the broker.
    pub place: String,
    /// Processors that are up.
    pub processors: Option<u32>,
    /// Waiting jobs.
    pub waiting: u64,
    /// Running jobs.
    pub running: Option<u64>,
}
