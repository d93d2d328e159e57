//! Creates the store of a run that begins.

use std::path::{Path, PathBuf};
use std::time::Duration;

use super::description::Description;
use crate::experiment::RunError;
use crate::scenario::CheckpointPlan;
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

/// How long to wait for another process to release a store.
const PATIENCE: Duration = Duration::from_secs(2);

/// The options of the store of `plan`.
pub(in crate::experiment) fn options(plan: &CheckpointPlan) -> StoreOptions {
    StoreOptions { engine: plan.database, last: plan.last, patience: PATIENCE }
}

/// Creates the store of a run that is about to begin.
///
/// # Errors
/// [`RunError::Request`] if the folder has the store of another run, or it cannot be created.
pub(in crate::experiment) fn create_store(
    plan: &CheckpointPlan,
    description: &Description,
    title: &str,
    hash: u128,
    anew: Anew,
    files: Option<&Path>,
) -> Result<Store, RunError> {
    if files.is_some_and(|files| plan.store == files) {
        let said = format!("the files and the snapshots cannot both be in `{}`", plan.store.display());
        return Err(
            RunError::request(said).with_hint("give the snapshots their own folder, such as a subfolder")
        );
    }
    let refused = |error| RunError::from_store(&error);
    let about = description.about(title, hash)?;
    if anew == Anew::Remove || is_unused(plan) {
        Store::clear(&plan.store, PATIENCE).map_err(refused)?;
    }
    Store::create(&plan.store, &about, &options(plan)).map_err(|error| match &error {
        StoreError::Io { .. } | StoreError::ReadOnly { .. } | StoreError::Full { .. } => {
            RunError::request(&error).with_hint("choose another folder for the snapshots")
        }
        _ => refused(error),
    })
}

/// True if the store holds neither a snapshot nor a summary: its run ended before its first snapshot.
fn is_unused(plan: &CheckpointPlan) -> bool {
    let Ok(store) = Store::open(&plan.store, &options(plan)) else { return false };
    let finished = store.finished().map_or(true, |summary| summary.is_some());
    !finished && store.snapshots().is_ok_and(|snapshots| snapshots.is_empty())
}

/// The folder in which the command was typed.
pub(in crate::experiment) fn here() -> Result<PathBuf, RunError> {
    std::env::current_dir().map_err(|error| RunError::request(format!("the present folder is gone: {error}")))
}
