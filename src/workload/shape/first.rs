//! The first jobs of a workload.

use super::{Shape, Shaped, own_state, with_state};
use crate::model::Job;
use crate::workload::{Mark, Source, SourceError};

/// The first jobs of a source.
pub type First = Shaped<Left>;

/// The number of jobs still to be taken.
pub struct Left(u64);

impl First {
    /// Takes the first `count` jobs of `inner`.
    pub fn new(inner: Box<dyn Source>, count: u64) -> Self {
        Self { inner, shape: Left(count) }
    }
}

impl Shape for Left {
    fn apply(&mut self, _: &mut Job) -> Result<(), SourceError> {
        self.0 -= 1;
        Ok(())
    }

    fn is_over(&self) -> bool {
        self.0 == 0
    }

    fn mark(&self, inner: Mark) -> Option<Mark> {
        with_state(inner, &self.0)
    }

    fn seek(&mut self, mark: &Mark) -> Result<Mark, SourceError> {
        let (left, inner) = own_state("the first jobs", mark)?;
        self.0 = left;
        Ok(inner)
    }
}
