//! The measured window: what of a run counts.

use serde::{Deserialize, Serialize};

use crate::units::Time;

/// Jobs submitted, and events that happen, from `from` on and before `to` count. Jobs that count run to their end,
/// however late that is.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Window {
    from: Time,
    to: Time,
}

impl Window {
    /// Everything counts.
    pub const ALL: Self = Self { from: Time::ZERO, to: Time::NEVER };

    /// The window from `from` to `to`; `None` if there is nothing between them.
    pub fn new(from: Time, to: Time) -> Option<Self> {
        (from < to).then_some(Self { from, to })
    }

    /// First instant.
    pub const fn from(&self) -> Time {
        self.from
    }

    /// First instant after it.
    pub const fn to(&self) -> Time {
        self.to
    }

    /// True if an instant is inside.
    #[inline]
    pub fn contains(&self, time: Time) -> bool {
        // The last instant of all is no instant of a run, and a window without an end has no instant after it.
        self.from <= time && (time < self.to || self.to == Time::NEVER)
    }
}

impl Default for Window {
    fn default() -> Self {
        Self::ALL
    }
}
