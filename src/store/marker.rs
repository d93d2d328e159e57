//! The marker: the file that makes a folder a store, and the description of its run beside it.

use std::path::Path;

use serde::{Deserialize, Serialize};

use super::about::{About, RunKind};
use super::disk::{self, Disk};
use super::engines::EngineKind;
use super::error::{Part, StoreError};
use super::text;

/// The file that makes a folder a store.
pub(super) const MARKER: &str = "gridemu-store";
/// The file with the description of the run.
pub(super) const RUN: &str = "run";
/// The present layout.
pub(super) const LAYOUT: u32 = 1;
/// The earliest layout that can be read.
const EARLIEST: u32 = 1;

const WHAT: &str = "a store of gridemu: snapshots of a run, see `gridemu snapshots`";

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Marker {
    what: String,
    layout: u32,
    program: String,
    engine: String,
    kind: RunKind,
    title: String,
    scenario: String,
    /// Length and hash of the file `run`.
    run: (u64, String),
}

/// Writes the description, then the marker: from then on the folder is a store.
pub(super) fn write(
    disk: &dyn Disk,
    folder: &Path,
    about: &About,
    engine: EngineKind,
) -> Result<(), StoreError> {
    disk::write_whole(disk, &folder.join(RUN), &about.description)?;
    let marker = Marker {
        what: WHAT.to_owned(),
        layout: LAYOUT,
        program: about.program.clone(),
        engine: engine.to_string(),
        kind: about.kind,
        title: about.title.clone(),
        scenario: format!("{:032x}", about.hash),
        run: (about.description.len() as u64, disk::hash_of(&about.description)),
    };
    text::write(disk, &folder.join(MARKER), &marker)
}

/// Reads the description of the run, and the engine.
pub(super) fn read(folder: &Path) -> Result<(About, EngineKind), StoreError> {
    let (marker, text) = text::read_marker::<Marker>(folder, MARKER, EARLIEST..=LAYOUT)?;
    let Marker { kind, title, program, engine, scenario, run: (len, hash_of_run), .. } = marker;
    let engine = engine.parse().map_err(|why: String| text.damaged(why))?;
    let hash = u128::from_str_radix(&scenario, 16)
        .map_err(|_| text.damaged(format!("has no hash of a scenario: `{scenario}`")))?;
    let description = disk::read_checked(folder.join(RUN), Part::Run, len, &hash_of_run)?;
    Ok((About { kind, description, title, hash, program }, engine))
}
