//! Claims and verdicts: published results compared with measured ones.
//!
//! A claim is a number with a tolerance, or a relation between measures. [`measure_claim`] selects the runs of a claim
//! from the table of a study; [`judge`] gives the verdict, by thresholds that are the same for all pages ([`ERROR`],
//! [`ORDINARY`]).

mod check;
mod columns;
mod gains;
mod judge;
mod measured;
mod relative;
mod several;
mod words;

use std::collections::BTreeMap;

use serde::Serialize;
use thiserror::Error;

use crate::model::suggestion;

pub use check::{check_claim, concerns};
pub use judge::{ERROR, JudgedPoint, Judgement, ORDINARY, Says, Verdict, judge};
pub use measured::{Measured, Runs, Sample, measure_claim};

/// Labels on some axes of a study, which select runs. An axis that is not named varies.
pub type Side = BTreeMap<String, Vec<String>>;

/// A published statement.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Claim {
    /// The id, unique in its file.
    pub id: String,
    /// Key of the paper.
    pub paper: Option<String>,
    /// The heading of its section.
    pub group: Option<String>,
    /// Its place in the paper.
    pub source: String,
    /// The statement in a sentence.
    pub says: String,
    /// The statement about the measure.
    pub expects: Expects,
    /// The campaign that measures it.
    pub campaign: Option<String>,
    /// The reason why it cannot be compared, if the file gives one.
    pub not_comparable: Option<String>,
    /// Its line in the file.
    #[serde(skip)]
    pub line: usize,
    /// Ids of measures: one; several, of each of which the statement is made; or those of a row that falls or rises.
    #[serde(skip)]
    pub measures: Vec<String>,
    /// Ids of the measures with which those are compared, one for each; empty if they are compared with themselves in other runs.
    #[serde(skip)]
    pub than_measures: Vec<String>,
    /// Of several measures, in how many the statement is to be true at each point; `None` for all of them.
    pub at_least: Option<usize>,
    /// A published value and its tolerance for each measure ([`Expects::Table`]).
    pub values: Vec<(f64, f64)>,
    /// The runs of the claim.
    #[serde(skip)]
    pub of: Side,
    /// The runs with which those are compared; on axes that are not named here, those of `of`.
    #[serde(skip)]
    pub than: Side,
    /// Labels of some axes: what is compared are not the values of runs, but their gains over the runs that have these labels instead. Empty if
    /// it is the values.
    #[serde(skip)]
    pub gain_over: Side,
    /// The axis along which a gain is the greatest ([`Expects::UpTo`]), or a measure falls or rises from each label of `of` to the next.
    #[serde(skip)]
    pub along: Option<String>,
    /// An axis of which `of` has several labels: for each seed and point, the run with the best value counts.
    #[serde(skip)]
    pub best: Option<String>,
    /// Of an order: a change below this share of `than` counts as none. `None` if the page does not say so for the measure.
    pub no_difference: Option<f64>,
    /// True if the paper states an order of this very log: both sides are one run each, and are compared as they are.
    pub on_this_log: bool,
}

impl Claim {
    /// The published value and the range that the measure at an index must be in, of a statement about measures alone.
    pub(super) fn range(&self, measure: usize) -> Option<(f64, (f64, f64))> {
        match self.expects {
            Expects::Table => {
                let (published, tolerance) = *self.values.get(measure)?;
                Expects::Value { published, tolerance }.range()
            }
            expects => expects.range(),
        }
    }
}

/// The error of a claim, or a figure of claims, that is incomplete or does not fit its campaign.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{problem}")]
pub struct ClaimError {
    problem: String,
    hint: Option<String>,
}

impl ClaimError {
    /// The hint for this error.
    pub fn hint(&self) -> Option<&str> {
        self.hint.as_deref()
    }

    /// The same error, attributed to `whom`, such as a claim.
    pub(super) fn of(self, whom: &str) -> Self {
        Self { problem: format!("{whom}: {}", self.problem), ..self }
    }
}

/// Refuses a claim or a figure, with a hint.
pub(super) fn refuse<T>(problem: impl Into<String>, hint: impl Into<String>) -> Result<T, ClaimError> {
    Err(ClaimError { problem: problem.into(), hint: Some(hint.into()) })
}

/// The index of `axis` among those of a campaign; an error that names `key` as its origin, if it is not one of them.
pub(super) fn axis_at(axes: &[&str], axis: &str, key: &str) -> Result<usize, ClaimError> {
    axes.iter().position(|known| *known == axis).ok_or_else(|| ClaimError {
        problem: format!("the campaign has no axis `{axis}`{key}; its axes are {}", axes.join(", ")),
        hint: suggestion(axis, axes.iter().copied()),
    })
}

/// Checks that `wanted` are labels of `axis`.
pub(super) fn check_labels(axis: &str, wanted: &[String], known: &[String]) -> Result<(), ClaimError> {
    let Some(label) = wanted.iter().find(|label| !known.contains(label)) else { return Ok(()) };
    Err(ClaimError {
        problem: format!("axis `{axis}` has no `{label}`; it has {}", known.join(", ")),
        hint: suggestion(label, known.iter().map(String::as_str)),
    })
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
    /// The measure is no less than this value, but for a tolerance.
    AtLeast {
        /// The published value.
        published: f64,
        /// How much less still counts.
        tolerance: f64,
    },
    /// The measure is no more than this value, but for a tolerance.
    AtMost {
        /// The published value.
        published: f64,
        /// How much more still counts.
        tolerance: f64,
    },
    /// Each of several measures has a value of its own within a tolerance ([`Claim::values`]).
    Table,
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
    /// Each measure is lower than the previous one, or with `along` at each label than at the previous one, at every point.
    Falling,
    /// Each measure is higher than the previous one, or with `along` at each label than at the previous one, at every point.
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

impl Expects {
    /// The published value and the range that a measure must be in, of a statement about the measure alone.
    pub(super) const fn range(self) -> Option<(f64, (f64, f64))> {
        match self {
            Self::Value { published, tolerance } => {
                Some((published, (published - tolerance, published + tolerance)))
            }
            Self::AtLeast { published, tolerance } => {
                Some((published, (published - tolerance, f64::INFINITY)))
            }
            Self::AtMost { published, tolerance } => {
                Some((published, (f64::NEG_INFINITY, published + tolerance)))
            }
            _ => None,
        }
    }

    /// True if the statement is an order of two means.
    pub const fn is_order(self) -> bool {
        matches!(self, Self::Below | Self::Above | Self::Falling | Self::Rising)
    }
}

#[cfg(test)]
mod tests;
