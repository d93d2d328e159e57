//! The compromise: which chromosome of the first front becomes the plan.

use super::schedule::{ABOUT, OBJECTIVES};
use crate::broker::ChosenBy;

/// How a chromosome is chosen.
#[derive(Copy, Clone, Debug, PartialEq)]
pub(super) enum Choice {
    /// The least weighted sum, in which each objective counts as a share of its [reference].
    Sum([f64; OBJECTIVES]),
    /// The knee: the least sum of what each objective has of the front's range.
    Knee,
}

impl Choice {
    /// The value of each point of a front; the least is chosen, the first among equals. An objective counts 1 at its `reference`.
    pub(super) fn values(&self, front: &[&[f64]], reference: &[f64; OBJECTIVES]) -> Vec<f64> {
        let of_range = |at: usize| {
            let values = || front.iter().map(|point| point[at]);
            let (least, most) = (values().fold(f64::INFINITY, f64::min), values().fold(0.0, f64::max));
            (least, most - least)
        };
        let ranges: [(f64, f64); OBJECTIVES] = match self {
            Self::Sum(_) => reference.map(|worst| (0.0, worst)),
            Self::Knee => std::array::from_fn(of_range),
        };
        let weights = match self {
            Self::Sum(weights) => *weights,
            Self::Knee => [1.0; OBJECTIVES],
        };
        let value = |point: &&[f64]| {
            let terms = point.iter().zip(&ranges).zip(&weights);
            let term = |((value, (least, range)), weight): ((&f64, &(f64, f64)), &f64)| {
                if *range > 0.0 { weight * (value - least) / range } else { 0.0 }
            };
            terms.map(term).sum()
        };
        front.iter().map(value).collect()
    }

    /// The same in words.
    pub(super) fn told(&self) -> ChosenBy {
        let Self::Sum(weights) = self else {
            let rule = "the knee: the least sum of the objectives, each as a share of the range of the front";
            return ChosenBy { value: "sum of shares", rule: rule.to_owned() };
        };
        let weighted = || ABOUT.iter().zip(weights).filter(|(_, weight)| **weight > 0.0);
        let mut rule = match weighted().count() {
            1 => "the least value of its only weighted objective".to_owned(),
            count => format!("the least weighted sum of {count} objectives"),
        };
        if weights.iter().any(|weight| *weight != 1.0) {
            let each: Vec<String> =
                weighted().map(|(objective, weight)| format!("{} {weight}", objective.name)).collect();
            rule += &format!(" ({})", each.join(", "));
        }
        rule += if weighted().count() == 1 {
            ", as a share of its reference"
        } else {
            ", each as a share of its reference"
        };
        ChosenBy { value: "weighted sum", rule }
    }
}

/// What counts 1 of each objective: makespan and energy as in the schedule in which each task ends first; of idle time that makespan, as if all processors were
/// idle; of lateness 1 at least, which is to be late by ln 2 of the time that was given; of overspending at least the mean budget. None depends on a front.
pub(super) fn reference(earliest: [f64; OBJECTIVES], budget: f64) -> [f64; OBJECTIVES] {
    let [makespan, _, lateness, overspending, energy] = earliest;
    [makespan, makespan, lateness.max(1.0), overspending.max(budget), energy]
        .map(|value| if value > 0.0 { value } else { 1.0 })
}
