//! What can be chosen about windows. Nothing here changes a result.

use std::fmt;

use crate::entity::{Pending, Stamp};
use crate::grid::ending::{last_minute, next_minute};
use crate::grid::{Callers, Halt};
use crate::units::{Span, Time};

/// Entities that talk to each other without delay: a run of them in the order of entities.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Group {
    /// How many.
    pub members: usize,
    /// The smallest latency of a message from one of them to an entity outside the group. [`Span::MAX`] if they never
    /// send one; zero for arrival in the next round.
    pub latency: Span,
}

/// Chooses where a window ends. For tests: no result depends on it.
pub struct WindowEnds(Box<dyn FnMut(Stamp, Stamp) -> Stamp + Send>);

impl WindowEnds {
    /// `choose` is given the first moment of a window and the latest end it can have. What it answers beyond these bounds is
    /// taken for the nearest that is possible.
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

/// Says whether a run is over; see [`WindowOptions::over`].
pub struct Over(Box<AtMinute>);

type AtMinute = dyn FnMut(&[Pending], Time) -> bool + Send;

impl Over {
    /// `over` is given what each entity has left to do, and the minute.
    pub fn new(over: impl FnMut(&[Pending], Time) -> bool + Send + 'static) -> Self {
        Self(Box::new(over))
    }

    pub(super) fn ask(&mut self, pending: &[Pending], minute: Time) -> bool {
        (self.0)(pending, minute)
    }
}

impl fmt::Debug for Over {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Over")
    }
}

/// What can be chosen about windows.
#[derive(Debug)]
pub struct WindowOptions {
    /// Everything earlier than this has happened before.
    pub begin: Stamp,
    /// Everything earlier than this happens, nothing later.
    pub until: Stamp,
    /// Once it is asked, nothing happens any more from the first instant on that nobody has gone beyond.
    pub halt: Option<Halt>,
    /// Who may still give commands; of no effect on a run that can go on without.
    pub callers: Option<Callers>,
    /// Whether entities are believed that they send nothing for a while although they do things. Otherwise anybody may send
    /// whenever anything happens to them.
    pub promises: bool,
    /// How far anybody may lag behind. It bounds the records that wait to be merged. `None` adapts it to their number.
    pub lag: Option<Span>,
    /// Whether the run is over before its time. It is asked at full minutes, with what each entity has left to do and the
    /// minute, before which everything has happened; no window goes beyond a full minute then, so that the end of
    /// the run depends on what happened and not on windows.
    pub over: Option<Over>,
    /// Shortens windows, for tests.
    pub ends: Option<WindowEnds>,
}

impl Default for WindowOptions {
    /// To the end, with promises, lagging behind as seems best.
    fn default() -> Self {
        Self {
            begin: Stamp::default(),
            until: Stamp::END,
            halt: None,
            callers: None,
            promises: true,
            lag: None,
            over: None,
            ends: None,
        }
    }
}

/// How far anybody may lag behind.
#[derive(Debug)]
pub(super) struct Lag {
    span: Span,
    fixed: bool,
    minutes: bool,
}

impl Lag {
    const FIRST: Span = Span::from_secs(3_600);
    const MOST: Span = Span::from_secs(86_400);
    /// Records that may wait: enough for a merge at full speed, few enough to stay in the cache.
    const FEW: usize = 1_024;
    const MANY: usize = 4_096;

    pub(super) fn new(chosen: Option<Span>, minutes: bool) -> Self {
        Self { span: chosen.unwrap_or(Self::FIRST), fixed: chosen.is_some(), minutes }
    }

    /// The full minute that everybody has to get to before `first`, if that matters.
    pub(super) fn edge(&self, first: Stamp) -> Stamp {
        if self.minutes && first.time < Time::NEVER {
            Stamp::at(last_minute(first.time))
        } else {
            Stamp::default()
        }
    }

    /// The furthest anybody may get before everybody has passed `first`.
    pub(super) fn after(&self, first: Stamp) -> Stamp {
        let far = Stamp::at(first.time + self.span).max(first.next_round()).min(Stamp::at(Time::NEVER));
        if self.minutes { far.min(Stamp::at(next_minute(first.time))) } else { far }
    }

    /// So many records had to wait.
    pub(super) fn adapt(&mut self, waited: usize) {
        if self.fixed {
        } else if waited > Self::MANY {
            self.span = Span::from_micros(self.span.micros() / 2);
        } else if waited < Self::FEW {
            self.span = (self.span * 2).clamp(Span::TICK, Self::MOST);
        }
    }
}
