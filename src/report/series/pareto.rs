//! Pareto fronts from the table of a study.

use super::front::{dominators, front, knee};
use super::groups::ink;
use super::study::{LEVEL, measure_axis, shown};
use crate::report::charts::{ParetoChart, ParetoPoint};
use crate::report::lists::distinct;
use crate::study::{Better, MeasureInfo, StudyPoint, StudyRow, StudyTable};

/// Two measures of some points of a study against each other, each the mean of the runs of a point, with its interval. A point
/// without a mean is not drawn: it would set the axes, and dominates no other.
///
/// Each interval is that of the mean, or, if there is a point `than`, that of the difference to it, paired by seed: seeds differ by far
/// more than variants do, and by the same in all of them.
pub(crate) fn pareto(
    table: &StudyTable,
    variants: &[&StudyPoint<'_>],
    (x, y): (usize, usize),
    colour: Option<usize>,
    than: Option<&StudyPoint<'_>>,
    size: (u32, u32),
) -> ParetoChart {
    let [x_info, y_info] = [x, y].map(|measure| MeasureInfo::of(&table.measures[measure]));
    let less_is_better = (x_info.better != Better::Higher, y_info.better != Better::Higher);
    let means: Vec<Option<(f64, f64)>> =
        variants.iter().map(|variant| rounded(variant.mean(x)).zip(rounded(variant.mean(y)))).collect();
    let on = front(&means, less_is_better);
    let knee = knee(&means, &on, less_is_better);
    // Colours are those of the whole study, so they are the same in each part.
    let kinds = colour.map_or_else(Vec::new, |axis| table.labels(axis));
    // Beside a point stand its labels on the axes that neither its colour nor this part of the study gives.
    let drawn = || variants.iter().zip(&means).filter(|(_, mean)| mean.is_some()).map(|(variant, _)| variant);
    let varied = |axis: &usize| distinct(drawn().map(|variant| &variant.labels[*axis])).len() > 1;
    let mut named: Vec<usize> =
        (0..table.axes.len()).filter(|axis| Some(*axis) != colour && varied(axis)).collect();
    if named.is_empty() {
        named.extend(colour);
    }
    let label = |variant: &StudyPoint<'_>| {
        named.iter().map(|axis| variant.labels[*axis].as_str()).collect::<Vec<_>>().join(", ")
    };
    let mut points: Vec<ParetoPoint> = Vec::new();
    let mut aside = Vec::new();
    for (at, (variant, mean)) in variants.iter().zip(&means).enumerate() {
        let kind = colour.map_or("variant", |axis| variant.labels[axis].as_str());
        let name = table.axes.iter().zip(variant.labels).map(|(axis, label)| format!("{axis} {label}"));
        let name = name.collect::<Vec<_>>().join(", ");
        let Some((a, b)) = *mean else {
            aside.push((name, why(variant, (x, y))));
            continue;
        };
        let interval = |measure: usize, mean: f64| match than {
            None => variant.interval(&variant.values(measure), LEVEL),
            Some(than) if than.labels == variant.labels => None,
            Some(than) => {
                let (low, high) = variant.interval(&differences(variant, than, measure), LEVEL)?;
                let half = (high - low) / 2.0;
                Some((mean - half, mean + half))
            }
        };
        let better = dominators((a, b), &means, &on, less_is_better);
        points.push(ParetoPoint {
            x: a,
            y: b,
            x_interval: interval(x, a),
            y_interval: interval(y, b),
            kind: kind.to_owned(),
            ink: ink(kinds.iter().position(|found| *found == kind).unwrap_or(0)),
            front: on[at],
            knee: knee == Some(at),
            dominated_by: better.into_iter().map(|other| label(variants[other])).collect(),
            label: label(variant),
            title: format!(
                "{name}\n{} and {} (mean of {} runs)",
                shown(a),
                shown(b),
                variant.values(x).len()
            ),
        });
    }
    let xs: Vec<_> = points.iter().map(|point| (point.x, point.x_interval)).collect();
    let ys: Vec<_> = points.iter().map(|point| (point.y, point.y_interval)).collect();
    ParetoChart {
        title: format!("{} against {}", x_info.title, y_info.title),
        x: measure_axis(&x_info, reach(&xs), false),
        y: measure_axis(&y_info, reach(&ys), false),
        less_is_better,
        points,
        aside,
        size,
    }
}

/// The differences of the runs of a point to those of another with the same seed, in a measure that both have.
fn differences(of: &StudyPoint<'_>, than: &StudyPoint<'_>, measure: usize) -> Vec<f64> {
    let value = |row: &StudyRow| row.values.get(measure).copied().flatten().filter(|value| value.is_finite());
    let other = |seed: u64| than.done().find(|row| row.seed == seed).and_then(value);
    of.done().filter_map(|row| Some(value(row)? - other(row.seed)?)).collect()
}

/// A mean to twelve digits: one of the same values in another order does not dominate it.
fn rounded(mean: Option<f64>) -> Option<f64> {
    let digits = |mean: f64| libm::pow(10.0, 11.0 - libm::floor(libm::log10(mean.abs())));
    mean.map(|mean| {
        if mean == 0.0 || !mean.is_finite() { mean } else { libm::round(mean * digits(mean)) / digits(mean) }
    })
}

/// Why a point of a study has no mean.
fn why(point: &StudyPoint<'_>, (x, y): (usize, usize)) -> String {
    let (failed, growing, runs) = (point.failed(), point.growing(), point.runs.len());
    match () {
        () if failed > 0 => format!("{failed} of {runs} runs failed"),
        () if growing > 0 => format!("{growing} of {runs} runs are unstable"),
        () if point.values(x).is_empty() || point.values(y).is_empty() => {
            "no run has both measures".to_owned()
        }
        () => "no mean".to_owned(),
    }
}

/// What an axis shows: the means, and their intervals as far as the means still span about a fifth of the axis.
fn reach(points: &[(f64, Option<(f64, f64)>)]) -> impl Iterator<Item = f64> {
    let (low, high) = points
        .iter()
        .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), (mean, _)| (low.min(*mean), high.max(*mean)));
    // A single mean has its whole interval.
    let beyond = if high > low { (high - low) * 2.0 } else { f64::INFINITY };
    // Marks are not cut by the frame.
    let margin = if high > low { (high - low) * 0.03 } else { 0.0 };
    points.iter().flat_map(move |(mean, interval)| {
        let (one, other) = interval.unwrap_or((*mean, *mean));
        let least = if *mean > 0.0 { mean * 0.5 } else { f64::NEG_INFINITY };
        [one.max(low - beyond), (mean - margin).max(least), mean + margin, other.min(high + beyond)]
    })
}
