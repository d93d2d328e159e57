//! Gains: the best of several runs, and the greatest along an axis.

use std::collections::BTreeMap;

use super::measured::{Sample, is_one, pairs_of};
use crate::study::{Better, RunStatus, StudyPoint, StudyRow};

/// A point of `of`, and the corresponding one of `than`.
pub(super) type Against<'a, 'b> = (&'b StudyPoint<'a>, Option<&'b StudyPoint<'a>>);

/// Among points at one place, for each seed the run with the best value; if one of them failed, the failed one.
pub(super) fn best_of<'a>(
    points: Vec<(Vec<&'a str>, &StudyPoint<'a>)>,
    measure: usize,
    better: Better,
) -> Vec<(Vec<&'a str>, StudyPoint<'a>)> {
    let mut places: Vec<(Vec<&str>, StudyPoint<'_>)> = Vec::new();
    let mut known: BTreeMap<Vec<&str>, usize> = BTreeMap::new();
    for (place, point) in points {
        let at = *known.entry(place.clone()).or_insert(places.len());
        if at == places.len() {
            places.push((place, point.clone()));
            continue;
        }
        let there = &mut places[at].1.runs;
        let mut of_seed: BTreeMap<u64, usize> =
            there.iter().enumerate().rev().map(|(at, row)| (row.seed, at)).collect();
        for row in &point.runs {
            let at = *of_seed.entry(row.seed).or_insert(there.len());
            match there.get_mut(at) {
                Some(other) if is_better(row, other, measure, better) => *other = row,
                Some(_) => {}
                None => there.push(row),
            }
        }
    }
    places
}

fn is_better(row: &StudyRow, than: &StudyRow, measure: usize, better: Better) -> bool {
    match (&row.status, &than.status, row.values[measure], than.values[measure]) {
        (_, RunStatus::Failed(_), ..) => false,
        (RunStatus::Failed(_), ..) => true,
        (.., Some(value), Some(other)) => match better {
            Better::Higher => value > other,
            _ => value < other,
        },
        (.., value, _) => value.is_some(),
    }
}

/// For each seed, the greatest gain over the points.
pub(super) fn greatest(
    at: String,
    pairs: &[Against<'_, '_>],
    measure: usize,
    better: Better,
    drawn: &dyn Fn(u64) -> bool,
) -> Sample {
    let seeds = pairs.first().map_or(0, |(of, _)| of.runs.len());
    let mut gains: BTreeMap<u64, (usize, f64)> = BTreeMap::new();
    for (of, than) in pairs {
        let values = match pairs_of((of, measure), than.map(|than| (than, measure))) {
            Ok(values) => values,
            Err(note) => return Sample::nothing(at, seeds, note),
        };
        for (seed, of, than) in values {
            let gain = match better {
                Better::Higher => of / than - 1.0,
                _ => 1.0 - of / than,
            };
            if gain.is_finite() {
                let (count, most) = gains.entry(seed).or_insert((0, f64::NEG_INFINITY));
                *count += 1;
                *most = most.max(gain);
            }
        }
    }
    let whole = gains.values().filter(|(count, _)| *count == pairs.len());
    let of: Vec<f64> = whole.map(|(_, gain)| *gain).collect();
    let missing = seeds.saturating_sub(of.len());
    let note = (missing > 0).then(|| format!("{missing} of {seeds} seeds have no value at some point"));
    let one_run = pairs
        .iter()
        .all(|(of, than)| is_one(&of.runs, drawn) && than.is_none_or(|than| is_one(&than.runs, drawn)));
    Sample { of, note, one_run, ..Sample::nothing(at, seeds, String::new()) }
}
