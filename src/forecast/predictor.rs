//! What a predictor does.

use super::history::History;

/// A way of saying which value comes next.
pub(super) trait Predict {
    /// The description of all predictors of this kind.
    const FAMILY: Family;

    /// The forecast of the value after `history`, which has at least one.
    fn forecast(&self, history: &History) -> f64;

    /// Learns that `value` has come after `history`, which does not have it yet.
    ///
    /// What only looks back has nothing to learn.
    fn observe(&mut self, _value: f64, _history: &History) {}
}

/// The description of a kind of predictors, which differ in parameters.
pub(super) struct Family {
    /// What they forecast, in a sentence.
    pub(super) doc: &'static str,
    /// Where they come from.
    pub(super) source: &'static str,
}
