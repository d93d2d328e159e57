//! The measured window of a run.

use serde::{Deserialize, Serialize};

use crate::units::Time;

/// Jobs submitted and events that happen at or after `from` and before `to` count. Jobs that count run to their end,
/// however late that is.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Window {
    from: Time,
    to: Time,
}

impl Window {
    /// The window in which everything counts.
    pub const ALL: Self = Self { from: Time::ZERO, to: Time::NEVER };

    /// The window from `from` to `to`; `None` if it is empty.
    pub fn new(from: Time, to: Time) -> Option<Self> {
        (from < to).then_some(Self { from, to })
    }

    /// The first instant.
    pub const fn from(&self) -> Time {
        self.from
    }

    /// The first instant after the window.
    pub const fn to(&self) -> Time {
        self.to
    }

    /// True if an instant is inside.
    #[inline]
    pub fn contains(&self, time: Time) -> bool {
        // A window without an end includes `Time::NEVER`, although that is no instant of a run.
        self.from <= time && (time < self.to || self.to == Time::NEVER)
    }
}

impl Default for Window {
    fn default() -> Self {
        Self::ALL
    }
}
