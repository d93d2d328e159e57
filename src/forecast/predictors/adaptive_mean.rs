//! The mean over a window that adapts.

use serde::{Deserialize, Serialize};

use super::window::Window;
use crate::forecast::history::History;
use crate::forecast::predictor::{Family, Predict};

/// The mean over a window that adapts.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(in crate::forecast) struct AdaptiveMean {
    window: Window,
}

impl AdaptiveMean {
    pub(super) const NEW: Self = Self { window: Window::NEW };
}

impl Predict for AdaptiveMean {
    const FAMILY: Family = Family {
        doc: "The mean of the last 5 to 50 values: at each value their number moves by one, or not, to whichever would have forecast it best.",
        source: "Wolski 1998, our reading",
    };

    fn forecast(&self, history: &History) -> f64 {
        history.mean(self.window.length())
    }

    fn observe(&mut self, value: f64, history: &History) {
        if !history.is_empty() {
            self.window.adapt(value, |length| history.mean(length));
        }
    }
}
