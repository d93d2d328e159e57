//! The hypervolume of a set of points.

use super::dominance::{compare, dominates};
use super::{Points, SearchError};

/// The hypervolume of `points`: the measure of the part of space that they dominate and that is better than `reference`, in the
/// product of the units of the objectives. A point that is not better than the reference in all objectives adds nothing.
///
/// It is exact up to rounding. Two objectives take a sweep in O(n log n), three a sweep over the third with the front of the other two
/// kept sorted (Fonseca, Paquete and López-Ibáñez 2006; a sorted list in the place of a tree, O(n log n) comparisons), four and
/// more the algorithm of While, Bradstreet and Barone 2012 (WFG), whose time grows exponentially with the objectives.
///
/// # Errors
///
/// The reference has another number of objectives than the points, or one that is not a finite number.
pub fn hypervolume(points: Points<'_>, reference: &[f64]) -> Result<f64, SearchError> {
    points.must_match("the reference", reference.len())?;
    Points::new(reference, reference.len())?;
    let is_inside = |point: &&[f64]| point.iter().zip(reference).all(|(value, limit)| value < limit);
    let inside: Vec<f64> = points.iter().filter(is_inside).flatten().copied().collect();
    Ok(volume(inside, reference))
}

/// The hypervolume of points that are all better than the reference, listed one after the other.
fn volume(points: Vec<f64>, reference: &[f64]) -> f64 {
    match *reference {
        [] => 0.0,
        [limit] => points.iter().map(|value| limit - value).fold(0.0, f64::max),
        [x, y] => area(points.chunks_exact(2).map(|point| (point[0], point[1])).collect(), (x, y)),
        [x, y, z] => {
            sweep(points.chunks_exact(3).map(|point| (point[0], point[1], point[2])).collect(), (x, y, z))
        }
        _ => exclusive(&undominated(points, reference.len()), reference),
    }
}

/// The area that points of a plane dominate.
fn area(mut points: Vec<(f64, f64)>, (limit_x, limit_y): (f64, f64)) -> f64 {
    points.sort_unstable_by(|a, b| compare(a.0, b.0).then(compare(a.1, b.1)));
    let (mut area, mut top) = (0.0, limit_y);
    for (x, y) in points {
        if y < top {
            area += (limit_x - x) * (top - y);
            top = y;
        }
    }
    area
}

/// The volume that points of space dominate: the area that those so far dominate in x and y, times the way to the next z.
fn sweep(mut points: Vec<(f64, f64, f64)>, (limit_x, limit_y, limit_z): (f64, f64, f64)) -> f64 {
    points.sort_unstable_by(|a, b| compare(a.2, b.2).then(compare(a.0, b.0)).then(compare(a.1, b.1)));
    // The points so far that none dominates in x and y: x ascends, y descends.
    let mut stairs: Vec<(f64, f64)> = Vec::with_capacity(points.len());
    let (mut volume, mut area, mut height) = (0.0, 0.0, limit_z);
    for (x, y, z) in points {
        volume += area * (z - height);
        height = z;
        let at = stairs.partition_point(|stair| stair.0 < x);
        let before = at.checked_sub(1).map_or(limit_y, |before| stairs[before].1);
        let is_dominated =
            (at > 0 && before <= y) || stairs.get(at).is_some_and(|stair| stair.0 <= x && stair.1 <= y);
        if is_dominated {
            continue;
        }
        let hidden = stairs[at..].iter().take_while(|stair| stair.1 >= y).count();
        let (mut from, mut top) = (x, before);
        for stair in &stairs[at..at + hidden] {
            area += (stair.0 - from) * (top - y);
            (from, top) = *stair;
        }
        let to = stairs.get(at + hidden).map_or(limit_x, |stair| stair.0);
        area += (to - from) * (top - y);
        stairs.splice(at..at + hidden, [(x, y)]);
    }
    volume + area * (limit_z - height)
}

/// The sum of what each point dominates and those behind it do not (WFG).
///
/// Points are taken from the worst in the last objective to the best, so what the others dominate of a point's part reaches as far as
/// the point in that objective, and is a hypervolume in one objective less.
fn exclusive(points: &[f64], reference: &[f64]) -> f64 {
    let width = reference.len();
    let mut order: Vec<&[f64]> = points.chunks_exact(width).collect();
    order.sort_by(|a, b| compare(b[width - 1], a[width - 1]));
    let (below, limit) = (&reference[..width - 1], reference[width - 1]);
    let mut sum = 0.0;
    for (at, point) in order.iter().enumerate() {
        let own: f64 = below.iter().zip(*point).map(|(limit, value)| limit - value).product();
        let worse = |other: &&[f64]| -> Vec<f64> {
            other[..width - 1].iter().zip(*point).map(|(other, own)| other.max(*own)).collect()
        };
        let limited: Vec<f64> = order[at + 1..].iter().flat_map(worse).collect();
        sum += (limit - point[width - 1]) * (own - volume(limited, below));
    }
    sum
}

/// The points that no other dominates, equal ones once.
fn undominated(points: Vec<f64>, width: usize) -> Vec<f64> {
    let mut kept: Vec<f64> = Vec::with_capacity(points.len());
    for point in points.chunks_exact(width) {
        if kept.chunks_exact(width).any(|other| other == point || dominates(other, point)) {
            continue;
        }
        let mut at = 0;
        while at < kept.len() {
            if dominates(point, &kept[at..at + width]) {
                // The last one takes its place.
                let last = kept.len() - width;
                kept.copy_within(last.., at);
                kept.truncate(last);
            } else {
                at += width;
            }
        }
        kept.extend_from_slice(point);
    }
    kept
}
