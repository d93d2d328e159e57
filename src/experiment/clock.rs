//! The wall clock, for telling where a run's time went; no result depends on it.

use std::time::Instant;

#[expect(clippy::disallowed_methods, reason = "the one place where the time of day comes in")]
pub(super) fn now() -> Instant {
    Instant::now()
}
