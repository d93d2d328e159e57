//! What is in a snapshot of a run.

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::experiment::RunError;
use crate::experiment::recorder::{Measured, RecorderSave};
use crate::experiment::underway::Underway;
use crate::grid::{GridSave, MergeSave};
use crate::store::Section;

/// Raised whenever the sections of a snapshot change; what is in them has versions of its own.
const VERSION: u32 = 1;

const GRID: &str = "grid";
const MERGE: &str = "merge";
const RECORDER: &str = "recorder";

/// A run as it is in the store.
pub(in crate::experiment) struct RunState {
    pub(super) sections: Vec<Section>,
}

/// A run as it comes out of the store.
pub(in crate::experiment) struct Restored<M> {
    pub(in crate::experiment) grid: GridSave,
    pub(in crate::experiment) merge: MergeSave,
    pub(in crate::experiment) recorder: RecorderSave<M>,
}

impl RunState {
    /// A run that stands still between two instants.
    ///
    /// # Errors
    /// [`RunError`] if a workload cannot be continued, or a file of the run cannot be written.
    pub(super) fn of<M: Measured + Clone + Serialize>(run: &mut Underway<M>) -> Result<Self, RunError> {
        let grid = run.grid.snapshot().map_err(|error| RunError::from_running(&error))?;
        let recorder = run.recorder.save()?;
        let sections =
            vec![section(GRID, &grid)?, section(MERGE, &run.merge.save())?, section(RECORDER, &recorder)?];
        Ok(Self { sections })
    }

    /// What `sections` say.
    ///
    /// # Errors
    /// [`RunError::Request`] if this version of gridemu cannot read one of them.
    pub(in crate::experiment) fn read<M: DeserializeOwned>(sections: &[Section]) -> Result<Restored<M>, RunError> {
        Ok(Restored {
            grid: part(sections, GRID)?,
            merge: part(sections, MERGE)?,
            recorder: part(sections, RECORDER)?,
        })
    }
}

fn section<T: Serialize>(name: &str, value: &T) -> Result<Section, RunError> {
    let bytes = postcard::to_stdvec(value)
        .map_err(|error| RunError::run(format!("the `{name}` of the run cannot be saved: {error}")))?;
    Ok(Section { name: name.to_owned(), version: VERSION, bytes })
}

fn part<T: DeserializeOwned>(sections: &[Section], name: &str) -> Result<T, RunError> {
    let refuse = |problem: String| {
        RunError::request(problem).with_hint("resume it with the version of gridemu that wrote it (`gridemu snapshots STORE` says which)")
    };
    let Some(section) = sections.iter().find(|section| section.name == name) else {
        return Err(refuse(format!("the snapshot has no section `{name}`")));
    };
    if section.version != VERSION {
        return Err(refuse(format!(
            "section `{name}` of the snapshot has layout {}, this gridemu reads {VERSION}",
            section.version
        )));
    }
    postcard::from_bytes(&section.bytes)
        .map_err(|error| refuse(format!("section `{name}` of the snapshot cannot be read: {error}")))
}
