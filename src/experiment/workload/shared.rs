//! Logs that several runs of one process share: each is read once and kept in memory.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use super::{Base, file_name, log};
use crate::experiment::workload::Opened;
use crate::experiment::{Progress, RunError};
use crate::formats::swf::{Clean, Header};
use crate::model::Job;
use crate::scenario::Shaping;
use crate::workload::Jobs;

/// The largest number of jobs kept, of all logs together: some 200 MB. Each run reads further logs itself.
const MOST_JOBS: usize = 1_000_000;

/// The logs that runs share. Clones refer to the same logs.
#[derive(Clone, Debug, Default)]
pub(crate) struct Logs(Arc<Shelf>);

#[derive(Debug, Default)]
struct Shelf {
    logs: Mutex<BTreeMap<Reading, Arc<Kept>>>,
    jobs: AtomicUsize,
}

/// A log, or the error of reading it; `None` if it is too large to be kept.
type Kept = OnceLock<Result<Option<Arc<Log>>, RunError>>;

/// Everything that determines the jobs of a log.
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

/// A workload that can be opened only once and has been; the first caller gets it. Clones refer to the same workload.
#[derive(Clone, Default)]
pub(in crate::experiment) struct Given(Arc<Mutex<Option<Opened>>>);

impl std::fmt::Debug for Given {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Given")
    }
}

impl Given {
    /// Holds `opened`, if there is one.
    pub(in crate::experiment) fn new(opened: Option<Opened>) -> Self {
        Self(Arc::new(Mutex::new(opened)))
    }

    /// Takes the workload, once.
    pub(in crate::experiment) fn take(&self) -> Option<Opened> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

impl Logs {
    /// The log of `path`, before its submissions are scaled; `None` if it is not kept in memory.
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
