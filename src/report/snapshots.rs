//! The contents of a snapshot store as text.

use super::figures::{count, duration, jobs, size};
use super::tables::{Columns, text_table};
use crate::experiment::{SnapshotFacts, StoreFacts};

/// Lists the snapshots of a store.
pub fn store_table(facts: &StoreFacts) -> String {
    let mut out = format!(
        "{}: `gridemu {}`, {}; {} {} on the disk ({}), by gridemu {}\n\n",
        facts.title,
        facts.command,
        if facts.finished { "finished" } else { "not finished" },
        size(facts.on_disk),
        if facts.snapshots.len() == 1 { "for 1 snapshot" } else { "for its snapshots" },
        facts.database,
        facts.version
    );
    let rows = || facts.snapshots.iter();
    let state = |damaged, kept| {
        if damaged {
            "damaged"
        } else if kept {
            "kept"
        } else {
            ""
        }
    };
    let table = Columns::default()
        .text("number", rows().map(|row| row.number.to_string()))
        .numbers("at (s)", rows().map(|row| row.at_s.map_or_else(|| "-".to_owned(), |at| at.to_string())))
        .numbers("", rows().map(|row| row.at_s.map_or_else(String::new, duration)))
        .numbers("jobs\nended", rows().map(|row| count_or_dash(row.jobs)))
        .numbers("size", rows().map(|row| size(row.bytes)))
        .numbers("taken", rows().map(|row| row.taken.clone()))
        .numbers("state", rows().map(|row| state(row.damage.is_some(), row.kept).to_owned()));
    out += &(table.finish() + "\n");
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
        "snapshot {} at {} of the run, taken {}: {ended} had ended, {}\n\n",
        row.number,
        duration(row.at_s.unwrap_or_default()),
        row.taken,
        size(row.bytes)
    );
    let places = || facts.places.iter();
    let table = Columns::default()
        .text("place", places().map(|place| place.place.clone()))
        .numbers("processors\nthere", places().map(|place| count_or_dash(place.processors.map(u64::from))))
        .numbers("jobs\nwaiting", places().map(|place| count(place.waiting)))
        .numbers("jobs\nrunning", places().map(|place| count_or_dash(place.running)));
    out += &table.finish();
    out.push_str("\n\n");
    let sections = facts.sections.iter().map(|(name, bytes)| vec![name.clone(), size(*bytes)]);
    out.push_str(&text_table(1, &["section", "size"], sections));
    out.push('\n');
    out
}

fn count_or_dash(value: Option<u64>) -> String {
    value.map_or_else(|| "-".to_owned(), count)
}
