//! Records a run: sums its records up and writes them, in batches, and measures the time it takes.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::Progress;
use super::clock::now;
use super::fork::Witness;
use crate::grid::Halt;
use crate::metrics::{Block, BlockError, BlockId, Blocks, Fingerprint, GridMeasures, Skeleton};
use crate::model::{Layout, Outcome, Record, RecordSink};
use crate::output::{OutputDir, OutputError, OutputMark};

/// Records handled at a time: enough that reading the clock costs next to nothing, few enough to stay in the cache.
const BATCH: usize = 256;

/// The sink of all records of a run.
pub(super) struct Recorder {
    batch: Vec<Record>,
    progress: Progress,
    pub(super) output: Option<OutputDir>,
    pub(super) measured: GridMeasures,
    pub(super) fingerprint: Fingerprint,
    pub(super) elapsed: Duration,
    /// Jobs that have ended.
    pub(super) jobs: u64,
    /// Blocks of measures that earlier saves have already handed out.
    blocks: Blocks,
    failed: Option<OutputError>,
    /// Sees each record too.
    pub(super) witness: Option<Witness>,
    /// Asks for a barrier after a number of records.
    pub(super) countdown: Option<(u64, Halt)>,
}

/// The saved state of a recorder. Its measures are complete only with the blocks that they name.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct RecorderSave {
    /// The layout version of all fields here and in the measures.
    layout: Layout<13>,
    /// The position in the files; `None` if the run writes none.
    pub(super) output: Option<OutputMark>,
    measured: Skeleton<GridMeasures>,
    pub(super) fingerprint: Fingerprint,
    /// Jobs that had ended.
    pub(super) jobs: u64,
    /// Time spent writing.
    elapsed: Duration,
}

impl RecorderSave {
    /// True if the state is complete only with blocks.
    pub(super) fn has_blocks(&self) -> bool {
        self.measured.blocks().next().is_some()
    }
}

impl Recorder {
    pub(super) fn new(measured: GridMeasures, output: Option<OutputDir>, progress: Progress) -> Self {
        Self {
            batch: Vec::with_capacity(BATCH),
            progress,
            output,
            measured,
            fingerprint: Fingerprint::default(),
            elapsed: Duration::ZERO,
            jobs: 0,
            blocks: Blocks::default(),
            failed: None,
            witness: None,
            countdown: None,
        }
    }

    /// Handles the records that are left, hands the rows to the operating system and returns the state, with the blocks
    /// of measures that are new since the last save. The blocks must be stored before the saved state is valid, even if
    /// storing this state fails and the next one is tried.
    pub(super) fn save(&mut self) -> Result<(RecorderSave, Vec<Block>), OutputError> {
        self.flush();
        let started = now();
        let output = match self.failed.take() {
            Some(error) => return Err(error),
            None => self.output.as_mut().map(OutputDir::mark).transpose()?,
        };
        let (measured, new) = Skeleton::of(&mut self.measured, &mut self.blocks);
        self.elapsed += now() - started;
        let save = RecorderSave {
            layout: Layout,
            output,
            measured,
            fingerprint: self.fingerprint,
            jobs: self.jobs,
            elapsed: self.elapsed,
        };
        Ok((save, new))
    }

    /// Continues from a saved state, with the blocks that `read` finds and with the output [resumed](OutputDir::resume).
    /// The progress has begun; the jobs that had ended are added to it.
    pub(super) fn restore<E>(
        save: RecorderSave,
        read: impl FnMut(BlockId) -> Result<Vec<u8>, E>,
        output: Option<OutputDir>,
        progress: Progress,
    ) -> Result<Self, BlockError<E>> {
        let (measured, blocks) = save.measured.put_back(read)?;
        progress.ended(save.jobs);
        Ok(Self {
            jobs: save.jobs,
            blocks,
            fingerprint: save.fingerprint,
            elapsed: save.elapsed,
            ..Self::new(measured, output, progress)
        })
    }

    /// Handles the records that are left and hands the rows to the disk; returns the output for the summary.
    pub(super) fn finish(&mut self) -> Result<Option<OutputDir>, OutputError> {
        self.flush();
        let started = now();
        let mut output = self.output.take();
        let flushed = output.as_mut().map_or(Ok(()), OutputDir::flush);
        self.elapsed += now() - started;
        match self.failed.take() {
            Some(error) => Err(error),
            None => flushed.map(|()| output),
        }
    }

    fn flush(&mut self) {
        let started = now();
        let mut jobs = 0;
        for record in &self.batch {
            self.fingerprint.add(record);
            self.measured.add(record);
            jobs += u64::from(matches!(record, Record::Job(job) if job.outcome != Outcome::Unfinished));
        }
        if let (Some(output), None) = (&mut self.output, &self.failed) {
            self.failed = output.write(&self.batch).err();
        }
        self.batch.clear();
        self.jobs += jobs;
        self.progress.ended(jobs);
        self.elapsed += now() - started;
    }
}

impl RecordSink for Recorder {
    fn record(&mut self, record: Record) {
        if let Some(witness) = &mut self.witness {
            witness.record(record.clone());
        }
        self.batch.push(record);
        if let Some((left, halt)) = &mut self.countdown {
            *left = left.saturating_sub(1);
            if *left == 0 {
                halt.ask();
            }
        }
        if self.batch.len() >= BATCH {
            self.flush();
        }
    }

    fn is_closed(&self) -> bool {
        self.failed.is_some()
    }
}

#[cfg(test)]
mod tests;
