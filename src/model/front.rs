//! The front of a planning: the schedules from which a broker's policy with several objectives chose its plan.

use serde::{Deserialize, Serialize};

use crate::units::Time;

/// An objective of a broker's policy. Less is better.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Objective {
    /// Its name, in a word.
    pub name: &'static str,
    /// Its unit, as it is written behind a number; empty for none.
    pub unit: &'static str,
    /// Its column in `fronts.csv`: its name, and its unit if it has one.
    pub column: &'static str,
}

/// The rows of `fronts.csv` for one planning, written when the broker has asked its policy.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FrontRecord {
    /// When the policy was asked.
    pub at: Time,
    /// The number of the planning, from 1, as the policy counts.
    pub planning: u64,
    /// The number of tasks that the schedules place.
    pub tasks: u64,
    /// The number of schedules that were evaluated.
    pub evaluations: u64,
    /// The schedules of the front, no two with the same objectives, by what chose, the chosen one first. All numbers are finite.
    pub points: Vec<FrontPoint>,
}

/// No number of a front is NaN.
impl Eq for FrontRecord {}

/// A schedule of a front.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FrontPoint {
    /// What chose: the least is chosen.
    pub value: f64,
    /// Its objectives, in the order of the policy's [`Objective`]s.
    pub objectives: Vec<f64>,
}
