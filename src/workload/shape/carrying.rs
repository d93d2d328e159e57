//! Input and output data of grid jobs.

use crate::model::{Job, JobId};
use crate::units::{Bytes, Time};
use crate::workload::{Mark, Source, SourceError};

/// A source of jobs submitted at the portal: each needs `input` bytes at its site and sends `output` bytes back.
pub struct Carrying {
    inner: Box<dyn Source>,
    input: Bytes,
    output: Bytes,
}

impl Carrying {
    /// Adds data of these sizes to the jobs of `inner`.
    pub fn new(inner: Box<dyn Source>, input: Bytes, output: Bytes) -> Self {
        Self { inner, input, output }
    }
}

impl Source for Carrying {
    fn peek_time(&mut self) -> Result<Option<Time>, SourceError> {
        self.inner.peek_time()
    }

    fn next_job(&mut self) -> Result<Option<Job>, SourceError> {
        let Some(mut job) = self.inner.next_job()? else { return Ok(None) };
        let part = job.grid.get_or_insert_default();
        (part.input, part.output) = (self.input, self.output);
        Ok(Some(job))
    }

    fn ended(&mut self, job: JobId, at: Time) {
        self.inner.ended(job, at);
    }

    fn notes(&self) -> Vec<String> {
        self.inner.notes()
    }

    fn mark(&self) -> Option<Mark> {
        self.inner.mark()
    }

    fn seek(&mut self, mark: &Mark) -> Result<(), SourceError> {
        self.inner.seek(mark)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::GridContext;
    use crate::units::Span;
    use crate::workload::Jobs;

    #[test]
    fn every_job_carries_its_data() {
        let job = Job::rigid(1, Time::ZERO, 1, Span::SECOND);
        let inner = Box::new(Jobs::new(vec![job.clone()]));
        let mut source = Carrying::new(inner, Bytes::new(5), Bytes::new(2));
        let carried = source.next_job().unwrap().unwrap();
        let part = GridContext { input: Bytes::new(5), output: Bytes::new(2), ..GridContext::default() };
        assert_eq!(carried, Job { grid: Some(Box::new(part)), ..job });
    }
}
