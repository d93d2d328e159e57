//! How a run is carried out. Nothing here changes a result.

use std::num::NonZeroUsize;
use std::time::{Duration, Instant};

use super::clock::{Pace, now};
use super::{Outside, RuntimeError};
use crate::grid::WindowOptions;
use crate::units::{Span, Time};

/// How a run is carried out.
#[derive(Debug)]
pub struct RuntimeOptions {
    /// About windows.
    pub windows: WindowOptions,
    /// Threads for the actors. With one, all of them share it with the conductor.
    pub threads: NonZeroUsize,
    /// Virtual seconds a second of the wall clock; `None` for as fast as it goes.
    pub pace: Option<f64>,
    /// The virtual time at which a paced run begins.
    pub begin: Time,
    /// When that was, by the wall clock; `None` for when the run begins. Legs of one run that are given the same do not drift.
    pub began: Option<Instant>,
    /// Where commands come in while it goes on.
    pub outside: Option<Outside>,
    /// How long nothing may move before the run is given up.
    pub patience: Duration,
}

impl Default for RuntimeOptions {
    /// On one thread, as fast as it goes, given up after a minute in which nothing moves.
    fn default() -> Self {
        Self {
            windows: WindowOptions::default(),
            threads: NonZeroUsize::MIN,
            pace: None,
            begin: Time::ZERO,
            began: None,
            outside: None,
            patience: Duration::from_secs(60),
        }
    }
}

/// What the conductor has to know of the options.
#[derive(Clone, Debug)]
pub(super) struct Stage {
    pub(super) threads: usize,
    pub(super) pace: Option<Pace>,
    pub(super) outside: Option<Outside>,
    pub(super) patience: Duration,
}

impl RuntimeOptions {
    /// The longest a paced run may be ahead of the wall clock, in seconds of the wall clock.
    const AHEAD: f64 = 0.05;

    pub(super) fn check(self) -> Result<(WindowOptions, Stage), RuntimeError> {
        let Self { mut windows, threads, pace, begin, began, outside, patience } = self;
        if let Some(pace) = pace {
            if !(pace.is_finite() && pace > 0.0) {
                return Err(RuntimeError::BadPace(pace));
            }
            // What happens is to be seen when it happens.
            let ahead = Span::from_secs_f64(pace * Self::AHEAD).unwrap_or(Span::MAX);
            windows.lag = Some(windows.lag.map_or(ahead, |lag| lag.min(ahead)));
        }
        let pace = pace.map(|pace| Pace::new(began.unwrap_or_else(now), begin, pace));
        Ok((windows, Stage { threads: threads.get(), pace, outside, patience }))
    }
}
