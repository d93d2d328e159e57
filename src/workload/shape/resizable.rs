//! Rigid jobs turned into malleable ones.

use super::{Shape, Shaped, mark_error, own_state, with_state};
use crate::model::{Job, Size, Speedup};
use crate::workload::{Mark, Source, SourceError};

/// A source of malleable jobs: each prefers as many processors as it requested, and accepts any number from one to
/// those of the largest machine, with a run time inversely proportional to them. A job that is larger than that stays
/// as it is.
pub type Resizable = Shaped<Malleable>;

/// Jobs that are malleable up to this number of processors.
pub struct Malleable(u32);

impl Resizable {
    /// Makes the jobs of `inner` malleable, on up to `largest` processors.
    pub fn new(inner: Box<dyn Source>, largest: u32) -> Self {
        Self { inner, shape: Malleable(largest) }
    }
}

impl Shape for Malleable {
    fn apply(&mut self, job: &mut Job) -> Result<(), SourceError> {
        if let Size::Rigid(preferred) = job.size
            && (1..=self.0).contains(&preferred)
        {
            job.size = Size::Malleable { min: 1, preferred, max: self.0, speedup: Speedup::Linear };
        }
        Ok(())
    }

    fn mark(&self, inner: Mark) -> Option<Mark> {
        with_state(inner, &self.0)
    }

    fn seek(&mut self, mark: &Mark) -> Result<Mark, SourceError> {
        let (largest, inner): (u32, _) = own_state("malleable jobs", mark)?;
        if largest != self.0 {
            let problem = format!("the mark was made with jobs of up to {largest} processors");
            return Err(mark_error("malleable jobs", &problem));
        }
        Ok(inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::units::{Span, Time};
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
