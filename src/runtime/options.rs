//! Options of a run of actors. None of them changes a result.

use std::num::NonZeroUsize;
use std::time::{Duration, Instant};

use super::clock::{Pace, now};
use super::{Outside, RuntimeError};
use crate::grid::WindowOptions;
use crate::units::{Span, Time};

/// Options of a run of actors.
#[derive(Debug)]
pub struct RuntimeOptions {
    /// Options of the windows.
    pub windows: WindowOptions,
    /// The number of threads for the actors. The first is the conductor's own.
    pub threads: NonZeroUsize,
    /// Virtual seconds per second of the wall clock; `None` runs as fast as possible.
    pub pace: Option<f64>,
    /// The virtual time at which a paced run begins.
    pub begin: Time,
    /// The wall clock at `begin`; `None` takes the start of the run. Segments of one run that are given the same value do not drift.
    pub began: Option<Instant>,
    /// The source of commands from outside.
    pub outside: Option<Outside>,
    /// The time without any sign of life after which the run ends.
    pub patience: Duration,
}

impl Default for RuntimeOptions {
    /// One thread, as fast as possible; the run ends after a minute without a sign of life.
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

/// The options that the conductor needs.
#[derive(Clone, Debug)]
pub(super) struct ActorOptions {
    pub(super) threads: usize,
    pub(super) pace: Option<Pace>,
    pub(super) outside: Option<Outside>,
    pub(super) patience: Duration,
}

impl RuntimeOptions {
    /// The longest that a paced run may be ahead of the wall clock, in seconds of the wall clock.
    const AHEAD: f64 = 0.05;

    pub(super) fn check(self) -> Result<(WindowOptions, ActorOptions), RuntimeError> {
        let Self { mut windows, threads, pace, begin, began, outside, patience } = self;
        if let Some(pace) = pace {
            if !(pace.is_finite() && pace > 0.0) {
                return Err(RuntimeError::BadPace(pace));
            }
            // An event becomes visible when it happens.
            let ahead = Span::from_secs_f64(pace * Self::AHEAD).unwrap_or(Span::MAX);
            windows.lag = Some(windows.lag.map_or(ahead, |lag| lag.min(ahead)));
        }
        let pace = pace.map(|pace| Pace::new(began.unwrap_or_else(now), begin, pace));
        Ok((windows, ActorOptions { threads: threads.get(), pace, outside, patience }))
    }
}
