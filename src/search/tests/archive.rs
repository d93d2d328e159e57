//! The archive, against a filter of all points.

use proptest::prelude::*;

use super::{cases, coarse, fine, flat, points};
use crate::search::dominance::lexicographic;
use crate::search::{Archive, Points, crowding, dominates};

/// The points that no other dominates, equal ones once, the first of them, in lexicographic order: by their indices.
fn filtered(points: Points<'_>) -> Vec<usize> {
    let rows: Vec<&[f64]> = points.iter().collect();
    let is_kept = |at: &usize| {
        let is_better =
            |(other, row): (usize, &&[f64])| dominates(row, rows[*at]) || *row == rows[*at] && other < *at;
        !rows.iter().enumerate().any(is_better)
    };
    let mut kept: Vec<usize> = (0..rows.len()).filter(is_kept).collect();
    kept.sort_by(|a, b| lexicographic(rows[*a], rows[*b]));
    kept
}

proptest! {
    #![proptest_config(cases(64))]

    #[test]
    fn it_has_what_a_filter_of_all_points_has(
        (width, values) in (1..6_usize).prop_flat_map(|width| (Just(width), prop_oneof![coarse(width, 60), fine(width, 60)])),
        batch in 1..20_usize,
    ) {
        let all = points(&values, width);
        let expected = filtered(all);
        // One by one.
        let mut single = Archive::unbounded(width).unwrap();
        for (at, point) in all.iter().enumerate() {
            let had = single.points().iter().any(|other| other == point || dominates(other, point));
            prop_assert_eq!(single.insert(&at, point).unwrap(), !had);
        }
        prop_assert_eq!(single.genomes(), &expected[..]);
        prop_assert!(single.iter().all(|(at, point)| all.get(*at) == Some(point)));
        // And many at once.
        let mut batches = Archive::unbounded(width).unwrap();
        let indices: Vec<usize> = (0..all.len()).collect();
        for (genomes, values) in indices.chunks(batch).zip(values.chunks(batch * width)) {
            batches.extend(genomes, points(values, width), &[]);
        }
        prop_assert_eq!(batches, single);
    }

    /// A bound takes away the most crowded point again and again, measured anew each time.
    #[test]
    fn a_bound_takes_the_most_crowded(
        (width, values) in (2..5_usize).prop_flat_map(|width| (Just(width), fine(width, 40))),
        most in 1..12_usize,
    ) {
        let all = points(&values, width);
        let mut left = filtered(all);
        let indices: Vec<usize> = (0..all.len()).collect();
        let mut archive = Archive::bounded(width, most).unwrap();
        archive.extend(&indices, all, &[]);
        while left.len() > most {
            let values: Vec<f64> = left.iter().flat_map(|at| all.get(*at).unwrap()).copied().collect();
            let distances = crowding(points(&values, width));
            let least = distances.iter().copied().fold(f64::INFINITY, f64::min);
            let worst = distances.iter().rposition(|distance| *distance == least).unwrap();
            left.remove(worst);
        }
        // With room for all extremes none of them goes, so that the ranges stay what they are.
        if most >= 2 * width {
            prop_assert_eq!(archive.genomes(), &left[..]);
        }
        prop_assert_eq!(archive.len(), left.len());
    }
}

#[test]
fn the_first_of_equal_points_stays_and_what_is_infeasible_stays_out() {
    let mut archive = Archive::unbounded(2).unwrap();
    assert!(archive.insert(&"first", &[1.0, 1.0]).unwrap());
    assert!(!archive.insert(&"again", &[1.0, 1.0]).unwrap());
    assert!(!archive.insert(&"worse", &[1.0, 2.0]).unwrap());
    assert_eq!(archive.genomes(), ["first"]);
    let values = flat(&[[0.0, 0.0], [0.5, 3.0], [0.5, 3.0]]);
    assert!(archive.extend(&["not allowed", "allowed", "its twin"], points(&values, 2), &[0.1, 0.0, 0.0]));
    assert_eq!(archive.genomes(), ["allowed", "first"]);
    assert_eq!(archive.points().values(), [0.5, 3.0, 1.0, 1.0]);
    assert!(archive.insert(&"best", &[0.0, 0.0]).unwrap());
    assert_eq!((archive.len(), archive.is_empty()), (1, false));
}
