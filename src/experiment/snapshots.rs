//! Looking into a store, and tidying it.

use std::collections::BTreeSet;
use std::path::Path;

use jiff::Timestamp;

use super::checkpoint::options;
use super::resume::Stored;
use super::{CheckpointPlan, RunError};
use crate::broker::BrokerRegistry;
use crate::grid::Grid;
use crate::local::Registry;
use crate::report::{PlaceFacts, SnapshotFacts, SnapshotRow, StoreFacts};
use crate::store::{SnapshotInfo, State, Store, StoreError};

/// What is in the store in `folder`.
///
/// # Errors
/// [`RunError::Request`] if it cannot be opened.
pub fn look_up(folder: &Path) -> Result<StoreFacts, RunError> {
    let store = open(folder)?;
    let refused = |error| RunError::from_store(&error);
    let about = store.about();
    Ok(StoreFacts {
        store: folder.display().to_string(),
        title: about.title.clone(),
        command: about.kind.to_string(),
        scenario_hash: format!("{:032x}", about.hash),
        version: about.program.clone(),
        database: store.engine().to_string(),
        // A damaged summary is told by who reads it.
        finished: store.finished().map_or(true, |summary| summary.is_some()),
        on_disk: store.size_on_disk().map_err(refused)?,
        snapshots: store.snapshots().map_err(refused)?.iter().map(row).collect(),
    })
}

/// What is in the snapshot `number` of the store in `folder`.
///
/// # Errors
/// [`RunError::Request`] if there is no such snapshot, it cannot be used, or its run can no longer be built.
pub fn look_into(folder: &Path, number: u64) -> Result<SnapshotFacts, RunError> {
    let stored = Stored::open(folder, Registry::standard(), BrokerRegistry::standard())?;
    let (info, sections) = stored.store().read(number).map_err(|error| RunError::from_store(&error))?;
    let grid = stored.grid(&sections)?;
    Ok(SnapshotFacts {
        row: row(&info),
        sections: sections.iter().map(|section| (section.name.clone(), section.bytes.len() as u64)).collect(),
        places: places(&grid),
    })
}

/// Removes snapshots: those with the numbers in `remove`, then all but the newest `last` and those that are kept for good.
/// Returns the numbers of those that went.
///
/// # Errors
/// [`RunError::Request`] if there is no such snapshot, or it is the only one that can be used.
pub fn prune(folder: &Path, last: Option<usize>, remove: &[u64]) -> Result<Vec<u64>, RunError> {
    let mut store = open(folder)?;
    let refused = |error| RunError::from_store(&error);
    let remove: BTreeSet<u64> = remove.iter().copied().collect();
    // All or nothing, as far as can be known.
    for number in &remove {
        store.read(*number).map(|_| ()).or_else(|error| match error {
            StoreError::Unknown { .. } => Err(refused(error)),
            _ => Ok(()),
        })?;
    }
    for number in &remove {
        store.remove(*number).map_err(refused)?;
    }
    let pruned = last.map_or_else(|| Ok(Vec::new()), |last| store.prune(last)).map_err(refused)?;
    Ok(remove.into_iter().chain(pruned).collect())
}

fn open(folder: &Path) -> Result<Store, RunError> {
    let plan = CheckpointPlan::new(folder.to_owned());
    Store::open(folder, &options(&plan)).map_err(|error| RunError::from_store(&error))
}

fn row(info: &SnapshotInfo) -> SnapshotRow {
    let taken = i64::try_from(info.taken).ok().and_then(|secs| Timestamp::from_second(secs).ok());
    SnapshotRow {
        number: info.number,
        at_s: info.cut.map(|cut| cut.at.as_secs_f64()),
        taken: taken.map(|time| time.to_string()).unwrap_or_default(),
        jobs: info.cut.map(|cut| cut.jobs),
        records: info.cut.map(|cut| cut.records),
        bytes: info.bytes,
        kept: info.cut.is_some_and(|cut| cut.kept),
        damage: match &info.state {
            State::Intact => None,
            State::Damaged(why) => Some(why.clone()),
        },
    }
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
