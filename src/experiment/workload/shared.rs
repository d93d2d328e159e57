//! Logs that many runs of one process read: each is read once and kept in memory.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use super::{Base, Shaping, file_name, log};
use crate::experiment::{Progress, RunError};
use crate::formats::swf::{Clean, Header};
use crate::model::Job;
use crate::workload::Jobs;

/// Jobs that are kept at most, of all logs together: some 200 MB. Logs beyond it are read by each run for itself.
const MOST_JOBS: usize = 1_000_000;

/// The logs that runs share. All copies are one.
#[derive(Clone, Debug, Default)]
pub(in crate::experiment) struct Logs(Arc<Shelf>);

#[derive(Debug, Default)]
struct Shelf {
    logs: Mutex<BTreeMap<Reading, Arc<Kept>>>,
    jobs: AtomicUsize,
}

/// A log, or why it cannot be read; `None` if it is too large to be kept.
type Kept = OnceLock<Result<Option<Arc<Log>>, RunError>>;

/// All that changes what a log gives.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Reading {
    path: PathBuf,
    clean: Clean,
    procs: Option<u32>,
    cap: bool,
    first: Option<u64>,
    feedback: bool,
}

/// A log that has been read.
#[derive(Debug)]
struct Log {
    jobs: Arc<Vec<Job>>,
    notes: Vec<String>,
    procs: Option<u32>,
    header: Option<Header>,
}

impl Logs {
    /// The log of `path`, before its submissions are scaled; `None` if it is not to be kept.
    pub(super) fn open(&self, path: &Path, shaping: &Shaping) -> Result<Option<Base>, RunError> {
        let Shaping { clean, cap, first, feedback, procs, .. } = *shaping;
        let reading = Reading { path: path.to_owned(), clean, procs, cap, first, feedback };
        let kept = {
            let mut logs = self.0.logs.lock().unwrap_or_else(PoisonError::into_inner);
            Arc::clone(logs.entry(reading).or_default())
        };
        let log = kept.get_or_init(|| self.read(path, shaping)).clone()?;
        Ok(log.map(|log| {
            let jobs = Jobs::shared(Arc::clone(&log.jobs)).with_notes(log.notes.clone());
            let (procs, header) = (log.procs, log.header.clone());
            let elastic = log.jobs.iter().any(|job| job.elastic.is_some());
            Base { source: Box::new(jobs), name: file_name(path), procs, seed: None, header, elastic }
        }))
    }

    fn read(&self, path: &Path, shaping: &Shaping) -> Result<Option<Arc<Log>>, RunError> {
        let Base { mut source, procs, header, .. } = log::open(path, shaping, &Progress::default(), false)?;
        let mut jobs = Vec::new();
        while let Some(job) = source.next_job().map_err(|error| RunError::from_reading(&error))? {
            jobs.push(job);
            if self.0.jobs.load(Ordering::Relaxed) + jobs.len() > MOST_JOBS {
                return Ok(None);
            }
        }
        self.0.jobs.fetch_add(jobs.len(), Ordering::Relaxed);
        Ok(Some(Arc::new(Log { jobs: Arc::new(jobs), notes: source.notes(), procs, header })))
    }
}
