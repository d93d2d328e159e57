//! Fronts of a broker with several objectives: how many schedules there were to choose from, and how good they were.

use serde::{Deserialize, Serialize};

use crate::model::FrontRecord;
use crate::search::{Points, hypervolume};

/// Where the reference point of the hypervolume is, in each objective: at so many times the value that counts as 1, its value in the schedule in which each
/// task ends first.
const REFERENCE: f64 = 2.0;

/// A sum of shares counts in these.
const ONE: f64 = (1_u64 << 40) as f64;

/// Sums up fronts, one at a time, in any order.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Fronts {
    plannings: u64,
    tasks: u64,
    evaluations: u64,
    points: u64,
    /// In 2⁻⁴⁰.
    hypervolume: u128,
    /// In 2⁻⁴⁰.
    value: u128,
}

/// The fronts of a run.
#[derive(Copy, Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct FrontSummary {
    /// Number of plannings that chose from a front.
    pub plannings: u64,
    /// Mean number of tasks of a planning; `None` without plannings.
    pub tasks: Option<f64>,
    /// Mean number of schedules that were evaluated.
    pub evaluations: Option<f64>,
    /// Mean number of schedules of a front, no two with the same objectives.
    pub size: Option<f64>,
    /// Mean hypervolume of a front: the share that it dominates of the box from 0 to the reference point, at twice the reference of each objective.
    pub hypervolume: Option<f64>,
    /// Mean value of the schedules that were chosen, of which less is better: what chose gives it.
    pub value: Option<f64>,
}

impl Fronts {
    /// Adds the front of a planning.
    pub(super) fn add(&mut self, front: &FrontRecord) {
        self.plannings += 1;
        self.tasks += front.tasks;
        self.evaluations += front.evaluations;
        self.points += front.points.len() as u64;
        self.hypervolume += (share(front) * ONE) as u128;
        let chosen = front.points.first().map_or(0.0, |point| point.value);
        self.value = self.value.saturating_add((chosen * ONE) as u128);
    }

    /// The summary; `None` if there were no plannings.
    pub(super) fn summary(&self) -> Option<FrontSummary> {
        let mean = |sum: f64| Some(sum / self.plannings as f64);
        (self.plannings > 0).then(|| FrontSummary {
            plannings: self.plannings,
            tasks: mean(self.tasks as f64),
            evaluations: mean(self.evaluations as f64),
            size: mean(self.points as f64),
            hypervolume: mean(self.hypervolume as f64 / ONE),
            value: mean(self.value as f64 / ONE),
        })
    }
}

/// The share that a front dominates of the box from 0 to the reference point; 0 of a front without values that count as 1.
fn share(front: &FrontRecord) -> f64 {
    let objectives = front.reference.len();
    let values = front.points.iter().flat_map(|point| point.objectives.iter().zip(&front.reference));
    let values: Vec<f64> = values.map(|(value, one)| value / one).collect();
    let volume =
        Points::new(&values, objectives).and_then(|points| hypervolume(points, &vec![REFERENCE; objectives]));
    volume.map_or(0.0, |volume| volume / libm::pow(REFERENCE, objectives as f64))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::FrontPoint;
    use crate::units::Time;

    fn front(points: &[[f64; 2]], reference: [f64; 2]) -> FrontRecord {
        let point = |objectives: &[f64; 2]| FrontPoint {
            value: objectives[0] / 8.0,
            objectives: objectives.to_vec(),
        };
        FrontRecord {
            at: Time::ZERO,
            planning: 1,
            tasks: 3,
            evaluations: 40,
            points: points.iter().map(point).collect(),
            reference: reference.to_vec(),
        }
    }

    /// In units of the reference, 10 s and 4, the points are (0.5, 1) and (1, 0.5). Up to (2, 2) each dominates 1.5 x 1, both 1 x 1 of it: 2 of 4. The second
    /// front is one point outside the box, and the third the schedule of earliest ends alone: 1 of 4.
    #[test]
    fn the_share_of_the_box_up_to_twice_the_reference() {
        let (both, outside) =
            (front(&[[5.0, 4.0], [10.0, 2.0]], [10.0, 4.0]), front(&[[20.0, 1.0]], [10.0, 4.0]));
        assert_eq!([&both, &outside, &front(&[[10.0, 4.0]], [10.0, 4.0])].map(share), [0.5, 0.0, 0.25]);
        let mut fronts = Fronts::default();
        assert_eq!(fronts.summary(), None);
        fronts.add(&both);
        fronts.add(&FrontRecord { tasks: 5, evaluations: 60, ..outside });
        let expected = FrontSummary {
            plannings: 2,
            tasks: Some(4.0),
            evaluations: Some(50.0),
            size: Some(1.5),
            hypervolume: Some(0.25),
            value: Some((0.625 + 2.5) / 2.0),
        };
        assert_eq!(fronts.summary(), Some(expected));
    }

    #[test]
    fn a_front_that_counts_nothing_has_no_volume() {
        assert_eq!(share(&FrontRecord { reference: Vec::new(), ..front(&[[1.0, 1.0]], [1.0, 1.0]) }), 0.0);
        assert_eq!(share(&front(&[[1.0, f64::INFINITY]], [1.0, 1.0])), 0.0);
        assert_eq!(share(&front(&[[0.0, 0.0]], [1.0, 1.0])), 1.0);
    }
}
