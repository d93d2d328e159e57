//! Shapers: sources that modify the jobs of another source.
//!
//! They are stacked in this order: log, then [`First`], [`Scaled`] and [`Estimated`] in any order, [`Resizable`],
//! then [`super::Feedback`].

mod carrying;
mod estimates;
mod first;
mod resizable;
mod scaled;

pub use carrying::Carrying;
pub use estimates::{Estimated, Estimates};
pub use first::First;
pub use resizable::Resizable;
pub use scaled::{Factor, Scaled};

use serde::Serialize;
use serde::de::DeserializeOwned;
use thiserror::Error;

use super::{Mark, SourceError};

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
