//! The wall clock, which measures how long parts of a run take; no result depends on it.

use std::time::Instant;

#[expect(clippy::disallowed_methods, reason = "the one place where the time of day comes in")]
pub(crate) fn now() -> Instant {
    Instant::now()
}
