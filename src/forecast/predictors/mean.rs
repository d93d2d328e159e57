//! The mean of all values.

use serde::{Deserialize, Serialize};

use crate::forecast::history::History;
use crate::forecast::predictor::{Family, Predict};

/// The mean of all values so far.
///
/// Kept as the sum of the differences from the first value, so that the mean of equal values is that value, and with what rounding has lost of
/// the sum (Neumaier 1974), so that a long series does not wear off its last digits.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(in crate::forecast) struct Mean {
    first: f64,
    sum: f64,
    lost: f64,
}

impl Mean {
    pub(super) const NEW: Self = Self { first: 0.0, sum: 0.0, lost: 0.0 };
}

impl Predict for Mean {
    const FAMILY: Family = Family { doc: "The mean of all values so far.", source: "Wolski 1998" };

    fn forecast(&self, history: &History) -> f64 {
        self.first + (self.sum + self.lost) / history.observations() as f64
    }

    fn observe(&mut self, value: f64, history: &History) {
        if history.is_empty() {
            self.first = value;
        }
        let value = value - self.first;
        let sum = self.sum + value;
        let (large, small) =
            if self.sum.abs() >= value.abs() { (self.sum, value) } else { (value, self.sum) };
        self.lost += (large - sum) + small;
        self.sum = sum;
    }
}
