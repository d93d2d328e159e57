//! Whether a claim fits its campaign.

use super::{Claim, ClaimError, Expects, Side, axis_at, check_labels, refuse};
use crate::study::{Better, MeasureInfo};

/// Checks that the axes and labels that a claim names exist, and that `than` names runs that can be paired.
///
/// Labels of `of` on axes that `than` does not name count for both. Each label on an axis that `of` leaves open is a
/// point, at which both sides must have runs, so `than` may not choose there. Where `of` names several labels, `than` may
/// name one, with which each of them is compared.
///
/// # Errors
/// [`ClaimError`] with the nearest existing name.
pub fn check_claim(
    claim: &Claim,
    axes: &[&str],
    labels: &dyn Fn(usize) -> Vec<String>,
) -> Result<(), ClaimError> {
    let checked = check_sides(claim, axes, labels)
        .and_then(|()| check_over(claim, axes, labels))
        .and_then(|()| check_gain(claim, axes));
    checked.map_err(|error| error.of(&format!("claim `{}`", claim.id)))
}

fn check_sides(
    claim: &Claim,
    axes: &[&str],
    labels: &dyn Fn(usize) -> Vec<String>,
) -> Result<(), ClaimError> {
    for (axis, wanted) in claim.of.iter().chain(&claim.than) {
        let at = axis_at(axes, axis, "")?;
        if wanted.is_empty() {
            let problem = format!("no label of axis `{axis}` is named, so it is about no run");
            return refuse(problem, "name labels, or leave the axis out");
        }
        check_labels(axis, wanted, &labels(at))?;
    }
    for (axis, wanted) in &claim.than {
        let fixed = claim.of.get(axis);
        if claim.best.as_ref() == Some(axis) && wanted.len() == 1 {
            continue;
        }
        if fixed.is_none_or(|labels| labels.len() > 1 && wanted.len() > 1 && labels != wanted) {
            return refuse(
                format!("`than` chooses on axis `{axis}`, and `of` leaves it open: there is nothing to pair"),
                format!("name labels of `{axis}` in `of` too, or leave it out of `than`"),
            );
        }
        let several = fixed.is_some_and(|labels| labels.len() > 1 && labels.contains(&wanted[0]));
        let same = |(other, labels): (&String, &Vec<String>)| {
            other == axis || claim.of.get(other).is_none_or(|of| of == labels)
        };
        if several && wanted.len() == 1 && claim.than.iter().all(same) {
            let problem = format!("`{}` of axis `{axis}` would be compared with itself", wanted[0]);
            return refuse(problem, "leave it out of `of`");
        }
        if fixed.is_some_and(|labels| labels.len() == 1) && wanted.len() > 1 {
            let problem =
                format!("`than` has several labels of axis `{axis}` for one of `of`: two runs of one seed");
            return refuse(problem, "make it a claim for each label");
        }
    }
    Ok(())
}

/// Checks that `gain_over` names runs to which each run of the claim has a gain.
fn check_over(claim: &Claim, axes: &[&str], labels: &dyn Fn(usize) -> Vec<String>) -> Result<(), ClaimError> {
    for (axis, wanted) in &claim.gain_over {
        let at = axis_at(axes, axis, ", which `gain_over` names")?;
        check_labels(axis, wanted, &labels(at))?;
        if wanted.len() != 1 {
            let problem = format!("`gain_over` has {} labels of axis `{axis}`", wanted.len());
            return refuse(problem, "a gain is over one run: name one label");
        }
    }
    Ok(())
}

/// True if a claim is about the runs with the labels `point`: on either side, or as those that gains are over.
pub fn concerns(claim: &Claim, axes: &[&str], point: &[String]) -> bool {
    let mut other = claim.of.clone();
    other.extend(claim.than.clone());
    let over = [&claim.of, &other].map(|side| {
        let mut over = side.clone();
        over.extend(claim.gain_over.clone());
        over
    });
    let meant = |side: &Side| {
        side.iter().all(|(axis, labels)| {
            let at = axes.iter().position(|known| known == axis);
            at.and_then(|at| point.get(at)).is_some_and(|label| labels.contains(label))
        })
    };
    [&claim.of, &other].into_iter().chain(&over).any(meant)
}

/// Checks that `along` and `best` are valid.
fn check_gain(claim: &Claim, axes: &[&str]) -> Result<(), ClaimError> {
    for (key, axis) in [("along", &claim.along), ("best", &claim.best)] {
        let Some(axis) = axis else { continue };
        axis_at(axes, axis, &format!(", which `{key}` names"))?;
        let labels = claim.of.get(axis).map(Vec::len);
        let in_order = matches!(claim.expects, Expects::Falling | Expects::Rising);
        let (open, hint) = match key {
            "along" if in_order => {
                (labels.is_some_and(|count| count > 1), "name its labels in `of`, in the order of the claim")
            }
            "along" => (labels.is_none_or(|count| count > 1), "leave it out of `of`, or name several labels"),
            _ => (labels.is_some_and(|count| count > 1), "name the labels to choose from in `of`"),
        };
        if !open {
            return refuse(format!("`{key} = \"{axis}\"`: `of` leaves nothing to choose there"), hint);
        }
    }
    if let Some(axis) = claim.best.as_ref().filter(|_| !claim.than.is_empty())
        && claim.than.get(axis).is_none_or(|labels| labels.len() != 1)
    {
        let problem = format!(
            "`best = \"{axis}\"`: `than` must name the one label of `{axis}` that the best is compared with"
        );
        return refuse(problem, "name one label of it in `than`");
    }
    let directed =
        claim.best.is_some() || matches!(claim.expects, Expects::UpTo { .. }) || !claim.gain_over.is_empty();
    let aimless = claim.measures.iter().find(|id| MeasureInfo::of(id).better == Better::Neither);
    if let (true, Some(id)) = (directed, aimless) {
        let problem = format!("of two values of `{id}` none is the better one, so there is no gain");
        return refuse(problem, "take a measure such as `mean_wait` or `utilization`");
    }
    Ok(())
}
