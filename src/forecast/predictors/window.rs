//! A window whose length follows the error.

use serde::{Deserialize, Serialize};

/// The number of values that an adaptive predictor looks back.
///
/// When a value comes, the forecasts of it are compared that this window, one shorter and one longer by a value would have made; the window
/// becomes the one that was nearest, and stays if it was as near as another one. So a window longer than the history does not grow.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Window(u8);

impl Window {
    const LEAST: u8 = 5;
    const MOST: u8 = 50;

    pub(super) const NEW: Self = Self(Self::LEAST);

    pub(super) fn length(&self) -> usize {
        usize::from(self.0)
    }

    /// Adapts to a value, of which `forecast` is the forecast for each length of the window.
    pub(super) fn adapt(&mut self, value: f64, forecast: impl Fn(usize) -> f64) {
        let error = |length: u8| (value - forecast(usize::from(length))).abs();
        let (mut best, mut least) = (self.0, error(self.0));
        for length in [self.0 - 1, self.0 + 1] {
            if (Self::LEAST..=Self::MOST).contains(&length) {
                let error = error(length);
                if error < least {
                    (best, least) = (length, error);
                }
            }
        }
        self.0 = best;
    }
}
