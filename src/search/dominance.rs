//! Which points are better than others: domination, fronts and crowding.

use std::cmp::Ordering;

use super::{Points, SearchError};

/// Whether point `a` dominates point `b`: it is nowhere worse, and somewhere better. Equal points do not dominate each other.
///
/// Objectives that only one of them has do not count.
pub fn dominates(a: &[f64], b: &[f64]) -> bool {
    let (mut worse, mut better) = (false, false);
    for (a, b) in a.iter().zip(b) {
        worse |= a > b;
        better |= a < b;
    }
    better && !worse
}

/// Whether `a` dominates `b` under constraints (Deb et al. 2002, section VI): what violates none comes before what does, of two that do
/// the one with the smaller total violation comes first, and otherwise the objectives decide ([`dominates`]).
pub fn constrained_dominates((a, violation_a): (&[f64], f64), (b, violation_b): (&[f64], f64)) -> bool {
    if violation_a > 0.0 || violation_b > 0.0 { violation_a < violation_b } else { dominates(a, b) }
}

/// Orders two points by their first objective, then by the second, and so on: a point that dominates another comes before it.
pub(super) fn lexicographic(a: &[f64], b: &[f64]) -> Ordering {
    a.iter().zip(b).map(|(a, b)| compare(*a, *b)).find(|order| order.is_ne()).unwrap_or(Ordering::Equal)
}

/// Orders two finite numbers; 0 and −0 are equal.
pub(super) fn compare(a: f64, b: f64) -> Ordering {
    a.partial_cmp(&b).unwrap_or(Ordering::Equal)
}

/// The non-dominated fronts of Deb et al. 2002 (section III-A): the first has the indices of the points that none dominates, each
/// further one those that none dominates once the fronts before it are taken away. Indices ascend within a front; equal points are in
/// the same one.
///
/// `violations` has the total violation of constraints of each point, 0 of those that satisfy them all ([`constrained_dominates`]), or is
/// empty if nothing is constrained.
///
/// The fronts are found by inserting the points in lexicographic order (Zhang et al. 2015, "An efficient approach to nondominated
/// sorting", sequential search), so there is no table of n² relations; n points of m objectives take at most O(m n²), and a
/// population takes a fraction of that.
///
/// # Errors
///
/// There are not as many violations as points, or one is negative or not a finite number.
pub fn fronts(points: Points<'_>, violations: &[f64]) -> Result<Vec<Vec<usize>>, SearchError> {
    check_violations(points.len(), violations)?;
    Ok(checked_fronts(points, violations))
}

fn check_violations(points: usize, violations: &[f64]) -> Result<(), SearchError> {
    if !violations.is_empty() && violations.len() != points {
        return Err(SearchError::Violations { violations: violations.len(), points });
    }
    match violations.iter().position(|value| !(value.is_finite() && *value >= 0.0)) {
        Some(point) => Err(SearchError::Violation { point, value: violations[point] }),
        None => Ok(()),
    }
}

/// [`fronts`] of violations that have been checked.
pub(super) fn checked_fronts(points: Points<'_>, violations: &[f64]) -> Vec<Vec<usize>> {
    fronts_of(points, violations, &sorted(points, violations))
}

/// The indices of all points in the order in which none comes before one that dominates it: by violation, by objective after objective, and of equal
/// points by index.
pub(super) fn sorted(points: Points<'_>, violations: &[f64]) -> Vec<usize> {
    let violation = |index: usize| violations.get(index).copied().unwrap_or(0.0);
    let mut order = ascending(points.iter().map(|point| point[0]));
    let rest = |a: &usize, b: &usize| lexicographic(points.at(*a), points.at(*b)).then(a.cmp(b));
    for same in order.chunk_by_mut(|a, b| points.at(*a)[0] == points.at(*b)[0]) {
        same.sort_unstable_by(rest);
    }
    if violations.iter().any(|violation| *violation > 0.0) {
        order.sort_by(|a, b| compare(violation(*a), violation(*b)));
    }
    order
}

/// The places of finite numbers in ascending order, those of equal ones ascending.
fn ascending(values: impl Iterator<Item = f64>) -> Vec<usize> {
    // Whole numbers in the same order, with the place behind: to compare two is one instruction or two.
    let key = |(at, value): (usize, f64)| {
        // Of zero there are two.
        let bits = (value + 0.0).to_bits() as i64;
        let signed = bits ^ ((bits >> 63) as u64 >> 1) as i64;
        i128::from(signed) << 64 | at as i128
    };
    let mut keys: Vec<i128> = values.enumerate().map(key).collect();
    keys.sort_unstable();
    keys.into_iter().map(|key| key as u64 as usize).collect()
}

/// The fronts of those points that `order` has, which are [`sorted`].
pub(super) fn fronts_of(points: Points<'_>, violations: &[f64], order: &[usize]) -> Vec<Vec<usize>> {
    let violation = |index: usize| violations.get(index).copied().unwrap_or(0.0);
    let mut fronts: Vec<Vec<usize>> = Vec::new();
    let feasible = order.partition_point(|index| violation(*index) <= 0.0);
    for &index in &order[..feasible] {
        let point = points.at(index);
        // Those added last are the most alike, so they are asked first.
        let is_dominated =
            |front: &Vec<usize>| front.iter().rev().any(|other| precedes(points.at(*other), point));
        match fronts.iter().position(|front| !is_dominated(front)) {
            Some(front) => fronts[front].push(index),
            None => fronts.push(vec![index]),
        }
    }
    // Of the others, those with the same violation form a front.
    for same in order[feasible..].chunk_by(|a, b| compare(violation(*a), violation(*b)).is_eq()) {
        fronts.push(same.to_vec());
    }
    for front in &mut fronts {
        front.sort_unstable();
    }
    fronts
}

/// Whether `a`, which comes before `b` lexicographically or equals it, dominates `b`.
fn precedes(a: &[f64], b: &[f64]) -> bool {
    // By the first objective it is no worse.
    a.iter().zip(b).skip(1).all(|(a, b)| a <= b) && a != b
}

/// The crowding distance of each point within the set, which is taken as one front (Deb et al. 2002, section III-B): for each objective,
/// the gap between its two neighbours as a share of the range of the set, summed. The extremes of each objective, and all points of a
/// set of two or fewer, are infinitely far.
///
/// Equal values are ordered by index, so of several points at an extreme one alone is infinitely far. An objective that has one value alone
/// says nothing, and is skipped.
pub fn crowding(points: Points<'_>) -> Vec<f64> {
    let all: Vec<usize> = (0..points.len()).collect();
    crowding_of(points, &all)
}

/// The crowding distance of those of `points` that are in `front`, in its order.
pub(super) fn crowding_of(points: Points<'_>, front: &[usize]) -> Vec<f64> {
    if front.len() <= 2 {
        return vec![f64::INFINITY; front.len()];
    }
    let mut distances = vec![0.0; front.len()];
    for objective in 0..points.objectives() {
        let value = |at: usize| points.at(front[at])[objective];
        let sorted = ascending((0..front.len()).map(value));
        let (first, last) = (sorted[0], sorted[sorted.len() - 1]);
        let range = value(last) - value(first);
        if range <= 0.0 {
            continue;
        }
        distances[first] = f64::INFINITY;
        distances[last] = f64::INFINITY;
        for three in sorted.windows(3) {
            distances[three[1]] += gap(value(three[0]), value(three[2]), range);
        }
    }
    distances
}

/// The gap from `low` to `high` as a share of `range`; 0 if the range is more than the greatest number.
pub(super) fn gap(low: f64, high: f64, range: f64) -> f64 {
    if range.is_finite() { (high - low) / range } else { 0.0 }
}
