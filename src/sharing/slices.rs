//! Time slices: how long a slot of the matrix is, and what switching between slots costs.

use thiserror::Error;

use super::Share;
use crate::units::{Rate, Span};

/// What it costs to switch from one slot to the next.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Switch {
    /// Nothing.
    Free,
    /// A part of each slice, however long it is: 10 % in Huang 2004, section 6.3.2.
    Part(Share),
    /// A time at each switch.
    Time(Span),
}

/// The length of time slices by the number of slots in use [Huang 2004, Table 7-1]: slice × level / slots, so that a round takes as long with few
/// slots as with all.
///
/// No event is made of a slice: jobs progress at the rate that slices leave them.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct TimeSlices {
    slice: Span,
    level: u32,
    switch: Switch,
}

/// Time slices that cannot be.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum SliceError {
    /// A multiprogramming level of 0.
    #[error("the multiprogramming level is 0; it must be at least 1")]
    Level,
    /// A slice that switching fills.
    #[error("a time slice of {slice} s is not longer than the context switch of {switch} s")]
    Short {
        /// The shortest slice.
        slice: Span,
        /// The time that a switch takes.
        switch: Span,
    },
}

impl TimeSlices {
    /// Slices that are `slice` long when all slots up to `level` are in use.
    ///
    /// # Errors
    /// [`SliceError`] if the level is 0, or a slice is not longer than a switch.
    pub fn new(slice: Span, level: u32, switch: Switch) -> Result<Self, SliceError> {
        let time = if let Switch::Time(time) = switch { time } else { Span::ZERO };
        if level == 0 {
            return Err(SliceError::Level);
        }
        if slice <= time {
            return Err(SliceError::Short { slice, switch: time });
        }
        Ok(Self { slice, level, switch })
    }

    /// The length of a slice with so many slots in use, rounded down.
    pub fn slice(&self, slots: u32) -> Span {
        let slots = slots.clamp(1, self.level);
        let micros = u128::from(self.slice.micros()) * u128::from(self.level) / u128::from(slots);
        u64::try_from(micros).map_or(Span::MAX, Span::from_micros)
    }

    /// What switching leaves of a slice: all of it with one slot, where nothing is switched.
    pub fn left(&self, slots: u32) -> Rate {
        if slots <= 1 {
            return Rate::FULL;
        }
        let lost = match self.switch {
            Switch::Free => Rate::ZERO,
            Switch::Part(part) => part.rate(),
            // Rounded down, and a slice is longer than a switch; so something is left.
            Switch::Time(time) => Rate::ratio(time.micros(), self.slice(slots).micros()),
        };
        Rate::from_units(Rate::FULL.units() - lost.units())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn table_7_1() {
        // 2 s × 5 / slots, of which a switch takes 10 %.
        let slices = TimeSlices::new(Span::from_secs(2), 5, Switch::Part("10%".parse().unwrap())).unwrap();
        let micros: Vec<u64> = (1..=5).map(|slots| slices.slice(slots).micros()).collect();
        assert_eq!(micros, [10_000_000, 5_000_000, 3_333_333, 2_500_000, 2_000_000]);
        assert_eq!(slices.left(1), Rate::FULL);
        assert_eq!(slices.left(5).to_string(), "0.900001");
        assert_eq!((slices.slice(0), slices.slice(9)), (slices.slice(1), slices.slice(5)));
        // 40 ms of 2 s are 2 %, and of 5 s less.
        let switch = Switch::Time(Span::from_micros(40_000));
        let slices = TimeSlices::new(Span::from_secs(2), 5, switch).unwrap();
        assert_eq!([5, 2].map(|slots| slices.left(slots).to_string()), ["0.98", "0.992001"]);
        assert_eq!(TimeSlices::new(Span::SECOND, 2, Switch::Free).unwrap().left(2), Rate::FULL);
    }

    #[test]
    fn slices_that_cannot_be() {
        let switch = Switch::Time(Span::from_micros(40_000));
        let said = |slice, level| TimeSlices::new(slice, level, switch).unwrap_err().to_string();
        assert_eq!(said(Span::SECOND, 0), "the multiprogramming level is 0; it must be at least 1");
        assert_eq!(
            said(Span::from_micros(40_000), 2),
            "a time slice of 0.04 s is not longer than the context switch of 0.04 s"
        );
        assert_eq!(
            TimeSlices::new(Span::ZERO, 1, Switch::Free).unwrap_err().to_string(),
            "a time slice of 0 s is not longer than the context switch of 0 s"
        );
    }
}
