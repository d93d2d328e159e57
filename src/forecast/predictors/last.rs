//! The last value.

use serde::{Deserialize, Serialize};

use crate::forecast::history::History;
use crate::forecast::predictor::{Family, Predict};

/// The last value.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(in crate::forecast) struct Last;

impl Predict for Last {
    const FAMILY: Family = Family { doc: "The last value.", source: "Wolski 1998" };

    fn forecast(&self, history: &History) -> f64 {
        history.last()
    }
}
