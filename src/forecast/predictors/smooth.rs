//! Exponential smoothing.

use serde::{Deserialize, Serialize};

use crate::forecast::history::History;
use crate::forecast::predictor::{Family, Predict};

/// A level that moves by the share `gain` of the way to each value.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(in crate::forecast) struct Smooth {
    gain: f64,
    level: f64,
}

impl Smooth {
    pub(super) const fn new(gain: f64) -> Self {
        Self { gain, level: 0.0 }
    }
}

impl Predict for Smooth {
    const FAMILY: Family = Family {
        doc: "Exponential smoothing: a level, at first the first value, that moves by the share `gain` of the way to each value.",
        source: "Wolski 1999",
    };

    fn forecast(&self, _: &History) -> f64 {
        self.level
    }

    fn observe(&mut self, value: f64, history: &History) {
        self.level = if history.is_empty() { value } else { self.level + self.gain * (value - self.level) };
    }
}
