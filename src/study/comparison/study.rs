//! Compares the variants of a study, paired by seed.

mod question;

use std::collections::BTreeMap;

pub(crate) use question::Asked;
use question::measures_of;
use serde::{Deserialize, Serialize};

use super::by_seed::{Column, Runs, contrast};
use super::{Charge, CompareOptions, Contrast, settle};
use crate::experiment::RunError;
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
    let Asked { by, only, baseline, variants } = Asked::of(table, options)?;
    let counts = |at: usize, label: &str| only.get(&at).is_none_or(|wanted| wanted.contains(&label));
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
        let runs = point.runs.iter().map(|row| ((table.place(row.seed), row.seed), *row)).collect();
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

#[cfg(test)]
mod tests;
