//! The wall clock, for pacing and for the watch's patience. No result depends on it.

use std::time::{Duration, Instant};

use crate::units::{Span, Time};

/// The present.
#[expect(clippy::disallowed_methods, reason = "pacing and the watch follow the wall clock; results do not")]
pub(super) fn now() -> Instant {
    Instant::now()
}

/// The pace of virtual time, as a multiple of the wall clock's.
#[derive(Clone, Debug)]
pub(super) struct Pace {
    began: Instant,
    begin: Time,
    pace: f64,
}

impl Pace {
    /// The wall clock was at `began` when virtual time was `begin`.
    pub(super) fn new(began: Instant, begin: Time, pace: f64) -> Self {
        Self { began, begin, pace }
    }

    /// The virtual present.
    pub(super) fn present(&self) -> Time {
        let elapsed = now().saturating_duration_since(self.began).as_secs_f64();
        self.begin + Span::from_secs_f64(elapsed * self.pace).unwrap_or(Span::MAX)
    }

    /// When the wall clock reaches `time`; `None` if it has, or never will.
    pub(super) fn reaches(&self, time: Time) -> Option<Instant> {
        let after = Duration::try_from_secs_f64(time.since(self.begin).as_secs_f64() / self.pace).ok()?;
        self.began.checked_add(after).filter(|then| *then > now())
    }
}
