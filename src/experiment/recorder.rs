//! Takes a run's records: sums them up and writes them, in batches, measured.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::Progress;
use super::clock::now;
use crate::metrics::{Definitions, Fingerprint, GridMeasures, Summary, WaitComparison};
use crate::model::{Outcome, Record, RecordSink, RejectReason};
use crate::report::{OutputDir, OutputError, OutputMark};

/// Records handled at a time: enough that looking at the clock costs nothing, few enough to stay in the cache.
const BATCH: usize = 256;

/// What is measured over the records of a run.
pub(super) trait Measured {
    fn add(&mut self, record: &Record);
}

/// What is measured of one site.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct OneSite {
    pub(super) summary: Summary,
    pub(super) waits: WaitComparison,
    /// Jobs that were rejected because they ask for more than the machine gives.
    pub(super) too_large: u64,
}

impl OneSite {
    pub(super) fn new(definitions: &Definitions) -> Self {
        Self {
            summary: Summary::new(definitions.clone()),
            waits: WaitComparison::new(definitions.clone()),
            too_large: 0,
        }
    }
}

impl Measured for OneSite {
    #[inline]
    fn add(&mut self, record: &Record) {
        if let Record::Job(job) = record {
            self.summary.add(job);
            self.waits.add(job);
            self.too_large += u64::from(job.outcome == Outcome::Rejected(RejectReason::TooLarge));
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
    failed: Option<OutputError>,
}

/// How far a recorder was.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct RecorderSave<M> {
    /// The files; `None` if there are none.
    pub(super) output: Option<OutputMark>,
    pub(super) measured: M,
    pub(super) fingerprint: Fingerprint,
    /// Jobs that had ended.
    pub(super) jobs: u64,
    /// How long writing took.
    pub(super) elapsed: Duration,
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
            failed: None,
        }
    }

    /// Handles what is left, hands the rows to the system and says how far everything is.
    pub(super) fn save(&mut self) -> Result<RecorderSave<M>, OutputError>
    where
        M: Clone,
    {
        self.flush();
        let started = now();
        let output = match self.failed.take() {
            Some(error) => Err(error),
            None => self.output.as_mut().map(OutputDir::mark).transpose(),
        };
        self.elapsed += now() - started;
        Ok(RecorderSave {
            output: output?,
            measured: self.measured.clone(),
            fingerprint: self.fingerprint,
            jobs: self.jobs,
            elapsed: self.elapsed,
        })
    }

    /// Goes on from what was saved, with its output [resumed](OutputDir::resume). The progress has begun and is
    /// told of the jobs that had ended.
    pub(super) fn restore(save: RecorderSave<M>, output: Option<OutputDir>, progress: Progress) -> Self {
        progress.ended(save.jobs);
        Self {
            jobs: save.jobs,
            fingerprint: save.fingerprint,
            elapsed: save.elapsed,
            ..Self::new(save.measured, output, progress)
        }
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
mod tests {
    use super::*;
    use crate::metrics::Window;
    use crate::metrics::samples::{happened, job, machines};
    use crate::model::{EventKind, SiteSpec};
    use crate::report::OutputOptions;

    #[test]
    fn a_grid_is_recorded_batch_by_batch() {
        let sites = ["windsor", "delft"].map(|name| SiteSpec::plain(name, 8, "easy".parse().unwrap()));
        let records: Vec<_> = (0..1_000)
            .flat_map(|at| {
                let job = job(at, at * 10, 5, 20, 4);
                let event = match at % 2 {
                    0 => machines(EventKind::Left, at * 10, 1),
                    _ => happened(EventKind::GivenBack, &job),
                };
                [Record::Event(event), Record::Job(job)]
            })
            .collect();
        let measures = || GridMeasures::new(Definitions::default(), Window::ALL, &sites);
        let folder = tempfile::tempdir().unwrap();
        let options = OutputOptions { events: true, ..OutputOptions::default() };
        let output = OutputDir::create(folder.path(), &sites, Definitions::default(), &options).unwrap();
        let progress = Progress::default();
        let mut recorder = Recorder::new(measures(), Some(output), progress.clone());
        let (mut by_hand, mut fingerprint) = (measures(), Fingerprint::new());
        for record in &records {
            recorder.record(record.clone());
            by_hand.add(record);
            fingerprint.add(record);
        }
        assert!(!recorder.is_closed());
        assert!(recorder.finish().unwrap().is_some());
        assert_eq!((&recorder.measured, recorder.fingerprint), (&by_hand, fingerprint));
        assert_eq!((fingerprint.count(), progress.jobs()), (2_000, 1_000));
        for (file, rows) in [("jobs.csv", 1_000), ("events.csv", 1_000), ("segments.csv", 0)] {
            let text = std::fs::read_to_string(folder.path().join(file)).unwrap();
            assert_eq!(text.lines().count(), rows + 1, "{file}");
        }
    }
}
