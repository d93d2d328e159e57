//! A source that measures the time spent reading and the load it offered.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::clock::now;
use crate::model::Job;
use crate::units::Time;
use crate::workload::{Mark, Source, SourceError};

/// Jobs read at a time: enough that reading the clock costs next to nothing.
const BATCH: usize = 512;

/// The jobs that a source has given so far, and the time it took.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Read {
    /// Time spent reading or generating.
    pub(super) elapsed: Duration,
    totals: Totals,
}

/// Totals of the jobs that have been read.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
struct Totals {
    first: Option<Time>,
    last: Time,
    /// Processors × run time, in processor-microseconds.
    work: u128,
}

impl Read {
    /// Processors × run time of all jobs over `procs` × the span of submissions; `None` if all were submitted at once.
    pub(super) fn offered_load(&self, procs: u32) -> Option<f64> {
        let Totals { first, last, work, .. } = self.totals;
        let span = last.since(first?).micros();
        (span > 0).then(|| work as f64 / (span as f64 * f64::from(procs)))
    }
}

impl Totals {
    fn add(&mut self, job: &Job) {
        self.first.get_or_insert(job.submit);
        self.last = self.last.max(job.submit);
        self.work += u128::from(job.size.preferred()) * u128::from(job.runtime.micros());
    }
}

/// Reads ahead in batches and measures the time. It goes under [`crate::workload::Feedback`], which needs no batches.
pub(super) struct Timed {
    inner: Box<dyn Source>,
    /// The position of the inner source before the batch, and what had been read by then.
    before: Option<(Mark, Totals)>,
    batch: VecDeque<Job>,
    taken: u64,
    failed: Option<SourceError>,
    read: Arc<Mutex<Read>>,
}

#[derive(Serialize, Deserialize)]
struct State {
    before: Mark,
    totals: Totals,
    taken: u64,
    /// The content that the inner source has read, to the end of the batch; 0 if no job of it is taken.
    content: u128,
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
        self.before = self.inner.mark().map(|mark| (mark, self.totals()));
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
        self.batch.iter().for_each(|job| read.totals.add(job));
    }

    fn totals(&self) -> Totals {
        self.read.lock().unwrap_or_else(PoisonError::into_inner).totals
    }

    /// The next job, if there is one.
    fn front(&mut self) -> Result<Option<&Job>, SourceError> {
        if self.batch.is_empty() && self.failed.is_none() {
            self.fill();
        }
        match (self.batch.front(), &self.failed) {
            (None, Some(error)) => Err(error.clone()),
            (front, _) => Ok(front),
        }
    }
}

impl Source for Timed {
    fn peek_time(&mut self) -> Result<Option<Time>, SourceError> {
        Ok(self.front()?.map(|job| job.submit))
    }

    fn next_job(&mut self) -> Result<Option<Job>, SourceError> {
        self.taken += u64::from(self.front()?.is_some());
        Ok(self.batch.pop_front())
    }

    fn notes(&self) -> Vec<String> {
        self.inner.notes()
    }

    fn mark(&self) -> Option<Mark> {
        let (before, totals, taken) = if self.batch.is_empty() {
            (self.inner.mark()?, self.totals(), 0)
        } else {
            let (before, totals) = self.before.clone()?;
            (before, totals, self.taken)
        };
        let (position, content) = (before.position + taken, before.content);
        // None of the batch is taken before the first job, and then whether it has been read does not matter.
        let read = if taken == 0 { 0 } else { self.inner.mark()?.content };
        let state = postcard::to_stdvec(&State { before, totals, taken, content: read }).ok()?;
        Some(Mark { position, content, state })
    }

    fn seek(&mut self, mark: &Mark) -> Result<(), SourceError> {
        let fail = |problem: &str| SourceError::Mark {
            place: "the workload".to_owned(),
            problem: problem.to_owned(),
        };
        let state: State = postcard::from_bytes(&mark.state).map_err(|_| fail("the mark is damaged"))?;
        // Building a grid looks at the first job of each source, and a log cannot be read backwards: if the mark lies in
        // the current batch, its jobs are still in memory.
        let at_hand = |(before, _): &(Mark, Totals)| self.taken == 0 && *before == state.before;
        if self.batch.is_empty() || !self.before.as_ref().is_some_and(at_hand) {
            self.inner.seek(&state.before)?;
            (self.before, self.failed, self.taken) = (None, None, 0);
            self.batch.clear();
            self.read.lock().unwrap_or_else(PoisonError::into_inner).totals = state.totals;
            if state.taken > 0 {
                self.fill();
            }
        }
        // The mark of the inner source is before the batch, so the jobs of the batch are compared here.
        if state.taken > 0 && self.inner.mark().is_some_and(|mark| mark.content != state.content) {
            return Err(fail("its jobs up to the mark are not those that were read when the mark was made"));
        }
        for _ in 0..state.taken {
            let taken = self.batch.pop_front();
            taken
                .ok_or_else(|| self.failed.clone().unwrap_or_else(|| fail("its jobs end before the mark")))?;
        }
        self.taken = state.taken;
        Ok(())
    }
}
