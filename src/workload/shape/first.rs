//! The first jobs of a workload.

use super::{own_state, with_state};
use crate::model::{Job, JobId};
use crate::units::Time;
use crate::workload::{Mark, Source, SourceError};

/// The first jobs of a source.
pub struct First {
    inner: Box<dyn Source>,
    left: u64,
}

impl First {
    /// Takes the first `count` jobs of `inner`.
    pub fn new(inner: Box<dyn Source>, count: u64) -> Self {
        Self { inner, left: count }
    }
}

impl Source for First {
    fn peek_time(&mut self) -> Result<Option<Time>, SourceError> {
        if self.left == 0 { Ok(None) } else { self.inner.peek_time() }
    }

    fn next_job(&mut self) -> Result<Option<Job>, SourceError> {
        if self.left == 0 {
            return Ok(None);
        }
        let job = self.inner.next_job()?;
        self.left -= u64::from(job.is_some());
        Ok(job)
    }

    fn ended(&mut self, job: JobId, at: Time) {
        self.inner.ended(job, at);
    }

    fn notes(&self) -> Vec<String> {
        self.inner.notes()
    }

    fn mark(&self) -> Option<Mark> {
        with_state(self.inner.mark()?, &self.left)
    }

    fn seek(&mut self, mark: &Mark) -> Result<(), SourceError> {
        let (left, inner) = own_state("the first jobs", mark)?;
        self.inner.seek(&inner)?;
        self.left = left;
        Ok(())
    }
}
