//! A source that knows how long reading took and what it offered.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::clock::now;
use crate::model::Job;
use crate::units::Time;
use crate::workload::{Mark, Source, SourceError};

/// Jobs read at a time: enough that looking at the clock costs nothing.
const BATCH: usize = 512;

/// What a source has given so far.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Read {
    /// Time spent reading or generating.
    pub(super) elapsed: Duration,
    pub(super) jobs: u64,
    first: Option<Time>,
    last: Time,
    /// Processors × run time, in processor-microseconds.
    work: u128,
}

impl Read {
    /// Processors × run time of all jobs over `procs` × the span of submissions; `None` if they all came at once.
    pub(super) fn offered_load(&self, procs: u32) -> Option<f64> {
        let span = self.last.since(self.first?).micros();
        (span > 0).then(|| self.work as f64 / (span as f64 * f64::from(procs)))
    }
}

/// Reads ahead in batches, measured. Goes under [`crate::workload::Feedback`], which needs no batches.
pub(super) struct Timed {
    inner: Box<dyn Source>,
    /// Where the inner source stood before the batch.
    before: Option<Mark>,
    batch: VecDeque<Job>,
    taken: u64,
    failed: Option<SourceError>,
    read: Arc<Mutex<Read>>,
}

#[derive(Serialize, Deserialize)]
struct State {
    before: Mark,
    taken: u64,
}

impl Timed {
    pub(super) fn new(inner: Box<dyn Source>) -> (Self, Arc<Mutex<Read>>) {
        let read = Arc::new(Mutex::new(Read::default()));
        let timed = Self {
            before: None,
            batch: VecDeque::new(),
            taken: 0,
            failed: None,
            read: Arc::clone(&read),
            inner,
        };
        (timed, read)
    }

    fn fill(&mut self) {
        let started = now();
        self.before = self.inner.mark();
        self.taken = 0;
        while self.batch.len() < BATCH {
            match self.inner.next_job() {
                Ok(Some(job)) => self.batch.push_back(job),
                Ok(None) => break,
                Err(error) => {
                    self.failed = Some(error);
                    break;
                }
            }
        }
        let elapsed = now() - started;
        let mut read = self.read.lock().unwrap_or_else(PoisonError::into_inner);
        read.elapsed += elapsed;
        read.jobs += self.batch.len() as u64;
        for job in &self.batch {
            read.first.get_or_insert(job.submit);
            read.last = read.last.max(job.submit);
            read.work += u128::from(job.size.preferred()) * u128::from(job.runtime.micros());
        }
    }
}

impl Source for Timed {
    fn peek_time(&mut self) -> Result<Option<Time>, SourceError> {
        if self.batch.is_empty() && self.failed.is_none() {
            self.fill();
        }
        match (self.batch.front(), &self.failed) {
            (Some(job), _) => Ok(Some(job.submit)),
            (None, Some(error)) => Err(error.clone()),
            (None, None) => Ok(None),
        }
    }

    fn next_job(&mut self) -> Result<Option<Job>, SourceError> {
        if self.batch.is_empty() && self.failed.is_none() {
            self.fill();
        }
        match (self.batch.pop_front(), &self.failed) {
            (Some(job), _) => {
                self.taken += 1;
                Ok(Some(job))
            }
            (None, Some(error)) => Err(error.clone()),
            (None, None) => Ok(None),
        }
    }

    fn notes(&self) -> Vec<String> {
        self.inner.notes()
    }

    fn mark(&self) -> Option<Mark> {
        if self.batch.is_empty() {
            let before = self.inner.mark()?;
            let state = postcard::to_stdvec(&State { before: before.clone(), taken: 0 }).ok()?;
            return Some(Mark { state, ..before });
        }
        let before = self.before.clone()?;
        let state = postcard::to_stdvec(&State { before: before.clone(), taken: self.taken }).ok()?;
        Some(Mark { position: before.position + self.taken, content: before.content, state })
    }

    fn seek(&mut self, mark: &Mark) -> Result<(), SourceError> {
        let state: State = postcard::from_bytes(&mark.state).map_err(|error| SourceError::Mark {
            place: "the workload".to_owned(),
            problem: error.to_string(),
        })?;
        self.inner.seek(&state.before)?;
        self.batch.clear();
        self.failed = None;
        for _ in 0..state.taken {
            self.inner.next_job()?;
        }
        Ok(())
    }
}
