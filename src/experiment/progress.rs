//! The progress of a run, for a display.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// A counter that a run advances and a progress bar reads.
#[derive(Clone, Debug, Default)]
pub struct Progress(Arc<Counters>);

#[derive(Debug, Default)]
struct Counters {
    done: AtomicU64,
    total: AtomicU64,
    to_come: AtomicU64,
    jobs: AtomicU64,
    runs: Mutex<Option<RunsDone>>,
    notices: Mutex<Vec<Notice>>,
    slow: Mutex<Slow>,
}

/// What may make the run slow.
#[derive(Debug, Default)]
struct Slow {
    /// What has not been said.
    unsaid: Vec<String>,
    /// All of it, as runs of a campaign share reasons.
    known: BTreeSet<String>,
}

/// A message of a run that goes on.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Notice {
    /// Information.
    Note(String),
    /// Something to check before trusting the result.
    Warning(String),
}

/// The progress of a campaign.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub struct RunsDone {
    /// Runs that have a result.
    pub done: u64,
    /// Runs of `done` that had a result before this process began.
    pub before: u64,
    /// Runs of `done` that failed.
    pub failed: u64,
    /// Runs in all.
    pub total: u64,
}

impl RunsDone {
    /// The remaining time, extrapolated from the `elapsed` time since the campaign began; `None` until a run is done.
    pub fn left(&self, elapsed: Duration) -> Option<Duration> {
        let here = self.done.saturating_sub(self.before);
        let rest = self.total.saturating_sub(self.done);
        (here > 0).then(|| elapsed.mul_f64(rest as f64 / here as f64))
    }
}

impl Progress {
    /// The progress of the campaign; `None` for a single run.
    pub fn runs(&self) -> Option<RunsDone> {
        *self.0.runs.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Begins a campaign of `total` runs, of which `before` are done already.
    pub(crate) fn begin_runs(&self, total: u64, before: u64) {
        let runs = RunsDone { done: before, before, failed: 0, total };
        *self.0.runs.lock().unwrap_or_else(PoisonError::into_inner) = Some(runs);
    }

    /// Counts a run of a campaign that has ended, successfully or not.
    pub(crate) fn run_ended(&self, failed: bool) {
        if let Some(runs) = &mut *self.0.runs.lock().unwrap_or_else(PoisonError::into_inner) {
            runs.done += 1;
            runs.failed += u64::from(failed);
        }
    }

    /// The work done and the total (0 if unknown): for logs the bytes that have been read, otherwise for generators the jobs that have
    /// ended.
    pub fn done(&self) -> (u64, u64) {
        match self.0.total.load(Ordering::Relaxed) {
            0 => (self.jobs(), self.0.to_come.load(Ordering::Relaxed)),
            total => (self.0.done.load(Ordering::Relaxed), total),
        }
    }

    /// Jobs that have ended.
    pub fn jobs(&self) -> u64 {
        self.0.jobs.load(Ordering::Relaxed)
    }

    /// The messages since the last call.
    pub fn notices(&self) -> Vec<Notice> {
        std::mem::take(&mut self.0.notices.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// What in the scenario may make the run slow, once: for a display that has waited for a while.
    pub fn reasons_to_wait(&self) -> Vec<String> {
        std::mem::take(&mut self.0.slow.lock().unwrap_or_else(PoisonError::into_inner).unsaid)
    }

    /// Adds what may make the run slow, unless it has been said.
    pub(crate) fn add_reasons_to_wait(&self, reasons: impl Iterator<Item = String>) {
        let slow = &mut *self.0.slow.lock().unwrap_or_else(PoisonError::into_inner);
        slow.unsaid.extend(reasons.filter(|reason| slow.known.insert(reason.clone())));
    }

    pub(crate) fn note(&self, text: impl Into<String>) {
        self.notify(Notice::Note(text.into()));
    }

    pub(crate) fn warn(&self, text: impl Into<String>) {
        self.notify(Notice::Warning(text.into()));
    }

    fn notify(&self, notice: Notice) {
        self.0.notices.lock().unwrap_or_else(PoisonError::into_inner).push(notice);
    }

    /// Adds a log of this size in bytes.
    pub(crate) fn begin(&self, bytes: u64) {
        self.0.total.fetch_add(bytes, Ordering::Relaxed);
    }

    /// Adds a generator of this number of jobs.
    pub(crate) fn begin_jobs(&self, jobs: u64) {
        self.0.to_come.fetch_add(jobs, Ordering::Relaxed);
    }

    pub(crate) fn advance(&self, by: u64) {
        self.0.done.fetch_add(by, Ordering::Relaxed);
    }

    pub(crate) fn ended(&self, jobs: u64) {
        self.0.jobs.fetch_add(jobs, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn logs_are_told_in_bytes_and_generators_in_jobs() {
        let progress = Progress::default();
        assert_eq!(progress.done(), (0, 0), "nobody knows how much there is");
        progress.begin_jobs(100);
        progress.begin_jobs(20);
        progress.ended(30);
        assert_eq!(progress.done(), (30, 120));
        // Beside a log, generators do not count.
        progress.begin(5_000);
        progress.begin(1_000);
        progress.advance(1_500);
        assert_eq!((progress.done(), progress.jobs()), ((1_500, 6_000), 30));
    }

    #[test]
    fn the_time_that_is_left_follows_from_what_was_done_here() {
        let progress = Progress::default();
        assert_eq!(progress.runs(), None);
        progress.begin_runs(100, 40);
        let second = Duration::from_secs(1);
        assert_eq!(progress.runs().unwrap().left(second), None, "nothing to go by yet");
        (0..20).for_each(|at| progress.run_ended(at == 3));
        let runs = progress.runs().unwrap();
        assert_eq!(runs, RunsDone { done: 60, before: 40, failed: 1, total: 100 });
        assert_eq!(runs.left(10 * second), Some(20 * second), "20 took 10 s, 40 are left");
    }
}
