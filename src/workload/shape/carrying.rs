//! Input and output data of grid jobs.

use super::{Shape, Shaped};
use crate::model::Job;
use crate::units::Bytes;
use crate::workload::{Source, SourceError};

/// A source of jobs submitted at the portal: each needs input data at its site and sends output data back.
pub type Carrying = Shaped<Data>;

/// The data of each job.
pub struct Data {
    input: Bytes,
    output: Bytes,
}

impl Carrying {
    /// Adds data of these sizes to the jobs of `inner`.
    pub fn new(inner: Box<dyn Source>, input: Bytes, output: Bytes) -> Self {
        Self { inner, shape: Data { input, output } }
    }
}

impl Shape for Data {
    fn apply(&mut self, job: &mut Job) -> Result<(), SourceError> {
        let part = job.grid.get_or_insert_default();
        (part.input, part.output) = (self.input, self.output);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::GridContext;
    use crate::units::{Span, Time};
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
