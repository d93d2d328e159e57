//! Pareto fronts of points in two measures, and their knees.

/// For each of two measures, whether less is better.
pub(super) type Less = (bool, bool);

/// A point such that less is better in both measures.
fn turned((x, y): (f64, f64), less: Less) -> (f64, f64) {
    (if less.0 { x } else { -x }, if less.1 { y } else { -y })
}

/// Which points are on the Pareto front: no other point is at least as good in both measures and better in one. Points without a
/// value are not on it.
pub(super) fn front(points: &[Option<(f64, f64)>], less_is_better: Less) -> Vec<bool> {
    let mut order: Vec<(usize, (f64, f64))> = points
        .iter()
        .enumerate()
        .filter_map(|(at, point)| Some((at, turned((*point)?, less_is_better))))
        .collect();
    order.sort_by(|(_, a), (_, b)| a.0.total_cmp(&b.0).then(a.1.total_cmp(&b.1)));
    let mut on = vec![false; points.len()];
    let mut best: Option<(f64, f64)> = None;
    for (at, point) in order {
        // In this order all points that could dominate it came before, so it must be better in the second measure or equal to the
        // last.
        if best.is_none_or(|best| point.1 < best.1 || point == best) {
            on[at] = true;
            best = Some(point);
        }
    }
    on
}

/// The points of the front that dominate a point: at least as good in both measures and better in one. `on` tells which points are
/// on the front. Whatever dominates a point, a point of the front does.
pub(super) fn dominators(
    point: (f64, f64),
    points: &[Option<(f64, f64)>],
    on: &[bool],
    less_is_better: Less,
) -> Vec<usize> {
    let point = turned(point, less_is_better);
    let dominates = |other: (f64, f64)| {
        let other = turned(other, less_is_better);
        other != point && other.0 <= point.0 && other.1 <= point.1
    };
    let all = points.iter().zip(on).enumerate();
    all.filter(|(_, (other, on))| **on && other.is_some_and(dominates)).map(|(at, _)| at).collect()
}

/// The knee of a front: with both measures scaled to the range of the front, the point that is farthest from the chord between its
/// ends, on the better side. `None` if no point is: between two points, or if the front bulges the other way.
pub(super) fn knee(points: &[Option<(f64, f64)>], on: &[bool], less_is_better: Less) -> Option<usize> {
    let all = points.iter().zip(on).enumerate().filter(|(_, (_, on))| **on);
    let front: Vec<(usize, (f64, f64))> =
        all.filter_map(|(at, (point, _))| Some((at, turned((*point)?, less_is_better)))).collect();
    let range = |of: fn((f64, f64)) -> f64| {
        let values = || front.iter().map(|(_, point)| of(*point));
        (values().fold(f64::INFINITY, f64::min), values().fold(f64::NEG_INFINITY, f64::max))
    };
    let (x, y) = (range(|point| point.0), range(|point| point.1));
    // The ends are (0, 1) and (1, 0) when scaled, so this is the distance from their chord, times the square root of 2.
    let beyond = |point: (f64, f64)| 1.0 - (point.0 - x.0) / (x.1 - x.0) - (point.1 - y.0) / (y.1 - y.0);
    let mut best: Option<(usize, f64)> = None;
    for (at, point) in front {
        let distance = beyond(point);
        // More than a rounding error. Of several points the first.
        if distance > best.map_or(0.0, |(_, most)| most) + 1e-9 {
            best = Some((at, distance));
        }
    }
    best.map(|(at, _)| at)
}
