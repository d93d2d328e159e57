//! What a claim states of its measures.

use super::file::{ClaimKeys, Published, Tolerance};
use super::words::{percent, range};
use crate::model::suggestion;
use crate::study::claims::{ClaimError, Expects, refuse};
use crate::units::counted;

/// The keys for the statement of a claim about a measure.
const RELATIONS: [&str; 10] = [
    "below",
    "above",
    "not-below",
    "not-above",
    "within",
    "falling",
    "rising",
    "gains-up-to",
    "at-least",
    "at-most",
];

/// The statement of a claim about `measures`, or of each of them against the one of `than_measures`.
pub(super) fn expects(
    keys: &ClaimKeys,
    measures: &[String],
    than_measures: &[String],
) -> Result<Expects, ClaimError> {
    if keys.not_comparable.is_some() {
        return match (&keys.relation, &keys.tolerance, &keys.published) {
            (Some(_), ..) | (_, Some(_), _) => refuse(
                "it is `not_comparable`, and has a `relation` or `tolerance`",
                "leave these out: there is nothing to judge",
            ),
            (.., Some(Published::Several(_))) => {
                refuse("it is `not_comparable`, and has several published numbers", "give one, or none")
            }
            (.., Some(Published::One(published))) => Ok(Expects::Shown { published: Some(*published) }),
            (.., None) => Ok(Expects::Shown { published: None }),
        };
    }
    check_several(keys, measures, than_measures)?;
    let bound = is_bound(keys);
    match (&keys.published, keys.relation.as_deref()) {
        (None, Some(_)) if bound => {
            refuse("a bound without its number", "give the number that was published: `published = 0.91`")
        }
        (Some(_), Some(_)) if !bound => {
            refuse("both `published` and `relation`", "a claim is a number or a relation: make it two")
        }
        (None, None) => refuse(
            "neither `published` nor `relation`",
            "give the number that was published with a `tolerance`, or a `relation`",
        ),
        (Some(_), _) if !keys.than.is_empty() || keys.by.is_some() || keys.along.is_some() => refuse(
            "`than`, `by` or `along` beside `published`",
            "these belong to a `relation`, not to a number",
        ),
        (Some(Published::Several(_)), Some(_)) => {
            refuse("several published numbers as a bound", "make it a claim for each of them")
        }
        (Some(Published::Several(_)), None) => Ok(Expects::Table),
        (Some(Published::One(published)), relation) => {
            Ok(number(*published, tolerance(keys, *published)?, relation))
        }
        (None, Some(relation)) => self::relation(relation, keys, measures, than_measures),
    }
}

fn is_bound(keys: &ClaimKeys) -> bool {
    matches!(keys.relation.as_deref(), Some("at-least" | "at-most"))
}

/// The largest difference from a published number that still counts as the same.
fn tolerance(keys: &ClaimKeys, published: f64) -> Result<f64, ClaimError> {
    match &keys.tolerance {
        Some(Tolerance::Number(tolerance)) if *tolerance >= 0.0 => Ok(*tolerance),
        // A bound may be exact.
        None if is_bound(keys) => Ok(0.0),
        Some(Tolerance::Share(text)) => match percent(text).filter(|share| *share >= 0.0) {
            Some(share) => Ok(share * published.abs()),
            None => {
                refuse(format!("`tolerance = \"{text}\"` is not a share"), "such as `\"5 %\"`, or a number")
            }
        },
        _ => refuse(
            "`published` without a `tolerance`",
            "give the largest difference that counts as the same: a number, or `\"5 %\"`",
        ),
    }
}

/// The published numbers of several measures, each with its tolerance; none if there are not several.
pub(super) fn values(keys: &ClaimKeys, measures: &[String]) -> Result<Vec<(f64, f64)>, ClaimError> {
    let Some(Published::Several(published)) = &keys.published else { return Ok(Vec::new()) };
    if published.len() != measures.len() {
        let (numbers, measures) = (published.len(), measures.len());
        return refuse(
            format!("{numbers} published numbers for {measures} measures"),
            "give one for each measure, in their order",
        );
    }
    published.iter().map(|published| Ok((*published, tolerance(keys, *published)?))).collect()
}

/// Checks the keys that claims about each of several measures have, and which statements they go with.
fn check_several(keys: &ClaimKeys, measures: &[String], than_measures: &[String]) -> Result<(), ClaimError> {
    let relation = keys.relation.as_deref().unwrap_or_default();
    let order = matches!(relation, "below" | "above" | "not-below" | "not-above" | "within");
    let steps = matches!(relation, "falling" | "rising") && keys.along.is_some();
    if !than_measures.is_empty() && (!order || than_measures.len() != measures.len()) {
        return refuse(
            format!("{} `than_measures` for {} measures", than_measures.len(), measures.len()),
            "with `below`, `above`, `not-below`, `not-above` or `within`, give one for each measure, in their order",
        );
    }
    if let Some(least) = keys.at_least {
        let each = order || steps || keys.published.is_some();
        if !each || least == 0 || least >= measures.len() {
            return refuse(
                format!("`at_least = {least}` of {}", counted(measures.len(), "measure")),
                "it is for a claim about each of several `measures`: more than none, and fewer than all of them",
            );
        }
    }
    if !keys.gain_over.is_empty() && !order && !steps {
        let hint = "`gain_over` is for a `relation` of gains, such as `above`";
        return refuse("`gain_over` without an order of gains", hint);
    }
    if keys.on_this_log && !order && !matches!(relation, "falling" | "rising") {
        let hint =
            "it is for an order in one run of a log; a number of such a run is compared exactly without it";
        return refuse("`on_this_log` without an order", hint);
    }
    if keys.best.is_some() && measures.len() > 1 {
        return refuse("`best` of several measures", "make it a claim for each measure");
    }
    Ok(())
}

/// The statement that a measure has this value, or is no less or no more.
fn number(published: f64, tolerance: f64, relation: Option<&str>) -> Expects {
    match relation {
        Some("at-least") => Expects::AtLeast { published, tolerance },
        Some("at-most") => Expects::AtMost { published, tolerance },
        _ => Expects::Value { published, tolerance },
    }
}

fn relation(
    relation: &str,
    keys: &ClaimKeys,
    measures: &[String],
    than_measures: &[String],
) -> Result<Expects, ClaimError> {
    if !RELATIONS.contains(&relation) {
        let hint = suggestion(relation, RELATIONS).unwrap_or_else(|| RELATIONS.join(", "));
        return refuse(format!("there is no relation `{relation}`"), hint);
    }
    let row = matches!(relation, "falling" | "rising");
    let few = measures.is_empty() || measures.len() < 2 && keys.along.is_none();
    if row && (few || !keys.than.is_empty()) {
        return refuse(
            format!(
                "`relation = \"{relation}\"` is of a row of measures in the same runs, or of one along an axis"
            ),
            "give two `measures` or more, or an `along`, and no `than`",
        );
    }
    if !row && (measures.is_empty() || keys.than.is_empty() && than_measures.is_empty()) {
        return refuse(
            format!("`relation = \"{relation}\"` is of a measure of some runs against that of others"),
            "give a `measure`, and both `of` and `than`",
        );
    }
    if relation == "gains-up-to" && measures.len() > 1 {
        return refuse("`gains-up-to` of several measures", "make it a claim for each measure");
    }
    if relation == "gains-up-to" {
        return match (keys.by.as_deref().and_then(percent), &keys.along) {
            (Some(published), Some(_)) => Ok(Expects::UpTo { published }),
            (None, _) => {
                refuse("`gains-up-to` needs the greatest gain as `by`", "such as `by = \"31.88 %\"`")
            }
            (_, None) => refuse(
                "`gains-up-to` needs an `along`",
                "name the axis along which the gain is the greatest, such as `along = \"load\"`",
            ),
        };
    }
    if keys.along.is_some() && !row {
        return refuse("`along` is for `gains-up-to`, `falling` and `rising`", "leave it out");
    }
    let by = match (&keys.by, relation) {
        (Some(text), "not-above" | "not-below") if text.contains("..") => {
            return refuse(
                format!("`{relation}` by a range"),
                "give the most that is allowed: `by = \"10 %\"`",
            );
        }
        (None, "within") => return refuse("`within` needs a `by`", "such as `by = \"10 %\"`"),
        (None, _) => None,
        (Some(_), "falling" | "rising") => return refuse("a row has no `by`", "leave it out"),
        (Some(text), _) => match range(text) {
            Some(range) => Some(range),
            None => {
                return refuse(
                    format!("`by = \"{text}\"` is neither a share nor a range of shares"),
                    "such as `\"10 %\"` (at least, or at most with `within`) or `\"10..30 %\"`",
                );
            }
        },
    };
    Ok(match (relation, by) {
        ("below", None) => Expects::Below,
        ("above", None) => Expects::Above,
        ("below", Some((least, most))) => Expects::Change { from: most.map(|most| -most), to: Some(-least) },
        ("above", Some((least, most))) => Expects::Change { from: Some(least), to: most },
        ("not-above", by) => Expects::Change { from: None, to: Some(by.map_or(0.0, |(most, _)| most)) },
        ("not-below", by) => Expects::Change { from: Some(by.map_or(0.0, |(most, _)| -most)), to: None },
        ("within", Some((most, None))) => Expects::Change { from: Some(-most), to: Some(most) },
        ("within", Some((from, Some(to)))) => Expects::Change { from: Some(from), to: Some(to) },
        ("falling", _) => Expects::Falling,
        _ => Expects::Rising,
    })
}
