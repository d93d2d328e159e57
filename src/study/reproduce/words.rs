//! Shares, ranges, and names with braces.

use crate::study::claims::{ClaimError, refuse};

/// Parses `5 %` as 0.05.
pub(super) fn percent(text: &str) -> Option<f64> {
    let number: f64 = text.trim().strip_suffix('%')?.trim().parse().ok()?;
    number.is_finite().then_some(number / 100.0)
}

/// Parses `10 %` as (0.1, none), `10..30 %` as (0.1, 0.3).
pub(super) fn range(text: &str) -> Option<(f64, Option<f64>)> {
    match text.split_once("..") {
        None => percent(text).filter(|share| *share >= 0.0).map(|share| (share, None)),
        Some((from, to)) => {
            let to = percent(to)?;
            let from = percent(&format!("{} %", from.trim().trim_end_matches('%').trim_end()))?;
            (from <= to).then_some((from, Some(to)))
        }
    }
}

/// The names that a name with braces stands for: `class.{vs,s}_{seq,n}.mean_wait` is four, of which the last braces vary fastest.
pub(super) fn braces(name: &str) -> Result<Vec<String>, ClaimError> {
    let Some((before, rest)) = name.split_once('{') else {
        return match name.contains('}') {
            true => refuse(
                format!("`{name}` closes a brace that is not open"),
                "such as `class.{vs,s}_seq.mean_wait`",
            ),
            false => Ok(vec![name.to_owned()]),
        };
    };
    let inner = rest.split_once('}').filter(|(words, _)| !words.contains('{'));
    let Some((words, after)) =
        inner.filter(|(words, _)| words.split(',').all(|word| !word.trim().is_empty()))
    else {
        return refuse(
            format!("`{name}` has a brace that is not closed, or an empty word in braces"),
            "such as `class.{vs,s}_seq.mean_wait`",
        );
    };
    let ends = braces(after)?;
    let all =
        words.split(',').flat_map(|word| ends.iter().map(move |end| format!("{before}{}{end}", word.trim())));
    Ok(all.collect())
}
