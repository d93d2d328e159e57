//! Options of windows. None of them changes a result.

use std::fmt;

use crate::entity::{Quiescence, Stamp};
use crate::grid::ending::{last_minute, next_minute};
use crate::grid::halt::{Callers, Halt};
use crate::units::{Span, Time};

/// Entities that exchange messages without delay: consecutive ones in the order of entities.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Group {
    /// The number of entities.
    pub members: usize,
    /// The smallest latency of a message from one of them to an entity outside the group. [`Span::MAX`] if they never
    /// send one; zero for arrival in the next round.
    pub latency: Span,
}

/// Chooses where a window ends. It serves tests: no result depends on it.
pub struct WindowEnds(Box<dyn FnMut(Stamp, Stamp) -> Stamp + Send>);

impl WindowEnds {
    /// `choose` gets the first moment of a window and its latest possible end. An answer beyond these bounds is replaced by the nearest
    /// bound.
    pub fn new(choose: impl FnMut(Stamp, Stamp) -> Stamp + Send + 'static) -> Self {
        Self(Box::new(choose))
    }

    /// The end of a window that begins at `first` and can end at `latest` at the latest.
    pub fn choose(&mut self, first: Stamp, latest: Stamp) -> Stamp {
        (self.0)(first, latest).clamp(first.next_round().min(latest), latest)
    }
}

impl fmt::Debug for WindowEnds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("WindowEnds")
    }
}

/// Decides whether a run is over; see [`WindowOptions::over`].
pub struct Over(Box<AtMinute>);

type AtMinute = dyn FnMut(&[Quiescence], Time) -> bool + Send;

impl Over {
    /// `over` gets what each entity has left to do, and the minute.
    pub fn new(over: impl FnMut(&[Quiescence], Time) -> bool + Send + 'static) -> Self {
        Self(Box::new(over))
    }

    pub(super) fn ask(&mut self, pending: &[Quiescence], minute: Time) -> bool {
        (self.0)(pending, minute)
    }
}

impl fmt::Debug for Over {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Over")
    }
}

/// Options of windows.
#[derive(Debug)]
pub struct WindowOptions {
    /// Everything before this moment has happened before the drive.
    pub begin: Stamp,
    /// The drive handles everything before this moment, and nothing later.
    pub until: Stamp,
    /// Once it is requested, the drive ends at the first instant that no entity has gone beyond.
    pub halt: Option<Halt>,
    /// The callers that may still give commands. It matters only to a run in which nothing moves without a command.
    pub callers: Option<Callers>,
    /// How far an entity may lag behind, which bounds the records that wait to be merged. `None` adapts it to their number.
    pub lag: Option<Span>,
    /// Decides whether the run has ended before `until`. Windows ask at full minutes, with what each entity has left to do and the minute,
    /// once everything before that minute has happened. No window goes beyond a full minute then, so the end of the run depends on
    /// what happened and not on windows.
    pub over: Option<Over>,
    /// Shortens windows, for tests.
    pub ends: Option<WindowEnds>,
}

impl Default for WindowOptions {
    /// Runs to the end, with an adaptive lag.
    fn default() -> Self {
        Self {
            begin: Stamp::default(),
            until: Stamp::END,
            halt: None,
            callers: None,
            lag: None,
            over: None,
            ends: None,
        }
    }
}

/// How far an entity may lag behind.
#[derive(Debug)]
pub(super) struct Lag {
    span: Span,
    fixed: bool,
    minutes: bool,
}

impl Lag {
    /// Short: machines may come and go each microsecond.
    const FIRST: Span = Span::from_micros(1_000);
    const MOST: Span = Span::from_secs(86_400);
    /// The number of records that may wait: enough for a merge at full speed, few enough to stay in the cache.
    const FEW: usize = 1_024;
    const MANY: usize = 4_096;

    pub(super) fn new(chosen: Option<Span>, minutes: bool) -> Self {
        Self { span: chosen.unwrap_or(Self::FIRST), fixed: chosen.is_some(), minutes }
    }

    /// The full minute that all entities have to reach before `first`, if `over` is set.
    pub(super) fn edge(&self, first: Stamp) -> Stamp {
        if self.minutes && first.time < Time::NEVER {
            Stamp::at(last_minute(first.time))
        } else {
            Stamp::default()
        }
    }

    /// The furthest an entity may go before all have passed `first`.
    pub(super) fn after(&self, first: Stamp) -> Stamp {
        let far = Stamp::at(first.time + self.span).max(first.next_round()).min(Stamp::at(Time::NEVER));
        if self.minutes { far.min(Stamp::at(next_minute(first.time))) } else { far }
    }

    /// Adapts to the number of records that had to wait.
    pub(super) fn adapt(&mut self, waited: usize) {
        if self.fixed {
        } else if waited > Self::MANY {
            self.span = Span::from_micros(self.span.micros() / 2);
        } else if waited < Self::FEW {
            self.span = (self.span * 2).clamp(Span::TICK, Self::MOST);
        }
    }
}
