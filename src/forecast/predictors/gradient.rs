//! Exponential smoothing with a gain that follows the error.

use serde::{Deserialize, Serialize};

use crate::forecast::history::History;
use crate::forecast::predictor::{Family, Predict};

/// Exponential smoothing with a gain that follows the error.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(in crate::forecast) struct Gradient {
    /// The gain in twentieths, so that no error of rounding adds up.
    gain: u8,
    /// The level, and what it was before the last value.
    level: f64,
    before: f64,
}

impl Gradient {
    const LEAST: u8 = 1;
    const MOST: u8 = 19;

    pub(super) const NEW: Self = Self { gain: 10, level: 0.0, before: 0.0 };

    /// The level after the last value, had the gain been this one.
    fn level(before: f64, gain: u8, last: f64) -> f64 {
        before + f64::from(gain) / 20.0 * (last - before)
    }
}

impl Predict for Gradient {
    const FAMILY: Family = Family {
        doc: "Stochastic gradient: exponential smoothing whose gain, 0.05 to 0.95 and at first 0.5, moves at each value by 0.05, or not, to \
              whichever would have forecast it best.",
        source: "Wolski 1998, our reading",
    };

    fn forecast(&self, _: &History) -> f64 {
        self.level
    }

    fn observe(&mut self, value: f64, history: &History) {
        if history.is_empty() {
            (self.level, self.before) = (value, value);
            return;
        }
        let error = |gain| (value - Self::level(self.before, gain, history.last())).abs();
        let (mut best, mut least) = (self.gain, error(self.gain));
        for gain in [self.gain - 1, self.gain + 1] {
            if (Self::LEAST..=Self::MOST).contains(&gain) && error(gain) < least {
                (best, least) = (gain, error(gain));
            }
        }
        self.gain = best;
        self.before = self.level;
        self.level = Self::level(self.before, self.gain, value);
    }
}
