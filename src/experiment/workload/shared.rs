//! Logs that several runs of one process share: each is read once and kept in memory.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use super::{Base, file_name, log};
use crate::experiment::{Progress, RunError};
use crate::formats::swf::{Clean, Header};
use crate::model::Job;
use crate::scenario::Shaping;
use crate::workload::Jobs;

/// The largest number of jobs kept, of all logs together: some 200 MB. Each run reads further logs itself.
const MOST_JOBS: usize = 1_000_000;

/// The logs that runs share. Clones refer to the same logs.
#[derive(Clone, Debug, Default)]
pub(crate) struct Logs(Arc<Shared>);

#[derive(Debug, Default)]
struct Shared {
    logs: Mutex<BTreeMap<Reading, Arc<Kept>>>,
    jobs: AtomicUsize,
}

/// A log, or the error of reading it; `None` if it is too large to be kept.
type Kept = OnceLock<Result<Option<Arc<Log>>, RunError>>;

/// Everything that determines the jobs of a log, before any are left out at its beginning.
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
            Base { source: Box::new(jobs), name: file_name(path), procs, header }
        }))
    }

    fn read(&self, path: &Path, shaping: &Shaping) -> Result<Option<Arc<Log>>, RunError> {
        let Base { mut source, procs, header, .. } = log::open(path, shaping, &Progress::default(), false)?;
        let mut jobs = Vec::new();
        while let Some(job) = source.next_job().map_err(RunError::from_reading)? {
            jobs.push(job);
            if self.0.jobs.load(Ordering::Relaxed) + jobs.len() > MOST_JOBS {
                return Ok(None);
            }
        }
        self.0.jobs.fetch_add(jobs.len(), Ordering::Relaxed);
        Ok(Some(Arc::new(Log { jobs: Arc::new(jobs), notes: source.notes(), procs, header })))
    }
}
