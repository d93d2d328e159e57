//! Shapers: sources that modify the jobs of another source.
//!
//! They are stacked in this order: log, then [`First`], [`Scaled`] and [`Estimated`] in any order, [`Resizable`], [`Limited`],
//! then [`super::Feedback`].

mod carrying;
mod estimates;
mod first;
mod limited;
mod resizable;
mod scaled;

pub use carrying::{Carrying, Data};
pub use estimates::{Estimated, Estimates};
pub use first::{First, Left};
pub use limited::{BudgetRule, DeadlineRule, LimitBasis, LimitFactor, LimitRules, Limited};
pub use resizable::{Malleable, MalleableSpec, Resizable, SpeedupForm};
pub use scaled::{Factor, Scaled, Scaling};

use serde::Serialize;
use serde::de::DeserializeOwned;
use thiserror::Error;

use super::{Mark, Source, SourceError};
use crate::model::{Job, JobId, Submission};
use crate::units::Time;

/// A change of the jobs of a source, one at a time.
pub trait Shape: Send {
    /// The new time of a submission.
    ///
    /// # Errors
    /// [`SourceError`] if there is none.
    fn moved(&mut self, submit: Time) -> Result<Time, SourceError> {
        Ok(submit)
    }

    /// Changes a job.
    ///
    /// # Errors
    /// [`SourceError`] if the changed job is impossible.
    fn apply(&mut self, job: &mut Job) -> Result<(), SourceError>;

    /// True if no more jobs are taken.
    fn is_over(&self) -> bool {
        false
    }

    /// The mark with the own state added to that of the source.
    fn mark(&self, inner: Mark) -> Option<Mark> {
        Some(inner)
    }

    /// Restores the own state, and returns the mark of the source.
    ///
    /// # Errors
    /// [`SourceError::Mark`] if the mark was not made by an equal shape.
    fn seek(&mut self, mark: &Mark) -> Result<Mark, SourceError> {
        Ok(mark.clone())
    }
}

/// A source whose jobs are changed by a [`Shape`].
pub struct Shaped<S> {
    inner: Box<dyn Source>,
    shape: S,
}

impl<S: Shape> Source for Shaped<S> {
    fn peek_time(&mut self) -> Result<Option<Time>, SourceError> {
        if self.shape.is_over() {
            return Ok(None);
        }
        self.inner.peek_time()?.map(|time| self.shape.moved(time)).transpose()
    }

    fn next_job(&mut self) -> Result<Option<Job>, SourceError> {
        if self.shape.is_over() {
            return Ok(None);
        }
        let Some(mut job) = self.inner.next_job()? else { return Ok(None) };
        self.shape.apply(&mut job)?;
        Ok(Some(job))
    }

    /// Only jobs are changed.
    fn next_submission(&mut self) -> Result<Option<Submission>, SourceError> {
        if self.shape.is_over() {
            return Ok(None);
        }
        let mut submission = self.inner.next_submission()?;
        if let Some(Submission::Job(job)) = &mut submission {
            self.shape.apply(job)?;
        }
        Ok(submission)
    }

    fn ended(&mut self, job: JobId, at: Time) {
        self.inner.ended(job, at);
    }

    fn has_feedback(&self) -> bool {
        self.inner.has_feedback()
    }

    fn notes(&self) -> Vec<String> {
        self.inner.notes()
    }

    fn mark(&self) -> Option<Mark> {
        self.shape.mark(self.inner.mark()?)
    }

    fn seek(&mut self, mark: &Mark) -> Result<(), SourceError> {
        let inner = self.shape.seek(mark)?;
        self.inner.seek(&inner)
    }
}

/// An error in the text form of a shaper.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("`{written}` is not {expected}")]
pub struct ShapeError {
    written: String,
    expected: &'static str,
}

impl ShapeError {
    fn new(written: &str, expected: &'static str) -> Self {
        Self { written: written.to_owned(), expected }
    }
}

/// The mark of a shaper whose inner source is at `inner`: the same mark, with the shaper's own state wrapped around
/// the source's. `None` if the state cannot be written.
pub(super) fn with_state<T: Serialize>(inner: Mark, own: &T) -> Option<Mark> {
    let state = postcard::to_stdvec(&(own, &inner.state)).ok()?;
    Some(Mark { state, ..inner })
}

/// Separates what [`with_state`] joined. `shaper` names the shaper in messages.
///
/// # Errors
/// [`SourceError::Mark`] if the mark was not made by such a shaper.
pub(super) fn own_state<T: DeserializeOwned>(shaper: &str, mark: &Mark) -> Result<(T, Mark), SourceError> {
    match postcard::take_from_bytes::<(T, Vec<u8>)>(&mark.state) {
        Ok(((own, state), [])) => Ok((own, Mark { position: mark.position, content: mark.content, state })),
        _ => Err(mark_error(shaper, "the mark was made by something else")),
    }
}

fn mark_error(shaper: &str, problem: &str) -> SourceError {
    SourceError::Mark { place: shaper.to_owned(), problem: problem.to_owned() }
}

/// Reads an unsigned decimal number exactly as `(digits, 10^places)`.
fn decimal(written: &str) -> Option<(u64, u64)> {
    let (whole, fraction) = written.split_once('.').unwrap_or((written, ""));
    let digits = format!("{whole}{fraction}");
    if digits.is_empty() || digits.len() > 18 || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    Some((digits.parse().ok()?, 10_u64.pow(u32::try_from(fraction.len()).ok()?)))
}
