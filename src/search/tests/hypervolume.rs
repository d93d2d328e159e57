//! Hypervolume, against inclusion and exclusion and closed forms.

use std::f64::consts::PI;

use proptest::prelude::*;

use super::{cases, coarse, fine, flat, points};
use crate::search::{Points, fronts, hypervolume};
use crate::workload::random::Stream;

/// The union of the boxes from the points to the reference: the sum over all sets of points of the volume that all of a set
/// dominate, added for sets of odd size and taken away for those of even size.
fn by_inclusion(points: Points<'_>, reference: &[f64]) -> f64 {
    let rows: Vec<&[f64]> = points.iter().collect();
    let sets = 1..1_usize << rows.len();
    let of_set = |set: usize| {
        let members = || rows.iter().enumerate().filter(|(at, _)| set >> at & 1 == 1);
        let side = |(objective, limit): (usize, &f64)| {
            let worst = members().map(|(_, row)| row[objective]).fold(f64::NEG_INFINITY, f64::max);
            (limit - worst).max(0.0)
        };
        let volume: f64 = reference.iter().enumerate().map(side).product();
        if members().count() % 2 == 1 { volume } else { -volume }
    };
    sets.map(of_set).sum()
}

/// The hypervolume with one more objective, in which all points are 0 and the reference is 1: the same.
fn raised(of: Points<'_>, reference: &[f64]) -> f64 {
    let values: Vec<f64> = of.iter().flat_map(|point| point.iter().copied().chain([0.0])).collect();
    let reference: Vec<f64> = reference.iter().copied().chain([1.0]).collect();
    hypervolume(points(&values, of.objectives() + 1), &reference).unwrap()
}

proptest! {
    #![proptest_config(cases(64))]

    #[test]
    fn it_is_that_of_inclusion_and_exclusion(
        (width, values) in (1..6_usize).prop_flat_map(|width| (Just(width), prop_oneof![coarse(width, 7), fine(width, 7)])),
        limit in prop_oneof![Just(1.0), Just(0.6), Just(1.1)],
    ) {
        let (points, reference) = (points(&values, width), vec![limit; width]);
        let (got, exact) = (hypervolume(points, &reference).unwrap(), by_inclusion(points, &reference));
        prop_assert!((got - exact).abs() < 1e-12, "{} but {}", got, exact);
    }

    /// The algorithms for two, three and more objectives agree, whichever objective is the one that says nothing.
    #[test]
    fn the_algorithms_agree(
        (width, values) in (1..5_usize).prop_flat_map(|width| (Just(width), prop_oneof![coarse(width, 30), fine(width, 30)])),
    ) {
        let of = points(&values, width);
        let reference = vec![1.1; width];
        let got = hypervolume(of, &reference).unwrap();
        prop_assert!((raised(of, &reference) - got).abs() < 1e-12);
        let turned: Vec<f64> = of.iter().flat_map(|point| std::iter::once(0.0).chain(point.iter().rev().copied())).collect();
        let mut wider = reference;
        wider.insert(0, 1.0);
        prop_assert!((hypervolume(points(&turned, width + 1), &wider).unwrap() - got).abs() < 1e-12);
    }

    #[test]
    fn what_is_dominated_adds_nothing(
        (width, values) in (1..6_usize).prop_flat_map(|width| (Just(width), coarse(width, 20))),
    ) {
        let (all, reference) = (points(&values, width), vec![1.0; width]);
        let first = fronts(all, &[]).unwrap().into_iter().next().unwrap_or_default();
        let kept: Vec<f64> = first.iter().flat_map(|at| all.get(*at).unwrap()).copied().collect();
        let (got, of_front) = (hypervolume(all, &reference).unwrap(), hypervolume(points(&kept, width), &reference).unwrap());
        prop_assert!((got - of_front).abs() < 1e-12);
    }
}

#[test]
fn by_hand() {
    assert_eq!(hypervolume(points(&[3.0, 1.0, 5.0], 1), &[4.0]).unwrap(), 3.0);
    let stairs = flat(&[[1.0, 3.0], [2.0, 2.0], [3.0, 1.0]]);
    assert_eq!(hypervolume(points(&stairs, 2), &[4.0, 4.0]).unwrap(), 6.0);
    // Three bars along the axes of a cube of side 3, which share the cube of side 1 in its corner.
    let bars = flat(&[[0.0, 2.0, 2.0], [2.0, 0.0, 2.0], [2.0, 2.0, 0.0]]);
    assert_eq!(hypervolume(points(&bars, 3), &[3.0; 3]).unwrap(), 7.0);
    // What is not better than the reference in all objectives adds nothing.
    assert_eq!(hypervolume(points(&flat(&[[4.0, -1e9], [5.0, 0.0]]), 2), &[4.0, 4.0]).unwrap(), 0.0);
    assert_eq!(hypervolume(points(&[], 5), &[1.0; 5]).unwrap(), 0.0);
}

/// The corner of a cube that is left below a front, by its closed form: r^m − 0.5^m / m! of DTLZ1, r^m − the ball's part of DTLZ2.
///
/// The corners of a grid that are just beyond the front dominate less than it does, and moved by one mesh towards the origin they dominate
/// more: the two volumes enclose the exact one.
#[test]
fn fronts_of_more_objectives_enclose_their_closed_forms() {
    let ball = |m: i32| {
        libm::pow(PI, f64::from(m) / 2.0)
            / libm::tgamma(f64::from(m) / 2.0 + 1.0)
            / libm::pow(2.0, f64::from(m))
    };
    for (m, published) in [(2, 0.214_601_8), (3, 0.476_401_2), (4, 0.691_574_9), (5, 0.835_506_6)] {
        assert!((1.0 - ball(m) - published).abs() < 1e-7);
    }
    for (width, mesh) in [(2, 500), (3, 40), (4, 10), (5, 5)] {
        let exact_plane = 1.0 - libm::pow(0.5, width as f64) / libm::tgamma(width as f64 + 1.0);
        let exact_ball = 1.0 - ball(width as i32);
        for (exact, is_beyond, end) in [
            (
                exact_plane,
                (|point: &[f64]| point.iter().sum::<f64>() >= 0.5 - 1e-9) as fn(&[f64]) -> bool,
                0.5,
            ),
            (exact_ball, |point: &[f64]| point.iter().map(|x| x * x).sum::<f64>() >= 1.0 - 1e-9, 1.0),
        ] {
            let step = end / f64::from(mesh);
            // For each place in all objectives but the last, the first place of the last one at which a corner is beyond the front.
            let (mut low, mut high) = (Vec::new(), Vec::new());
            let columns = (mesh as usize + 1).pow(width as u32 - 1);
            for column in 0..columns {
                let mut rest = column;
                let mut corner: Vec<f64> = (1..width)
                    .map(|_| {
                        let at = rest % (mesh as usize + 1);
                        rest /= mesh as usize + 1;
                        at as f64 * step
                    })
                    .collect();
                corner.push(0.0);
                for last in 0..=mesh {
                    corner[width - 1] = f64::from(last) * step;
                    if is_beyond(&corner) {
                        high.extend_from_slice(&corner);
                        low.extend(corner.iter().map(|x| (x - step).max(0.0)));
                        break;
                    }
                }
            }
            let reference = vec![1.0; width];
            let least = hypervolume(points(&high, width), &reference).unwrap();
            let most = hypervolume(points(&low, width), &reference).unwrap();
            assert!(least <= exact + 1e-9 && exact <= most + 1e-9, "{width}: {least} {exact} {most}");
            assert!(most - least < 3.0 * width as f64 * step, "{width}: {least} {most}");
        }
    }
}

/// The hypervolume of points at random, against the share of random places that they dominate.
#[test]
fn it_is_the_share_of_random_places() {
    let mut stream = Stream::new(5, "search", "places");
    for width in 2..=5 {
        let values: Vec<f64> = (0..20 * width).map(|_| stream.uniform()).collect();
        let set = points(&values, width);
        let exact = hypervolume(set, &vec![1.0; width]).unwrap();
        let draws = 4_000;
        let is_dominated =
            |place: &[f64]| set.iter().any(|point| point.iter().zip(place).all(|(a, b)| a <= b));
        let hits = (0..draws)
            .filter(|_| is_dominated(&(0..width).map(|_| stream.uniform()).collect::<Vec<f64>>()))
            .count();
        let error = (exact * (1.0 - exact) / f64::from(draws)).sqrt();
        assert!(
            (hits as f64 / f64::from(draws) - exact).abs() < 4.0 * error,
            "{width}: {hits} of {draws}, {exact}"
        );
    }
}
