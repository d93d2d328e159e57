//! Exponential smoothing with a trend.

use serde::{Deserialize, Serialize};

use crate::forecast::history::History;
use crate::forecast::predictor::{Family, Predict};

/// A smoothed level and the smoothed step from one level to the next (Holt's linear trend).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(in crate::forecast) struct SmoothTrend {
    gain: f64,
    /// The gain of the trend.
    trend_gain: f64,
    level: f64,
    trend: f64,
}

impl SmoothTrend {
    pub(super) const fn new(gain: f64, trend_gain: f64) -> Self {
        Self { gain, trend_gain, level: 0.0, trend: 0.0 }
    }
}

impl Predict for SmoothTrend {
    const FAMILY: Family = Family {
        doc: "A smoothed level and a trend, at first 0: the step from one level to the next, smoothed with the gain `trend`. The forecast is \
              their sum, from which the level moves on.",
        source: "Wolski 1999; Holt 1957",
    };

    fn forecast(&self, _: &History) -> f64 {
        self.level + self.trend
    }

    fn observe(&mut self, value: f64, history: &History) {
        if history.is_empty() {
            self.level = value;
            return;
        }
        let expected = self.level + self.trend;
        let level = expected + self.gain * (value - expected);
        self.trend += self.trend_gain * ((level - self.level) - self.trend);
        self.level = level;
    }
}
