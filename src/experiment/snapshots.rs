//! Describes the snapshots of a store, and removes some.

mod facts;

use std::collections::BTreeSet;
use std::path::Path;
use std::time::{Duration, UNIX_EPOCH};

use humantime::format_rfc3339_seconds;

use super::RunError;
use super::checkpoint::open_store;
use super::resume::Stored;
use crate::grid::{Grid, Policies};
use crate::store::{SnapshotInfo, StoreError};

pub use facts::{PlaceFacts, SnapshotFacts, SnapshotRow, StoreFacts};

/// Describes the store in `folder`.
///
/// # Errors
/// `RunErrorKind::Request` if it cannot be opened.
pub fn describe_store(folder: &Path) -> Result<StoreFacts, RunError> {
    let store = open_store(folder)?;
    let about = store.about();
    Ok(StoreFacts {
        store: folder.display().to_string(),
        title: about.title.clone(),
        command: about.kind.to_string(),
        scenario_hash: format!("{:032x}", about.hash),
        version: about.program.clone(),
        database: store.engine().to_string(),
        // A damaged summary is reported when it is read.
        finished: store.finished().map_or(true, |summary| summary.is_some()),
        on_disk: store.size_on_disk().map_err(RunError::from_store)?,
        snapshots: store.snapshots().map_err(RunError::from_store)?.iter().map(row).collect(),
    })
}

/// Describes the snapshot `number` of the store in `folder`.
///
/// # Errors
/// `RunErrorKind::Request` if there is no such snapshot, it is damaged, or its run can no longer be built.
pub fn describe_snapshot(folder: &Path, number: u64, policies: &Policies) -> Result<SnapshotFacts, RunError> {
    let stored = Stored::open(folder, policies)?;
    let (info, sections) = stored.store().read(number).map_err(RunError::from_store)?;
    let grid = stored.grid(&sections)?;
    Ok(SnapshotFacts {
        row: row(&info),
        sections: sections.iter().map(|section| (section.name.clone(), section.bytes.len() as u64)).collect(),
        places: places(&grid),
    })
}

/// Removes snapshots: those with the numbers in `remove`, then all but the newest `last` and those that are kept for
/// good. Returns the numbers of the removed ones.
///
/// # Errors
/// `RunErrorKind::Request` if there is no such snapshot, or it is the only usable one.
pub fn prune(folder: &Path, last: Option<usize>, remove: &[u64]) -> Result<Vec<u64>, RunError> {
    let mut store = open_store(folder)?;
    let remove: BTreeSet<u64> = remove.iter().copied().collect();
    // All numbers are checked before anything is removed.
    for number in &remove {
        if let Err(error @ StoreError::Unknown { .. }) = store.read(*number) {
            return Err(RunError::from_store(error));
        }
    }
    for number in &remove {
        store.remove(*number).map_err(RunError::from_store)?;
    }
    let pruned = last.map(|last| store.prune(last)).transpose().map_err(RunError::from_store)?;
    Ok(remove.into_iter().chain(pruned.into_iter().flatten()).collect())
}

fn row(info: &SnapshotInfo) -> SnapshotRow {
    SnapshotRow {
        number: info.number,
        at_s: info.barrier.map(|barrier| barrier.at.as_secs_f64()),
        taken: utc(info.taken),
        jobs: info.barrier.map(|barrier| barrier.jobs),
        records: info.barrier.map(|barrier| barrier.records),
        bytes: info.bytes,
        kept: info.barrier.is_some_and(|barrier| barrier.kept),
        damage: info.damage.clone(),
    }
}

/// A time in seconds since 1970 as a date; an empty string if its year has more than four digits.
fn utc(secs: u64) -> String {
    if secs >= 253_402_300_800 {
        return String::new();
    }
    format_rfc3339_seconds(UNIX_EPOCH + Duration::from_secs(secs)).to_string()
}

fn places(grid: &Grid) -> Vec<PlaceFacts> {
    let sites = grid.sites().flat_map(|site| {
        let several = site.partitions().len() > 1;
        site.partitions().iter().map(move |part| PlaceFacts {
            place: match several {
                true => format!("{} / {}", site.spec().name, part.spec().name),
                false => site.spec().name.clone(),
            },
            processors: Some(part.present()),
            waiting: u64::from(part.waiting()),
            running: Some(u64::from(part.running())),
        })
    });
    let broker = grid.broker().map(|broker| PlaceFacts {
        place: "broker".to_owned(),
        processors: None,
        waiting: broker.waiting().count() as u64,
        running: None,
    });
    sites.chain(broker).collect()
}

#[cfg(test)]
mod tests {
    use super::utc;

    #[test]
    fn seconds_are_dates() {
        assert_eq!(utc(0), "1970-01-01T00:00:00Z");
        assert_eq!(utc(1_709_164_800), "2024-02-29T00:00:00Z");
        assert_eq!(utc(253_402_300_799), "9999-12-31T23:59:59Z");
        assert_eq!(utc(253_402_300_800), "");
    }
}
