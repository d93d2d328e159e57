//! How far a run has come, told to whoever shows it.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// A counter that a run moves on and a progress bar reads.
#[derive(Clone, Debug, Default)]
pub struct Progress(Arc<Counters>);

#[derive(Debug, Default)]
struct Counters {
    done: AtomicU64,
    total: AtomicU64,
    jobs: AtomicU64,
    told: Mutex<Vec<Notice>>,
}

/// What has to be said while a run goes on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Notice {
    /// Something to know.
    Note(String),
    /// Something to look at.
    Warning(String),
}

impl Progress {
    /// How much has been read, out of how much (0 if that is not known): bytes of a log, jobs of a generator.
    pub fn read(&self) -> (u64, u64) {
        (self.0.done.load(Ordering::Relaxed), self.0.total.load(Ordering::Relaxed))
    }

    /// Jobs that have ended.
    pub fn jobs(&self) -> u64 {
        self.0.jobs.load(Ordering::Relaxed)
    }

    /// What has to be said while the run goes on, since this was last asked.
    pub fn told(&self) -> Vec<Notice> {
        std::mem::take(&mut self.0.told.lock().unwrap_or_else(PoisonError::into_inner))
    }

    pub(super) fn tell(&self, said: Notice) {
        self.0.told.lock().unwrap_or_else(PoisonError::into_inner).push(said);
    }

    pub(super) fn begin(&self, total: u64) {
        self.0.done.store(0, Ordering::Relaxed);
        self.0.jobs.store(0, Ordering::Relaxed);
        self.0.total.store(total, Ordering::Relaxed);
    }

    pub(super) fn advance(&self, by: u64) {
        self.0.done.fetch_add(by, Ordering::Relaxed);
    }

    pub(super) fn ended(&self, jobs: u64) {
        self.0.jobs.fetch_add(jobs, Ordering::Relaxed);
    }
}
