//! The marker: the file that makes a folder a store, and the description of its run beside it.

use std::fs;
use std::io::ErrorKind;
use std::path::Path;

use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::xxh3_128;

use super::about::{About, RunKind};
use super::disk::{self, Disk};
use super::engines::EngineKind;
use super::error::{Part, StoreError};
use super::text::{self, Fault};

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

/// The fields that every layout has.
#[derive(Deserialize)]
struct Layout {
    layout: u32,
    #[serde(default)]
    program: String,
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
        run: (about.description.len() as u64, format!("{:032x}", xxh3_128(&about.description))),
    };
    let path = folder.join(MARKER);
    let text = text::encode(&marker).map_err(|why| StoreError::Engine {
        operation: "write",
        path: path.clone(),
        why,
    })?;
    disk::write_whole(disk, &path, text.as_bytes())
}

/// Reads the description of the run, and the engine.
pub(super) fn read(folder: &Path) -> Result<(About, EngineKind), StoreError> {
    let path = folder.join(MARKER);
    let bytes = fs::read(&path).map_err(|source| disk::at("read", &path, source))?;
    let damaged = |why: String| StoreError::Damaged { part: Part::Marker, path: path.clone(), why };
    let body = text::body(&bytes).map_err(|fault| match fault {
        Fault::Short => StoreError::CutShort {
            part: Part::Marker,
            path: path.clone(),
            why: "has no line with its hash at the end".to_owned(),
        },
        Fault::Changed(why) => damaged(why),
    })?;
    let Layout { layout, program } =
        serde_json::from_str(body).map_err(|error| damaged(format!("cannot be read: {error}")))?;
    if layout > LAYOUT {
        return Err(StoreError::Newer { path: folder.to_owned(), layout, known: LAYOUT, program });
    }
    if layout < EARLIEST {
        return Err(StoreError::Older { path: folder.to_owned(), layout, known: EARLIEST, program });
    }
    let marker: Marker =
        serde_json::from_str(body).map_err(|error| damaged(format!("cannot be read: {error}")))?;
    let engine = marker.engine.parse().map_err(damaged)?;
    let hash = u128::from_str_radix(&marker.scenario, 16)
        .map_err(|_| damaged(format!("has no hash of a scenario: `{}`", marker.scenario)))?;
    let description = read_run(folder, &marker.run)?;
    let Marker { kind, title, program, .. } = marker;
    Ok((About { kind, description, title, hash, program }, engine))
}

fn read_run(folder: &Path, (len, hash): &(u64, String)) -> Result<Vec<u8>, StoreError> {
    let path = folder.join(RUN);
    let part = Part::Run;
    let bytes = match fs::read(&path) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == ErrorKind::NotFound => {
            return Err(StoreError::Damaged { part, path, why: "is not there".to_owned() });
        }
        Err(error) => return Err(disk::at("read", &path, error)),
    };
    if (bytes.len() as u64) < *len {
        let why = format!("has {} of its {len} bytes", bytes.len());
        return Err(StoreError::CutShort { part, path, why });
    }
    if format!("{:032x}", xxh3_128(&bytes)) != *hash {
        return Err(StoreError::Damaged { part, path, why: "is not what was written".to_owned() });
    }
    Ok(bytes)
}
