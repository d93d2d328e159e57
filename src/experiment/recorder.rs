//! Takes a run's records: sums them up and writes them, in batches, measured.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::Progress;
use super::clock::now;
use crate::metrics::{
    Block, BlockError, BlockId, Blocks, Definitions, Elasticity, Exact, Fingerprint, GridMeasures, Skeleton,
    Summary, WaitComparison,
};
use crate::model::{Layout, Outcome, Record, RecordSink, RejectReason};
use crate::report::{OutputDir, OutputError, OutputMark};

/// Records handled at a time: enough that looking at the clock costs nothing, few enough to stay in the cache.
const BATCH: usize = 256;

/// What is measured over the records of a run.
pub(super) trait Measured: Exact + Clone {
    fn add(&mut self, record: &Record);
}

/// What is measured of one site.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct OneSite {
    pub(super) summary: Summary,
    pub(super) waits: WaitComparison,
    /// Jobs that were rejected because they ask for more than the machine gives.
    pub(super) too_large: u64,
    pub(super) elastic: Elasticity,
}

impl OneSite {
    pub(super) fn new(definitions: &Definitions) -> Self {
        Self {
            summary: Summary::new(definitions.clone()),
            waits: WaitComparison::new(definitions.clone()),
            too_large: 0,
            elastic: Elasticity::default(),
        }
    }
}

impl Exact for OneSite {
    fn exact(&mut self, each: &mut dyn FnMut(&mut Vec<u64>)) {
        self.summary.exact(each);
        self.waits.exact(each);
    }
}

impl Measured for OneSite {
    #[inline]
    fn add(&mut self, record: &Record) {
        if let Record::Job(job) = record {
            self.summary.add(job);
            self.waits.add(job);
            self.too_large += u64::from(job.outcome == Outcome::Rejected(RejectReason::TooLarge));
        } else if let Record::Event(event) = record {
            self.elastic.add(event);
        }
    }
}

impl Measured for GridMeasures {
    #[inline]
    fn add(&mut self, record: &Record) {
        Self::add(self, record);
    }
}

/// The end of all records of a run.
pub(super) struct Recorder<M> {
    batch: Vec<Record>,
    progress: Progress,
    output: Option<OutputDir>,
    pub(super) measured: M,
    pub(super) fingerprint: Fingerprint,
    pub(super) elapsed: Duration,
    /// Jobs that have ended.
    jobs: u64,
    /// Blocks of measures that were given out with earlier saves.
    blocks: Blocks,
    failed: Option<OutputError>,
}

/// How far a recorder was. Its measures are whole only with the blocks that they name.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct RecorderSave<M> {
    /// Of everything here and in the measures.
    layout: Layout<2>,
    /// The files; `None` if there are none.
    pub(super) output: Option<OutputMark>,
    measured: Skeleton<M>,
    pub(super) fingerprint: Fingerprint,
    /// Jobs that had ended.
    pub(super) jobs: u64,
    /// How long writing took.
    elapsed: Duration,
}

impl<M: Measured> RecorderSave<M> {
    /// Whether it is whole only with blocks.
    pub(super) fn has_blocks(&self) -> bool {
        self.measured.blocks().next().is_some()
    }
}

impl<M: Measured> Recorder<M> {
    pub(super) fn new(measured: M, output: Option<OutputDir>, progress: Progress) -> Self {
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
        }
    }

    /// Handles what is left, hands the rows to the system and says how far everything is, with the blocks of measures
    /// that are new since the last time: these must be safe before what is saved counts, also if
    /// saving it fails and the next one is tried.
    pub(super) fn save(&mut self) -> Result<(RecorderSave<M>, Vec<Block>), OutputError> {
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

    /// Goes on from what was saved, with the blocks that `read` finds and with the output
    /// [resumed](OutputDir::resume). The progress has begun; it is told of the jobs that had ended.
    pub(super) fn restore<E>(
        save: RecorderSave<M>,
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

    /// Jobs that have ended.
    pub(super) const fn jobs(&self) -> u64 {
        self.jobs
    }

    /// The files, to be synced.
    pub(super) const fn output(&self) -> Option<&OutputDir> {
        self.output.as_ref()
    }

    /// Handles what is left and hands the rows to the disk; gives the output back for the summary.
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
            jobs += u64::from(matches!(record, Record::Job(_)));
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

impl<M: Measured> RecordSink for Recorder<M> {
    fn record(&mut self, record: Record) {
        self.batch.push(record);
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
