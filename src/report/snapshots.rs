//! The contents of a snapshot store as text.

use super::figures::{count, duration, jobs};
use super::tables::{table, text_table};
use crate::experiment::{SnapshotFacts, StoreFacts};

/// Lists the snapshots of a store.
pub fn store_table(facts: &StoreFacts) -> String {
    let state = if facts.finished { "finished" } else { "not finished" };
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

/// Describes the contents of a snapshot.
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

/// A size in bytes, abbreviated.
fn size(bytes: u64) -> String {
    match bytes {
        0..1_000 => format!("{bytes} B"),
        1_000..1_000_000 => format!("{:.1} kB", bytes as f64 / 1e3),
        1_000_000..1_000_000_000 => format!("{:.1} MB", bytes as f64 / 1e6),
        _ => format!("{:.1} GB", bytes as f64 / 1e9),
    }
}
