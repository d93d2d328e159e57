//! What is in a snapshot of a run.

use std::path::Path;

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::experiment::files::Files;
use crate::experiment::recorder::{Measured, Recorder, RecorderSave};
use crate::experiment::underway::{Spent, Underway};
use crate::experiment::{Progress, RunError};
use crate::grid::{Grid, GridSave, Merge, MergeSave, Told};
use crate::metrics::{Block, BlockId};
use crate::report::{OutputDir, OutputMark};
use crate::store::{Section, Store};

/// Measures that can be saved.
pub(in crate::experiment) trait Saved:
    Measured + Serialize + DeserializeOwned + Send + 'static
{
}

impl<M: Measured + Serialize + DeserializeOwned + Send + 'static> Saved for M {}

/// Raised whenever the sections of a snapshot change; what is in them has versions of its own.
const VERSION: u32 = 1;

const GRID: &str = "grid";
const MERGE: &str = "merge";
const RECORDER: &str = "recorder";
const SPENT: &str = "spent";

/// A run as it stood still, to be encoded while it goes on.
pub(super) struct RunState {
    pub(super) encode: Box<dyn FnOnce() -> Result<Vec<Section>, RunError> + Send>,
    /// Blocks of measures that the store does not have yet.
    pub(super) blocks: Vec<Block>,
    /// Whether it is whole only with blocks, these or those before.
    pub(super) has_blocks: bool,
}

/// A run as it comes out of the store.
pub(in crate::experiment) struct Restored<M> {
    pub(in crate::experiment) grid: GridSave,
    pub(in crate::experiment) merge: MergeSave,
    pub(in crate::experiment) recorder: RecorderSave<M>,
    pub(in crate::experiment) spent: Spent,
}

/// A snapshot that has been read, and the store that has its blocks.
pub(in crate::experiment) struct Snapshot<'a> {
    pub(in crate::experiment) sections: &'a [Section],
    /// What came from outside after it was taken.
    pub(in crate::experiment) told: &'a [Told],
    pub(in crate::experiment) store: &'a Store,
}

impl RunState {
    /// A run that stands still between two instants.
    ///
    /// # Errors
    /// [`RunError`] if a workload cannot be continued, or a file of the run cannot be written.
    pub(super) fn of<M: Saved>(run: &mut Underway<M>) -> Result<Self, RunError> {
        let grid = run.grid.snapshot().map_err(|error| RunError::from_running(&error))?;
        let (recorder, blocks) = run.recorder.save()?;
        let has_blocks = recorder.has_blocks();
        let (merge, spent) = (run.merge.save(), run.spent());
        let encode = move || {
            Ok(vec![
                section(GRID, &grid)?,
                section(MERGE, &merge)?,
                section(RECORDER, &recorder)?,
                section(SPENT, &spent)?,
            ])
        };
        Ok(Self { encode: Box::new(encode), blocks, has_blocks })
    }
}

impl Snapshot<'_> {
    /// What it says.
    ///
    /// # Errors
    /// [`RunError::Request`] if this version of gridemu cannot read a part of it.
    pub(in crate::experiment) fn read<M: Saved>(&self) -> Result<Restored<M>, RunError> {
        Ok(Restored {
            grid: self.part(GRID)?,
            merge: self.part(MERGE)?,
            recorder: self.part(RECORDER)?,
            spent: self.part(SPENT)?,
        })
    }

    /// Puts `saved` into a grid of the same description, and tells it what it was told after that. With `adopt`, the description is
    /// another.
    ///
    /// # Errors
    /// [`RunError::Request`] if it does not fit.
    pub(in crate::experiment) fn put_into(
        &self,
        grid: &mut Grid,
        saved: GridSave,
        adopt: bool,
    ) -> Result<(), RunError> {
        let restored = grid
            .restore(saved, adopt)
            .and_then(|()| self.told.iter().try_for_each(|told| grid.retell(told.clone()).map(|_| ())));
        restored.map_err(|error| RunError::from_restoring(&error))
    }

    /// Puts what was `read` of a run into its grid, as [`Snapshot::put_into`] does, and its past into its files, which `prepare` sees to
    /// first. What is left is what else there is of the run.
    ///
    /// # Errors
    /// [`RunError::Request`] if it does not fit, or if the files are not what they were.
    pub(in crate::experiment) fn put_back<M: Saved>(
        &self,
        read: Restored<M>,
        grid: &mut Grid,
        adopt: bool,
        files: Option<Files<'_>>,
        prepare: impl FnOnce(&Path, &OutputMark) -> Result<(), RunError>,
        progress: &Progress,
    ) -> Result<(Merge, Recorder<M>, Spent), RunError> {
        let Restored { grid: saved, merge, recorder, spent } = read;
        self.put_into(grid, saved, adopt)?;
        let merge = Merge::restore(merge).map_err(|error| RunError::from_restoring(&error))?;
        let output = match (files, &recorder.output) {
            (Some(files), Some(mark)) => Some(files.resume(mark, prepare)?),
            _ => None,
        };
        Ok((merge, self.recorder(recorder, output, progress.clone())?, spent))
    }

    /// The recorder, with its blocks and its files.
    ///
    /// # Errors
    /// [`RunError::Request`] if a block is missing or damaged.
    fn recorder<M: Saved>(
        &self,
        saved: RecorderSave<M>,
        output: Option<OutputDir>,
        progress: Progress,
    ) -> Result<Recorder<M>, RunError> {
        let block = |id: BlockId| self.store.block(&id.bytes());
        Recorder::restore(saved, block, output, progress).map_err(|error| {
            RunError::request(format!("the measures of the snapshot cannot be read: {error}"))
                .with_hint("`gridemu snapshots STORE` says which snapshots can be used")
        })
    }

    fn part<T: DeserializeOwned>(&self, name: &str) -> Result<T, RunError> {
        part(self.sections, name)
    }
}

fn section<T: Serialize>(name: &str, value: &T) -> Result<Section, RunError> {
    let bytes = postcard::to_stdvec(value)
        .map_err(|error| RunError::run(format!("the `{name}` of the run cannot be saved: {error}")))?;
    Ok(Section { name: name.to_owned(), version: VERSION, bytes })
}

fn part<T: DeserializeOwned>(sections: &[Section], name: &str) -> Result<T, RunError> {
    let refuse = |problem: String| {
        RunError::request(problem).with_hint(
            "resume it with the version of gridemu that wrote it (`gridemu snapshots STORE` says which)",
        )
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
