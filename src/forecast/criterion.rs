//! What is the error of a predictor.

use std::num::NonZeroU16;

use serde::{Deserialize, Serialize};

/// Which predictor answers: the one with the least error, and of equals the first one in the order of [`Predictor::all`](super::Predictor::all).
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Criterion {
    /// The mean square error of all forecasts so far: `MIN_MSE` of the Network Weather Service.
    #[default]
    Squared,
    /// The mean absolute error of all forecasts so far: `MIN_MAE` of the Network Weather Service.
    Absolute,
    /// The mean square error of so many last forecasts.
    RecentSquared(NonZeroU16),
    /// The mean absolute error of so many last forecasts.
    RecentAbsolute(NonZeroU16),
}

impl Criterion {
    /// The number of last forecasts that a recent error is usually of: 50. Our choice.
    pub const RECENT: NonZeroU16 = NonZeroU16::new(50).expect("it is not 0");

    /// The number of last forecasts that the error is of; `None` if it is of all.
    pub(super) fn last(self) -> Option<usize> {
        match self {
            Self::Squared | Self::Absolute => None,
            Self::RecentSquared(last) | Self::RecentAbsolute(last) => Some(usize::from(last.get())),
        }
    }
}
