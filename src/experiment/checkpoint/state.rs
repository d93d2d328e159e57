//! The contents of a snapshot of a run.

use std::time::Duration;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::experiment::recorder::{Recorder, RecorderSave};
use crate::experiment::{Progress, RunError};
use crate::grid::{Grid, GridSave, JournalEntry, Merge, MergeSave};
use crate::metrics::{Block, BlockId};
use crate::output::OutputDir;
use crate::store::{Section, Store};

/// Raised whenever the sections of a snapshot change; their contents have versions of their own.
const VERSION: u32 = 1;

const GRID: &str = "grid";
const MERGE: &str = "merge";
const RECORDER: &str = "recorder";
const SPENT: &str = "spent";

/// Time that a run has taken so far, by part.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(in crate::experiment) struct Spent {
    /// Driving the entities, including sources and the sink.
    pub(in crate::experiment) driven: Duration,
    /// Reading and generating.
    pub(in crate::experiment) read: Duration,
}

/// A run that stands still at a barrier.
pub(in crate::experiment) struct AtBarrier<'a> {
    pub(in crate::experiment) grid: &'a Grid,
    pub(in crate::experiment) merge: &'a Merge,
    pub(in crate::experiment) recorder: &'a mut Recorder,
    pub(in crate::experiment) spent: Spent,
}

/// A copy of a run at a barrier, to be encoded while the run continues.
pub(in crate::experiment) struct RunState {
    pub(in crate::experiment) encode: Box<dyn FnOnce() -> Result<Vec<Section>, RunError> + Send>,
    /// Blocks of measures that the store does not have yet.
    pub(in crate::experiment) blocks: Vec<Block>,
    /// True if the state is complete only with blocks, new or earlier ones.
    pub(super) has_blocks: bool,
}

/// A run as read from the store.
pub(in crate::experiment) struct Restored {
    pub(in crate::experiment) grid: GridSave,
    pub(in crate::experiment) merge: MergeSave,
    pub(in crate::experiment) recorder: RecorderSave,
    pub(in crate::experiment) spent: Spent,
}

/// The sections of a snapshot, and where its blocks are.
pub(in crate::experiment) struct Snapshot<'a> {
    pub(in crate::experiment) sections: &'a [Section],
    /// The journal after the snapshot.
    pub(in crate::experiment) journal: &'a [JournalEntry],
    /// The blocks that the store does not have.
    pub(in crate::experiment) blocks: &'a [Block],
    pub(in crate::experiment) store: &'a Store,
}

impl RunState {
    /// Copies a run that stands still.
    ///
    /// # Errors
    /// [`RunError`] if a workload cannot be continued, or a file of the run cannot be written.
    pub(in crate::experiment) fn of(run: &mut AtBarrier<'_>) -> Result<Self, RunError> {
        let grid = run.grid.snapshot().map_err(RunError::from_running)?;
        let (recorder, blocks) = run.recorder.save()?;
        let has_blocks = recorder.has_blocks();
        let (merge, spent) = (run.merge.save(), run.spent);
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
    /// Decodes the snapshot.
    ///
    /// # Errors
    /// `RunErrorKind::Request` if this version of gridemu cannot read a part of it.
    pub(in crate::experiment) fn read(&self) -> Result<Restored, RunError> {
        Ok(Restored {
            grid: part(self.sections, GRID)?,
            merge: part(self.sections, MERGE)?,
            recorder: part(self.sections, RECORDER)?,
            spent: part(self.sections, SPENT)?,
        })
    }

    /// Puts `saved` into a grid of the same description, and replays the journal after it. With `adopt`, the description is another.
    ///
    /// # Errors
    /// `RunErrorKind::Request` if the snapshot does not fit.
    pub(in crate::experiment) fn put_into(
        &self,
        grid: &mut Grid,
        saved: GridSave,
        adopt: bool,
    ) -> Result<(), RunError> {
        let restored = grid
            .restore(saved, adopt)
            .and_then(|()| self.journal.iter().try_for_each(|entry| grid.replay(entry.clone()).map(|_| ())));
        restored.map_err(RunError::from_restoring)
    }

    /// Restores the recorder, with its blocks and its files.
    ///
    /// # Errors
    /// `RunErrorKind::Request` if a block is missing or damaged.
    pub(in crate::experiment) fn recorder(
        &self,
        saved: RecorderSave,
        output: Option<OutputDir>,
        progress: Progress,
    ) -> Result<Recorder, RunError> {
        let block = |id: BlockId| match self.blocks.iter().find(|block| block.id == id) {
            Some(block) => Ok(block.bytes.clone()),
            None => self.store.block(&id.bytes()),
        };
        Recorder::restore(saved, block, output, progress).map_err(|error| {
            RunError::request(format!("the measures of the snapshot cannot be read: {error}"))
                .with_hint("`gridemu snapshots STORE` says which snapshots can be used")
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
