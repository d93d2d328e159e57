//! Creates the store of a run that begins.

use std::path::Path;

use super::description::Description;
use crate::experiment::{Afterwards, RunError};
use crate::scenario::{CheckpointPlan, Scenario};
use crate::store::{Store, StoreError, StoreOptions};

/// What happens to snapshots of an earlier run in the same folder.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub enum Anew {
    /// The new run is refused: they may be needed.
    #[default]
    Refuse,
    /// They are removed.
    Remove,
}

/// Opens the existing store in `folder`.
///
/// # Errors
/// `RunErrorKind::Request` if there is none, or it cannot be read.
pub(in crate::experiment) fn open_store(folder: &Path) -> Result<Store, RunError> {
    Store::open(folder, &StoreOptions::default()).map_err(RunError::from_store)
}

/// Creates the store of a run that is about to begin.
///
/// # Errors
/// `RunErrorKind::Request` if the folder has the store of another run, or it cannot be created.
pub(in crate::experiment) fn create_store(
    plan: &CheckpointPlan,
    scenario: &Scenario,
    threads: usize,
    anew: Anew,
    afterwards: &Afterwards,
) -> Result<Store, RunError> {
    if scenario.resolved.output.folder.as_ref() == Some(&plan.store) {
        let problem = format!("the files and the snapshots cannot both be in `{}`", plan.store.display());
        return Err(
            RunError::request(problem).with_hint("give the snapshots their own folder, such as a subfolder")
        );
    }
    let about =
        Description::of(scenario, threads, afterwards)?.about(&scenario.resolved.name, scenario.hash)?;
    if anew == Anew::Remove || is_unused(plan) {
        Store::clear(&plan.store, StoreOptions::PATIENCE).map_err(RunError::from_store)?;
    }
    let options = StoreOptions { engine: plan.database, last: plan.last, ..StoreOptions::default() };
    Store::create(&plan.store, &about, &options).map_err(|error| match &error {
        StoreError::Io { .. } => {
            RunError::request(&error).with_hint("choose another folder for the snapshots")
        }
        _ => RunError::from_store(error),
    })
}

/// True if the store holds neither a snapshot nor a summary: its run ended before its first snapshot.
fn is_unused(plan: &CheckpointPlan) -> bool {
    let Ok(store) = open_store(&plan.store) else { return false };
    let finished = store.finished().map_or(true, |summary| summary.is_some());
    !finished && store.snapshots().is_ok_and(|snapshots| snapshots.is_empty())
}
