//! Moments: an instant and a round within it.

use std::cmp::Ordering;
use std::fmt;

use serde::{Deserialize, Serialize};

use super::{Span, Time};

/// A moment of the run: an instant and a round within it.
///
/// An entity's own events belong to round 0 (the portal's to round 1, when the grid has settled). A message sent without
/// delay in round `n` arrives in round `n + 1`; a job of no length started in round `n` ends in round `n + 1`.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Stamp {
    /// The instant.
    pub time: Time,
    /// The round.
    pub round: u32,
}

impl Stamp {
    /// A moment after every event.
    pub const END: Self = Self { time: Time::NEVER, round: u32::MAX };

    /// Round 0 of an instant.
    pub const fn at(time: Time) -> Self {
        Self { time, round: 0 }
    }

    /// The moment as one number, in the same order. It fits two registers, and comparing it costs no branch.
    pub(crate) const fn key(self) -> u128 {
        (self.time.micros() as u128) << 64 | self.round as u128
    }

    /// The moment of a [`key`](Self::key).
    pub(crate) const fn from_key(key: u128) -> Self {
        Self { time: Time::from_micros((key >> 64) as u64), round: key as u32 }
    }

    /// The next round of the same instant.
    #[must_use]
    pub const fn next_round(self) -> Self {
        Self { round: self.round.saturating_add(1), ..self }
    }

    /// When a message sent now arrives after `latency`: round 0 of a later instant, or the next round of this one.
    #[must_use]
    pub fn after(self, latency: Span) -> Self {
        if latency.is_zero() { self.next_round() } else { Self::at(self.time + latency) }
    }
}

impl Ord for Stamp {
    fn cmp(&self, other: &Self) -> Ordering {
        self.key().cmp(&other.key())
    }

    fn min(self, other: Self) -> Self {
        if other < self { other } else { self }
    }

    fn max(self, other: Self) -> Self {
        if other < self { self } else { other }
    }
}

impl PartialOrd for Stamp {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }

    fn lt(&self, other: &Self) -> bool {
        self.key() < other.key()
    }

    fn le(&self, other: &Self) -> bool {
        self.key() <= other.key()
    }

    fn gt(&self, other: &Self) -> bool {
        self.key() > other.key()
    }

    fn ge(&self, other: &Self) -> bool {
        self.key() >= other.key()
    }
}

impl fmt::Display for Stamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}, round {}", self.time.told_exactly(), self.round)
    }
}
