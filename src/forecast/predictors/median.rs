//! The median of the last values.

use serde::{Deserialize, Serialize};

use crate::forecast::history::History;
use crate::forecast::predictor::{Family, Predict};

/// The median of the last `window` values.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(in crate::forecast) struct Median {
    window: u8,
}

impl Median {
    pub(super) const fn new(window: u8) -> Self {
        Self { window }
    }
}

impl Predict for Median {
    const FAMILY: Family = Family { doc: "The median of the last `window` values.", source: "Wolski 1998" };

    fn forecast(&self, history: &History) -> f64 {
        history.median(usize::from(self.window))
    }
}
