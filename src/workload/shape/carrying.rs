//! Jobs of the grid, with the data that they carry.

use crate::model::{Job, JobId};
use crate::units::{Bytes, Time};
use crate::workload::{Mark, Source, SourceError};

/// A source whose jobs come through the portal: each needs `input` at its site and sends `output` back.
pub struct Carrying {
    inner: Box<dyn Source>,
    input: Bytes,
    output: Bytes,
}

impl Carrying {
    /// The jobs of `inner`, each with so much data.
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
    use crate::model::GridPart;
    use crate::units::Span;
    use crate::workload::Jobs;

    #[test]
    fn every_job_carries_its_data() {
        let job = Job::rigid(1, Time::ZERO, 1, Span::SECOND);
        let inner = Box::new(Jobs::new(vec![job.clone()]));
        let mut source = Carrying::new(inner, Bytes::new(5), Bytes::new(2));
        let carried = source.next_job().unwrap().unwrap();
        let part = GridPart { input: Bytes::new(5), output: Bytes::new(2), ..GridPart::default() };
        assert_eq!(carried, Job { grid: Some(Box::new(part)), ..job });
    }
}
