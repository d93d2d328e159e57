//! Rigid jobs turned into malleable ones.

use super::{mark_error, own_state, with_state};
use crate::model::{Job, JobId, Size, Speedup};
use crate::units::Time;
use crate::workload::{Mark, Source, SourceError};

/// A source of malleable jobs: each prefers as many processors as it requested, and accepts any number from one to
/// those of the largest machine, with a run time inversely proportional to them. A job that is larger than that stays
/// as it is.
pub struct Resizable {
    inner: Box<dyn Source>,
    largest: u32,
}

impl Resizable {
    /// Makes the jobs of `inner` malleable, on up to `largest` processors.
    pub fn new(inner: Box<dyn Source>, largest: u32) -> Self {
        Self { inner, largest }
    }
}

impl Source for Resizable {
    fn peek_time(&mut self) -> Result<Option<Time>, SourceError> {
        self.inner.peek_time()
    }

    fn next_job(&mut self) -> Result<Option<Job>, SourceError> {
        let mut job = self.inner.next_job()?;
        if let Some(job) = &mut job
            && let Size::Rigid(preferred) = job.size
            && (1..=self.largest).contains(&preferred)
        {
            job.size = Size::Malleable { min: 1, preferred, max: self.largest, speedup: Speedup::Linear };
        }
        Ok(job)
    }

    fn ended(&mut self, job: JobId, at: Time) {
        self.inner.ended(job, at);
    }

    fn notes(&self) -> Vec<String> {
        self.inner.notes()
    }

    fn mark(&self) -> Option<Mark> {
        with_state(self.inner.mark()?, &self.largest)
    }

    fn seek(&mut self, mark: &Mark) -> Result<(), SourceError> {
        let (largest, inner): (u32, _) = own_state("malleable jobs", mark)?;
        if largest != self.largest {
            let said = format!("the mark was made with jobs of up to {largest} processors");
            return Err(mark_error("malleable jobs", &said));
        }
        self.inner.seek(&inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::units::Span;
    use crate::workload::Jobs;

    #[test]
    fn jobs_that_find_room_can_be_resized() {
        let jobs = [1, 8, 9].map(|procs| Job::rigid(u64::from(procs), Time::ZERO, procs, Span::SECOND));
        let mut source = Resizable::new(Box::new(Jobs::new(jobs.to_vec())), 8);
        let mut sizes = Vec::new();
        while let Some(job) = source.next_job().unwrap() {
            job.check().unwrap();
            sizes.push(job.size);
        }
        let malleable = |preferred| Size::Malleable { min: 1, preferred, max: 8, speedup: Speedup::Linear };
        assert_eq!(sizes, [malleable(1), malleable(8), Size::Rigid(9)]);
    }
}
