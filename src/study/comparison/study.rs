//! Compares the variants of a study, paired by seed.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::by_seed::{Column, Runs, contrast};
use super::{Charge, CompareOptions, Contrast, settle};
use crate::experiment::RunError;
use crate::model::{did_you_mean, suggestion};
use crate::scenario::listed;
use crate::study::StudyTable;
use crate::study::statistics::Evidence;

/// The variants of a study compared with one of them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct StudyComparison {
    /// The name of the study.
    pub study: String,
    /// The axis that is compared.
    pub by: String,
    /// The label with which the others are compared.
    pub baseline: String,
    /// The labels that are compared with it.
    pub variants: Vec<String>,
    /// The other axes: [`Contrast::of`] has a label of each.
    pub axes: Vec<String>,
    /// Level of the intervals.
    pub level: f64,
    /// How jobs with different outcomes counted, if the options do.
    pub charge: Option<Charge>,
    /// The share of jobs that may have different outcomes.
    pub tolerance: f64,
    /// Fewest and most pairs of a cell that has any, without cells where every seed gave the same run.
    pub seeds: Option<(usize, usize)>,
    /// The evidence of the weakest cell.
    pub evidence: Evidence,
    /// Runs that failed; their pairs are refused, or left out if the question says so.
    pub failed: usize,
    /// The cells.
    pub cells: Vec<Contrast>,
}

/// Compares the variants of a study with one of them, seed by seed, at each point of the other axes.
///
/// Measures of whole runs (energy, cost, wasted work) are always compared. In a measure of jobs, pairs with an unstable run (its
/// backlog grows, so that its means depend on its length) are left out. Where more jobs than are tolerated have different outcomes, the
/// cell has no difference, unless the question gives a way to charge them; the same holds for a run that failed, since the policy may
/// be the cause. Where every seed gave the same run there is one pair, and no interval. The p values of all cells are corrected
/// together.
///
/// # Errors
/// A bad request, if the options name what the study does not have.
pub fn compare_study(table: &StudyTable, options: &CompareOptions) -> Result<StudyComparison, RunError> {
    let by = axis_of(table, options)?;
    let labels: Vec<String> = table.labels(by).into_iter().map(str::to_owned).collect();
    let label = |axis: usize, label: &str| {
        let known = table.labels(axis);
        if known.contains(&label) {
            return Ok(());
        }
        let problem =
            format!("axis `{}` has no `{label}`; it has {}", table.axes[axis], listed(known.iter().copied()));
        Err(RunError::request(problem).with_maybe_hint(suggestion(label, known)))
    };
    let mut only: BTreeMap<usize, Vec<&str>> = BTreeMap::new();
    for (axis, wanted) in &options.only {
        let at = find_axis(table, axis)?;
        label(at, wanted)?;
        only.entry(at).or_default().push(wanted);
    }
    let counts = |at: usize, label: &str| only.get(&at).is_none_or(|wanted| wanted.contains(&label));
    let baseline = match &options.baseline {
        Some(wanted) => {
            label(by, wanted)?;
            wanted.clone()
        }
        None => {
            let possible: Vec<&String> = labels.iter().filter(|label| counts(by, label)).collect();
            let named = table.baseline.as_ref().filter(|named| possible.contains(named));
            named.or(possible.first().copied()).cloned().unwrap_or_default()
        }
    };
    let variants: Vec<String> =
        labels.into_iter().filter(|label| *label != baseline && counts(by, label)).collect();
    if variants.is_empty() {
        let axis = &table.axes[by];
        let problem = format!("axis `{axis}` has `{baseline}` only: there is nothing to compare it with");
        return Err(RunError::request(problem).with_hint("compare by another axis, with `--by`"));
    }
    let measures = measures_of(table, options)?;
    let others: Vec<usize> = (0..table.axes.len()).filter(|axis| *axis != by).collect();
    let mut failed = 0;
    // The points of the other axes in the order of the table, each with the runs of a label by their seeds.
    let mut places: BTreeMap<Vec<&str>, usize> = BTreeMap::new();
    let mut points: Vec<(Vec<&str>, BTreeMap<&str, Runs<'_>>)> = Vec::new();
    for point in table.points() {
        let wanted = others.iter().all(|at| counts(*at, &point.labels[*at]));
        let compared = point.labels[by] == baseline || variants.contains(&point.labels[by]);
        if !wanted || !compared {
            continue;
        }
        failed += point.failed();
        let place: Vec<&str> = others.iter().map(|at| point.labels[*at].as_str()).collect();
        let at = *places.entry(place.clone()).or_insert(points.len());
        if at == points.len() {
            points.push((place, BTreeMap::new()));
        }
        let runs = point.runs.iter().map(|row| (row.seed, *row)).collect();
        points[at].1.insert(&point.labels[by], runs);
    }
    let no_runs = BTreeMap::new();
    let mut cells = Vec::new();
    for (place, runs) in &points {
        let of = |label: &str| runs.get(label).unwrap_or(&no_runs);
        let place: Vec<String> = place.iter().map(|label| (*label).to_owned()).collect();
        for (name, at) in &measures {
            for variant in &variants {
                let cell = Contrast::empty(place.clone(), variant, name);
                cells.push(contrast(cell, of(&baseline), of(variant), Column::of(table, *at), options));
            }
        }
    }
    settle(&mut cells);
    let counts = |cell: &&Contrast| cell.difference.is_some() && !cell.one_run;
    let pairs = || cells.iter().filter(counts).map(|cell| cell.pairs);
    let seeds = pairs().min().zip(pairs().max());
    Ok(StudyComparison {
        study: table.name.clone(),
        by: table.axes[by].clone(),
        baseline,
        variants,
        axes: others.into_iter().map(|at| table.axes[at].clone()).collect(),
        level: options.level,
        charge: options.charge,
        tolerance: options.tolerance,
        seeds,
        evidence: seeds.map_or(Evidence::Nothing, |(least, _)| Evidence::of_seeds(least)),
        failed,
        cells,
    })
}

fn find_axis(table: &StudyTable, axis: &str) -> Result<usize, RunError> {
    table.axis(axis).ok_or_else(|| {
        let known = || table.axes.iter().map(String::as_str);
        let problem = format!("the campaign has no axis `{axis}`; its axes are {}", listed(known()));
        RunError::request(problem).with_maybe_hint(suggestion(axis, known()))
    })
}

fn axis_of(table: &StudyTable, options: &CompareOptions) -> Result<usize, RunError> {
    match (&options.by, table.axes.as_slice()) {
        (Some(axis), _) => find_axis(table, axis),
        (None, [_]) => Ok(0),
        (None, axes) => table.axis("policy").ok_or_else(|| {
            let known = listed(axes.iter().map(String::as_str));
            RunError::request(format!("the campaign has several axes ({known}); select one"))
                .with_maybe_hint(axes.first().map(|axis| format!("use `--by {axis}`")))
        }),
    }
}

fn measures_of(table: &StudyTable, options: &CompareOptions) -> Result<Vec<(String, usize)>, RunError> {
    if options.measures.is_empty() {
        return Ok(table.shown().into_iter().map(|at| (table.measures[at].clone(), at)).collect());
    }
    let found = options.measures.iter().map(|wanted| {
        table.measure(wanted).map(|at| (wanted.clone(), at)).ok_or_else(|| {
            let near = did_you_mean(table.nearest_measure(wanted));
            let known = listed(table.shown().into_iter().map(|at| table.measures[at].as_str()));
            RunError::request(format!("the table has no measure `{wanted}`{near}; it has {known}")).with_hint(
                "a campaign keeps all measures of its runs: `gridemu compare FILE` of the campaign's file takes any of them",
            )
        })
    });
    found.collect()
}

#[cfg(test)]
mod tests;
