//! The median over a window that adapts.

use serde::{Deserialize, Serialize};

use super::window::Window;
use crate::forecast::history::History;
use crate::forecast::predictor::{Family, Predict};

/// The median over a window that adapts.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(in crate::forecast) struct AdaptiveMedian {
    window: Window,
}

impl AdaptiveMedian {
    pub(super) const NEW: Self = Self { window: Window::NEW };
}

impl Predict for AdaptiveMedian {
    const FAMILY: Family = Family {
        doc: "The median of the last 5 to 50 values, whose number moves as that of `adaptive-mean`.",
        source: "Wolski 1998, our reading",
    };

    fn forecast(&self, history: &History) -> f64 {
        history.median(self.window.length())
    }

    fn observe(&mut self, value: f64, history: &History) {
        if !history.is_empty() {
            self.window.adapt(value, |length| history.median(length));
        }
    }
}
