//! Claims and verdicts: published results compared with measured ones.
//!
//! A claim is a number with a tolerance, or a relation between measures. [`measure_claim`] selects the runs of a claim
//! from the table of a study; [`judge`] gives the verdicts of a whole page at once, since the tests of one page are
//! corrected for their number.

mod gains;
mod judge;
mod measured;
mod told;

use std::collections::BTreeMap;

use serde::Serialize;

pub use judge::{Judgement, Verdict, judge};
pub use measured::{ClaimError, Measured, Sample, check_claim, measure_claim};

/// Labels on some axes of a study, which select runs. An axis that is not named varies.
pub type Side = BTreeMap<String, Vec<String>>;

/// A published statement.
#[derive(Clone, Debug, PartialEq)]
pub struct Claim {
    /// The id, unique in its file.
    pub id: String,
    /// The paper, and the place in it.
    pub source: String,
    /// The statement in a sentence.
    pub says: String,
    /// Ids of measures: one, or those of a row that falls or rises.
    pub measures: Vec<String>,
    /// The runs of the claim.
    pub of: Side,
    /// The runs with which those are compared; on axes that are not named here, those of `of`.
    pub than: Side,
    /// The statement about the measure.
    pub expects: Expects,
    /// The axis along which a gain is the greatest ([`Expects::UpTo`]).
    pub along: Option<String>,
    /// An axis of which `of` has several labels: for each seed and point, the run with the best value counts.
    pub best: Option<String>,
}

/// The statement of a claim about a measure.
#[derive(Copy, Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case", tag = "kind")]
pub enum Expects {
    /// The measure has this value within a tolerance.
    Value {
        /// The published value.
        published: f64,
        /// The largest difference that still counts as the same.
        tolerance: f64,
    },
    /// The measure is lower in `of` than in `than`, at every point.
    Below,
    /// The measure is higher in `of` than in `than`, at every point.
    Above,
    /// The change from `than` to `of`, as a share of `than`, is in this range at every point.
    Change {
        /// Lower end, such as -0.3; `None` for no lower limit.
        from: Option<f64>,
        /// Upper end; `None` for no upper limit.
        to: Option<f64>,
    },
    /// Each measure is lower than the previous one, at every point.
    Falling,
    /// Each measure is higher than the previous one, at every point.
    Rising,
    /// The greatest gain of `of` over `than` along an axis, in a single run of the paper. The runs of each seed have such
    /// a greatest gain too, and the published one should be consistent with their distribution.
    UpTo {
        /// The gain as a share of `than`, such as 0.3188.
        published: f64,
    },
    /// A published value that cannot be judged.
    Shown {
        /// The published value, if it is a number.
        published: Option<f64>,
    },
}

#[cfg(test)]
mod tests;
