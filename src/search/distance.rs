//! How far a front is from what was found.

use super::{Points, SearchError};

/// The inverted generational distance: the mean, over the points of `front`, of the Euclidean distance to the nearest point that was
/// found (Coello and Reyes Sierra 2004). 0 if the front was found as it is. In the units of the objectives, which should be alike.
///
/// # Errors
///
/// One of the sets is empty, or they have not the same number of objectives.
pub fn igd(found: Points<'_>, front: Points<'_>) -> Result<f64, SearchError> {
    mean_distance(found, front, |found, wanted| found - wanted)
}

/// The modified inverted generational distance, IGD+ (Ishibuchi et al. 2015): as [`igd`], but where what was found is better than the
/// point of the front there is no distance. Unlike IGD, it never gets better when points get worse.
///
/// # Errors
///
/// Those of [`igd`].
pub fn igd_plus(found: Points<'_>, front: Points<'_>) -> Result<f64, SearchError> {
    mean_distance(found, front, |found, wanted| (found - wanted).max(0.0))
}

fn mean_distance(
    found: Points<'_>,
    front: Points<'_>,
    difference: impl Fn(f64, f64) -> f64,
) -> Result<f64, SearchError> {
    front.must_match("what was found", found.objectives())?;
    for (what, points) in [("what was found", found), ("the front", front)] {
        if points.is_empty() {
            return Err(SearchError::NoPoints(what));
        }
    }
    let distance = |wanted: &[f64]| {
        let squares = found.iter().map(|found| -> f64 {
            let squares = found.iter().zip(wanted).map(|(found, wanted)| {
                let difference = difference(*found, *wanted);
                difference * difference
            });
            squares.sum()
        });
        squares.fold(f64::INFINITY, f64::min).sqrt()
    };
    Ok(front.iter().map(distance).sum::<f64>() / front.len() as f64)
}
