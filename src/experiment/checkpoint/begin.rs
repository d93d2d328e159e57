//! The store of a run that begins.

use std::path::PathBuf;
use std::time::Duration;

use super::description::Description;
use super::plan::CheckpointPlan;
use crate::experiment::RunError;
use crate::store::{Store, StoreError, StoreOptions};

/// What to do with snapshots of an earlier run in the same folder.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub enum Anew {
    /// Do not begin: they may be needed.
    #[default]
    Refuse,
    /// Remove them.
    Remove,
}

/// How long to wait for another process to let go of a store.
const PATIENCE: Duration = Duration::from_secs(2);

/// How the store of `plan` is opened.
pub(in crate::experiment) fn options(plan: &CheckpointPlan) -> StoreOptions {
    StoreOptions { engine: plan.database, last: plan.last, patience: PATIENCE }
}

/// The store of a run that is about to begin.
///
/// # Errors
/// [`RunError::Request`] if there is another run's store in its place, or it cannot be made.
pub(in crate::experiment) fn create_store(
    plan: &CheckpointPlan,
    description: &Description,
    title: &str,
    hash: u128,
    anew: Anew,
) -> Result<Store, RunError> {
    let refused = |error| RunError::from_store(&error);
    if anew == Anew::Remove {
        remove(plan)?;
    }
    Store::create(&plan.store, &description.about(title, hash)?, &options(plan)).map_err(refused)
}

/// Removes a store that is there, and nothing else.
fn remove(plan: &CheckpointPlan) -> Result<(), RunError> {
    match Store::open(&plan.store, &options(plan)) {
        Err(StoreError::Absent { .. }) => return Ok(()),
        // An empty folder, a file, or something that is nobody's business: making the store will tell.
        Err(StoreError::Foreign { .. }) => return Ok(()),
        Err(error @ StoreError::InUse { .. }) => return Err(RunError::from_store(&error)),
        // A damaged store is one too.
        Ok(_) | Err(_) => {}
    }
    std::fs::remove_dir_all(&plan.store).map_err(|error| {
        RunError::request(format!("cannot remove the store `{}`: {error}", plan.store.display()))
    })
}

/// The folder in which the command was typed.
pub(in crate::experiment) fn here() -> Result<PathBuf, RunError> {
    std::env::current_dir().map_err(|error| RunError::request(format!("the present folder is gone: {error}")))
}
