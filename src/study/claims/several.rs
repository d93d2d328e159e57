//! Statements about each of several measures, or about a number of them.

use super::judge::{JudgedPoint, Says, Verdict};

/// The verdict on a claim that is to hold at each point.
pub(super) fn of_points(points: impl Iterator<Item = Says>) -> Verdict {
    let says: Vec<Says> = points.collect();
    let decided = |says: &Says| matches!(says, Says::Holds | Says::NoDifference);
    if says.contains(&Says::Fails) {
        Verdict::Fails
    } else if says.is_empty() || !says.iter().all(decided) {
        Verdict::Undecided
    } else if says.contains(&Says::NoDifference) {
        Verdict::NoDifference
    } else {
        Verdict::Holds
    }
}

/// The verdict on a claim that is to hold in at least so many measures, at each point.
pub(super) fn of_several(points: &[JudgedPoint], least: usize) -> Verdict {
    of_points(by_place(points.iter()).into_iter().map(|(_, points)| {
        let count = |wanted: &[Says]| points.iter().filter(|point| wanted.contains(&point.says)).count();
        if count(&[Says::Holds]) >= least {
            Says::Holds
        } else if count(&[Says::Holds, Says::NoDifference]) >= least {
            Says::NoDifference
        } else if points.len() - count(&[Says::Fails]) < least {
            Says::Fails
        } else {
            Says::Open
        }
    }))
}

/// The measures of each point, in order.
pub(super) fn by_place<'a>(
    points: impl Iterator<Item = &'a JudgedPoint>,
) -> Vec<(&'a str, Vec<&'a JudgedPoint>)> {
    let mut places: Vec<(&str, Vec<&JudgedPoint>)> = Vec::new();
    for point in points {
        match places.iter_mut().find(|(place, _)| *place == point.place) {
            Some((_, of_place)) => of_place.push(point),
            None => places.push((&point.place, vec![point])),
        }
    }
    places
}

/// How many measures are as stated at each point, and which: `9 of 16 (vs_seq, vs_n, ...)`.
pub(super) fn counted_so(points: &[JudgedPoint]) -> String {
    let told = by_place(points.iter()).into_iter().map(|(place, points)| {
        let so: Vec<&str> = points
            .iter()
            .filter(|point| point.says == Says::Holds)
            .map(|point| point.of_measure.as_str())
            .collect();
        let which = if so.is_empty() { String::new() } else { format!(" ({})", so.join(", ")) };
        let place = if place.is_empty() { String::new() } else { format!("{place}: ") };
        format!("{place}{} of {}{which}", so.len(), points.len())
    });
    told.collect::<Vec<_>>().join("; ")
}
