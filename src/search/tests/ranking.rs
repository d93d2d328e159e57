//! Domination, fronts and crowding, against their definitions.

use proptest::prelude::*;

use super::{cases, coarse, fine, flat, points};
use crate::search::{Points, constrained_dominates, crowding, dominates, fronts};

/// The fronts by the definition: again and again those that none of the others dominates.
fn peeled(points: Points<'_>, violations: &[f64]) -> Vec<Vec<usize>> {
    let rows: Vec<(&[f64], f64)> = points
        .iter()
        .enumerate()
        .map(|(at, point)| (point, violations.get(at).copied().unwrap_or(0.0)))
        .collect();
    let mut left: Vec<usize> = (0..rows.len()).collect();
    let mut fronts = Vec::new();
    while !left.is_empty() {
        let is_free = |at: &usize| !left.iter().any(|other| constrained_dominates(rows[*other], rows[*at]));
        let front: Vec<usize> = left.iter().copied().filter(is_free).collect();
        left.retain(|at| !front.contains(at));
        fronts.push(front);
    }
    fronts
}

/// Crowding by the definition, with a stable sort of all points for each objective.
fn crowded(points: Points<'_>) -> Vec<f64> {
    let rows: Vec<&[f64]> = points.iter().collect();
    let mut distances = vec![if rows.len() <= 2 { f64::INFINITY } else { 0.0 }; rows.len()];
    for objective in 0..points.objectives() {
        let mut order: Vec<usize> = (0..rows.len()).collect();
        order.sort_by(|a, b| rows[*a][objective].total_cmp(&rows[*b][objective]));
        let value = |place: usize| rows[order[place]][objective];
        if rows.is_empty() || value(0) == value(rows.len() - 1) {
            continue;
        }
        for (place, at) in order.iter().enumerate() {
            distances[*at] += if place == 0 || place == rows.len() - 1 {
                f64::INFINITY
            } else {
                (value(place + 1) - value(place - 1)) / (value(rows.len() - 1) - value(0))
            };
        }
    }
    distances
}

fn violations() -> impl Strategy<Value = Vec<f64>> {
    proptest::collection::vec((0..4_u8).prop_map(|value| f64::from(value.saturating_sub(1))), 40)
}

proptest! {
    #![proptest_config(cases(64))]

    #[test]
    fn fronts_are_those_of_the_definition(
        (width, values) in (1..6_usize).prop_flat_map(|width| (Just(width), prop_oneof![coarse(width, 40), fine(width, 40)])),
        violations in violations(),
    ) {
        let points = points(&values, width);
        prop_assert_eq!(fronts(points, &[]).unwrap(), peeled(points, &[]));
        let violations = &violations[..points.len()];
        prop_assert_eq!(fronts(points, violations).unwrap(), peeled(points, violations));
    }

    #[test]
    fn crowding_is_that_of_the_definition(
        (width, values) in (1..6_usize).prop_flat_map(|width| (Just(width), prop_oneof![coarse(width, 40), fine(width, 40)])),
    ) {
        let points = points(&values, width);
        prop_assert_eq!(crowding(points), crowded(points));
    }
}

#[test]
fn equal_points_are_in_one_front_in_order_of_index() {
    let values = flat(&[[2.0, 2.0], [1.0, 3.0], [1.0, 3.0], [3.0, 3.0], [0.0, -0.0], [-0.0, 0.0]]);
    assert_eq!(fronts(points(&values, 2), &[]).unwrap(), [vec![4, 5], vec![0, 1, 2], vec![3]]);
    assert_eq!(fronts(points(&[], 2), &[]).unwrap(), Vec::<Vec<usize>>::new());
}

#[test]
fn what_is_feasible_comes_first_then_the_smaller_violation() {
    // The first is the best by its objectives, and violates most.
    let values = flat(&[[0.0, 0.0], [1.0, 1.0], [2.0, 0.5], [3.0, 3.0], [9.0, 9.0]]);
    let violations = [2.0, 0.0, 0.0, 1.0, 1.0];
    assert_eq!(fronts(points(&values, 2), &violations).unwrap(), [vec![1, 2], vec![3, 4], vec![0]]);
    assert!(constrained_dominates((&[9.0], 0.0), (&[0.0], 0.1)));
    assert!(!constrained_dominates((&[0.0], 0.1), (&[9.0], 0.1)));
    assert!(dominates(&[1.0, 2.0], &[1.0, 3.0]) && !dominates(&[1.0, 2.0], &[1.0, 2.0]));
}

#[test]
fn crowding_by_hand() {
    // The range is 4 in both: (2 − 0) / 4 + (4 − 1) / 4, and (4 − 1) / 4 + (2 − 0) / 4.
    let values = flat(&[[0.0, 4.0], [1.0, 2.0], [2.0, 1.0], [4.0, 0.0]]);
    assert_eq!(crowding(points(&values, 2)), [f64::INFINITY, 1.25, 1.25, f64::INFINITY]);
    // An objective of one value is skipped; of equal extremes the first and the last count.
    let values = flat(&[[1.0, 7.0], [1.0, 7.0], [2.0, 7.0], [3.0, 7.0], [3.0, 7.0]]);
    assert_eq!(crowding(points(&values, 2)), [f64::INFINITY, 0.5, 1.0, 0.5, f64::INFINITY]);
    assert_eq!(crowding(points(&[5.0, 5.0, 5.0], 1)), [0.0; 3]);
    // A range beyond the greatest number gives no number that is not one.
    assert_eq!(crowding(points(&[-1e308, 0.0, 1e308], 1)), [f64::INFINITY, 0.0, f64::INFINITY]);
}
