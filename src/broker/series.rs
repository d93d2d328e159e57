//! A series of measurements that are never negative, and what is forecast of it.

use serde::{Deserialize, Serialize};

use crate::forecast::Forecaster;

/// A series of counts, times or rates.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Series(Forecaster);

// It has no value that is not equal to itself: what is no number is not entered.
impl Eq for Series {}

impl Series {
    /// Enters a value. What a broker measures is a number from 0 to 10⁴⁰, which a forecaster takes.
    pub(super) fn observe(&mut self, value: f64) {
        let entered = self.0.observe(value);
        debug_assert_eq!(entered, Ok(()));
    }

    /// The whole number next to the forecast of the next value, from 0 to `most`; `None` before the first value.
    pub(super) fn next(&self, most: f64) -> Option<f64> {
        self.0.forecast().map(|next| libm::round(next.value).clamp(0.0, most))
    }

    /// The same as an integer, of microseconds or bits a second.
    pub(super) fn next_whole(&self) -> Option<u64> {
        self.next(u64::MAX as f64).map(|next| next as u64)
    }
}
