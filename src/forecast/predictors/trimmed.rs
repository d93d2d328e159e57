//! The mean of the last values without the extreme ones.

use serde::{Deserialize, Serialize};

use crate::forecast::history::{History, ROOM};
use crate::forecast::predictor::{Family, Predict};

/// The mean of what is left of the last `window` values without the greatest and the least.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(in crate::forecast) struct Trimmed {
    window: u8,
    /// Per cent of the values that are left out at each end, below 50.
    trim: u8,
}

impl Trimmed {
    pub(super) const fn new(window: u8, trim: u8) -> Self {
        Self { window, trim }
    }
}

impl Predict for Trimmed {
    const FAMILY: Family = Family {
        doc: "The mean of the last `window` values without the share `trim` (of their number, rounded down) of the greatest, and as many of the \
              least.",
        source: "Wolski 1998",
    };

    fn forecast(&self, history: &History) -> f64 {
        let mut room = ROOM;
        let sorted = history.sorted(usize::from(self.window), &mut room);
        let cut = sorted.len() * usize::from(self.trim) / 100;
        let left = &sorted[cut..sorted.len() - cut];
        // As differences, so that the mean of equal values is that value.
        let least = left[0];
        least + left.iter().map(|value| value - least).sum::<f64>() / left.len() as f64
    }
}
