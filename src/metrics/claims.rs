//! What was published, held against what was measured: claims and verdicts.
//!
//! A claim is a number with a tolerance, or a relation between measures. [`measure_claim`] takes the runs that it is about out of the
//! table of a study; [`judge`] gives the verdicts of a whole page at once, since the tests of one page are corrected for
//! their number.

mod gains;
mod judge;
mod measured;
mod told;

use std::collections::BTreeMap;

use serde::Serialize;

pub use judge::{Judgement, Verdict, judge};
pub use measured::{ClaimError, Measured, Sample, check_claim, measure_claim};

/// Labels on some axes of a study: those runs are meant. An axis that is not named varies.
pub type Side = BTreeMap<String, Vec<String>>;

/// Something that was published.
#[derive(Clone, Debug, PartialEq)]
pub struct Claim {
    /// Unique in its file.
    pub id: String,
    /// Which paper, and where in it.
    pub source: String,
    /// In a sentence.
    pub says: String,
    /// Ids of measures: one, or those of a row that falls or rises.
    pub measures: Vec<String>,
    /// The runs that it is about.
    pub of: Side,
    /// The runs that those are held against; on axes that it does not name, those of `of`.
    pub than: Side,
    /// What it says of the measure.
    pub expects: Expects,
    /// The axis along which a gain is the greatest ([`Expects::UpTo`]).
    pub along: Option<String>,
    /// An axis of which `of` has several labels: for each seed, at each point, that run counts which has the best value.
    pub best: Option<String>,
}

/// What a claim says of a measure.
#[derive(Copy, Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case", tag = "kind")]
pub enum Expects {
    /// It is this, give or take.
    Value {
        /// As published.
        published: f64,
        /// How far from it still counts as the same.
        tolerance: f64,
    },
    /// It is lower in `of` than in `than`, at every point.
    Below,
    /// It is higher, at every point.
    Above,
    /// `of` less `than`, as a share of `than`, is between these, at every point.
    Change {
        /// Lower end, such as -0.3; `None` if it may be as low as it likes.
        from: Option<f64>,
        /// Upper end; `None` if it may be as high as it likes.
        to: Option<f64>,
    },
    /// Each measure is lower than the one before it, at every point.
    Falling,
    /// Each measure is higher than the one before it, at every point.
    Rising,
    /// The greatest gain of `of` over `than` along an axis, in a single run of the paper: the runs of each seed have such a greatest gain
    /// too, and the published one should be one of their kind.
    UpTo {
        /// As a share of `than`, such as 0.3188.
        published: f64,
    },
    /// It was published, and there is nothing to judge it by.
    Shown {
        /// As published, if it is a number.
        published: Option<f64>,
    },
}

#[cfg(test)]
mod tests;
