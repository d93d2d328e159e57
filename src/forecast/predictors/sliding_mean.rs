//! The mean of the last values.

use serde::{Deserialize, Serialize};

use crate::forecast::history::History;
use crate::forecast::predictor::{Family, Predict};

/// The mean of the last `window` values.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(in crate::forecast) struct SlidingMean {
    window: u8,
}

impl SlidingMean {
    pub(super) const fn new(window: u8) -> Self {
        Self { window }
    }
}

impl Predict for SlidingMean {
    const FAMILY: Family = Family { doc: "The mean of the last `window` values.", source: "Wolski 1998" };

    fn forecast(&self, history: &History) -> f64 {
        history.mean(usize::from(self.window))
    }
}
