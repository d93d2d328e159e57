//! What is in a store, for people.

use serde::Serialize;

use super::figures::{count, duration, jobs};
use super::tables::{table, text_table};

/// A store and its snapshots.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct StoreFacts {
    /// Its folder.
    pub store: String,
    /// The run.
    pub title: String,
    /// Which command made the run: `run` or `replay`.
    pub command: String,
    /// The hash of its scenario.
    pub scenario_hash: String,
    /// The version of gridemu that began it.
    pub version: String,
    /// What holds the snapshots.
    pub database: String,
    /// Whether the run is over.
    pub finished: bool,
    /// Bytes on the disk in all.
    pub on_disk: u64,
    /// The snapshots, oldest first.
    pub snapshots: Vec<SnapshotRow>,
}

/// One snapshot of a list.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SnapshotRow {
    /// Its number.
    pub number: u64,
    /// Where the run was cut, in seconds; `None` if that cannot be read.
    pub at_s: Option<f64>,
    /// When it was taken, in UTC.
    pub taken: String,
    /// Jobs that had ended.
    pub jobs: Option<u64>,
    /// Records that had been written.
    pub records: Option<u64>,
    /// What it holds, in bytes.
    pub bytes: u64,
    /// Whether it stays however many come after it.
    pub kept: bool,
    /// Why it cannot be used; `None` if it can.
    pub damage: Option<String>,
}

/// What is in one snapshot.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SnapshotFacts {
    /// As in the list.
    #[serde(flatten)]
    pub row: SnapshotRow,
    /// Its sections with their bytes.
    pub sections: Vec<(String, u64)>,
    /// What is where.
    pub places: Vec<PlaceFacts>,
}

/// What is at one place of a grid.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PlaceFacts {
    /// A site with a partition, or the broker.
    pub place: String,
    /// Processors that are there.
    pub processors: Option<u32>,
    /// Jobs that wait.
    pub waiting: u64,
    /// Jobs that run.
    pub running: Option<u64>,
}

/// The list of a store.
pub fn store_table(facts: &StoreFacts) -> String {
    let state = if facts.finished { "over" } else { "not over" };
    let mut out = format!(
        "{}: `gridemu {}`, {state}; {} {} on the disk ({}), by gridemu {}\n\n",
        facts.title,
        facts.command,
        size(facts.on_disk),
        if facts.snapshots.len() == 1 { "for 1 snapshot" } else { "for its snapshots" },
        facts.database,
        facts.version
    );
    let rows = facts.snapshots.iter().map(|row| {
        let time = row.at_s.map_or_else(|| "-".to_owned(), |at| at.to_string());
        let about = row.at_s.map_or_else(String::new, duration);
        let jobs = row.jobs.map_or_else(|| "-".to_owned(), count);
        let state = match (&row.damage, row.kept) {
            (Some(_), _) => "damaged",
            (None, true) => "kept",
            (None, false) => "",
        };
        vec![row.number.to_string(), time, about, jobs, size(row.bytes), row.taken.clone(), state.to_owned()]
    });
    out.push_str(&table(["number", "at (s)", "", "jobs\nended", "size", "taken", "state"], rows));
    out.push('\n');
    for (number, why) in facts.snapshots.iter().filter_map(|row| Some((row.number, row.damage.as_ref()?))) {
        out.push_str(&format!("\nsnapshot {number} cannot be used: {why}"));
    }
    if facts.snapshots.iter().any(|row| row.damage.is_some()) {
        out.push('\n');
    }
    out
}

/// What is in a snapshot.
pub fn snapshot_table(facts: &SnapshotFacts) -> String {
    let row = &facts.row;
    let ended = row.jobs.map(jobs).unwrap_or_default();
    let mut out = format!(
        "snapshot {} at {} s of the run, taken {}: {ended} had ended, {}\n\n",
        row.number,
        row.at_s.unwrap_or_default(),
        row.taken,
        size(row.bytes)
    );
    let places = facts.places.iter().map(|place| {
        let or_dash = |value: Option<u64>| value.map_or_else(|| "-".to_owned(), count);
        vec![
            place.place.clone(),
            or_dash(place.processors.map(u64::from)),
            count(place.waiting),
            or_dash(place.running),
        ]
    });
    out.push_str(&text_table(1, &["place", "processors\nthere", "jobs\nwaiting", "jobs\nrunning"], places));
    out.push_str("\n\n");
    let sections = facts.sections.iter().map(|(name, bytes)| vec![name.clone(), size(*bytes)]);
    out.push_str(&text_table(1, &["section", "size"], sections));
    out.push('\n');
    out
}

/// Bytes, short.
fn size(bytes: u64) -> String {
    match bytes {
        0..1_000 => format!("{bytes} B"),
        1_000..1_000_000 => format!("{:.1} kB", bytes as f64 / 1e3),
        1_000_000..1_000_000_000 => format!("{:.1} MB", bytes as f64 / 1e6),
        _ => format!("{:.1} GB", bytes as f64 / 1e9),
    }
}
