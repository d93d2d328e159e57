//! Runs against runs: what differs, by how much, how surely, and where nothing may be said.
//!
//! Two kinds of comparison, by what is independent in them: [`compare_study`] pairs the runs of a study by their seeds;
//! [`compare_jobs`] pairs the jobs of two runs of one workload, and resamples its weeks. Both end in the same cell, a
//! [`Contrast`], and both refuse a difference where the two sides did not do the same work: means over the jobs that
//! ended well say nothing if on one side the hard ones did not.

mod jobs;
mod study;

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use super::statistics::{Evidence, Paired, WeekBootstrap, holm};
use super::{Better, MeasureInfo};

pub use jobs::{JOB_MEASURES, JobChange, JobComparison, JobOutcome, JobQuestion, compare_jobs};
pub use study::{CompareError, StudyComparison, StudyQuestion, compare_study};

/// How jobs count that did not end alike on both sides.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Charge {
    /// They are left out of both sides; of a study, so are the seeds in which there are such jobs.
    LeaveOut,
    /// On the side where a job did not run to its end it counts as if it had started when the longer run was over.
    ToTheEnd,
}

/// What a difference is called.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Says {
    /// The variant is on the better side of the baseline.
    Better,
    /// The variant is on the worse side.
    Worse,
    /// The variant is lower, which is neither better nor worse.
    Lower,
    /// The variant is higher, which is neither better nor worse.
    Higher,
    /// No difference that luck does not explain.
    NoDifference,
    /// No difference in any pair: there is nothing to test.
    Same,
    /// There is nothing to say: see the reason.
    Nothing,
}

/// A cell of a comparison: one measure of one group, under the baseline and under a variant.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Contrast {
    /// Of what: the point on the other axes of a study, the class or site of jobs.
    pub of: Vec<String>,
    /// The variant.
    pub variant: String,
    /// Id of the measure.
    pub measure: String,
    /// Pairs: of seeds, or of jobs.
    pub pairs: usize,
    /// Mean under the baseline.
    pub baseline_mean: Option<f64>,
    /// Mean under the variant.
    pub variant_mean: Option<f64>,
    /// Variant less baseline.
    pub difference: Option<f64>,
    /// Lower end of the interval of the difference.
    pub low: Option<f64>,
    /// Upper end of the interval of the difference.
    pub high: Option<f64>,
    /// The p value of this cell alone.
    pub p_value: Option<f64>,
    /// The p value after Holm's correction over all cells of the table.
    pub adjusted_p: Option<f64>,
    /// How much the pairs carry.
    pub evidence: Evidence,
    /// What the difference is called, by the corrected p value. [`Says::Nothing`] where the evidence makes no verdict.
    pub says: Says,
    /// Which way it goes: the same, also where the evidence makes a smoke test only.
    pub leans: Says,
    /// Why there is no difference or no interval, or what was left out.
    pub note: Option<String>,
}

/// What is below this after correction is called a difference.
pub const ALPHA: f64 = 0.05;

impl Contrast {
    /// A cell with nothing in it yet.
    fn empty(of: Vec<String>, variant: &str, measure: &str) -> Self {
        Self {
            of,
            variant: variant.to_owned(),
            measure: measure.to_owned(),
            pairs: 0,
            baseline_mean: None,
            variant_mean: None,
            difference: None,
            low: None,
            high: None,
            p_value: None,
            adjusted_p: None,
            evidence: Evidence::Nothing,
            says: Says::Nothing,
            leans: Says::Nothing,
            note: None,
        }
    }

    fn with_paired(self, found: &Paired) -> Self {
        Self {
            pairs: found.n,
            baseline_mean: Some(found.mean_a),
            variant_mean: Some(found.mean_b),
            difference: Some(found.difference),
            low: Some(found.low),
            high: Some(found.high),
            p_value: Some(found.p_value),
            evidence: Evidence::of_seeds(found.n),
            ..self
        }
    }

    /// The two sides are the same in each of `pairs` pairs: that is no sample of differences, but how the two work.
    fn same(self, pairs: usize, mean: f64) -> Self {
        Self {
            pairs,
            baseline_mean: Some(mean),
            variant_mean: Some(mean),
            difference: Some(0.0),
            says: Says::Same,
            leans: Says::Same,
            ..self
        }
    }

    /// What tells it from other cells of its table. Cells with the same figures of the same measure are of the same jobs, under several names: all
    /// jobs, those of the only site, those of its users.
    fn figures(&self) -> (&[String], &str, &str, usize, [u64; 5]) {
        let last = self.measure.rsplit('.').next().unwrap_or(&self.measure);
        let figures = [self.baseline_mean, self.variant_mean, self.low, self.high, self.p_value];
        let bits = figures.map(|figure| figure.unwrap_or(f64::NAN).to_bits());
        (&self.of, &self.variant, last, self.pairs, bits)
    }

    fn with_weeks(self, found: &WeekBootstrap) -> Self {
        Self {
            pairs: found.jobs as usize,
            baseline_mean: Some(found.mean_a),
            variant_mean: Some(found.mean_b),
            difference: Some(found.difference),
            low: Some(found.low),
            high: Some(found.high),
            p_value: Some(found.p_value),
            evidence: Evidence::of_seeds(found.weeks),
            ..self
        }
    }
}

/// Runs that were compared job by job, all of them with the first.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RunsComparison {
    /// The runs; the first is the baseline.
    pub runs: Vec<ComparedRun>,
    /// Bound of the bounded slowdown, in seconds.
    pub tau_s: f64,
    /// Level of the intervals.
    pub level: f64,
    /// How jobs counted that did not end alike, if that was said.
    pub charge: Option<Charge>,
    /// Each run but the first, against it.
    pub pairs: Vec<JobComparison>,
    /// Measures of each run as a whole, which a single run has no interval for: a value for each run.
    pub whole: Vec<(String, Vec<Option<f64>>)>,
}

/// One of the runs that are compared.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ComparedRun {
    /// What tells it from the others.
    pub name: String,
    /// What it is called itself.
    pub title: String,
    /// Whether its backlog still grew at its end: then it has no means.
    pub grows: bool,
}

impl RunsComparison {
    /// Takes the means away where a run's backlog still grows, corrects all cells together, and says what they say.
    pub fn settle(&mut self) {
        let growing = |name: &str| self.runs.iter().any(|run| run.grows && run.name == name);
        let baseline = self.runs.first().is_some_and(|run| run.grows);
        let mut cells = Vec::new();
        for pair in &mut self.pairs {
            let grows = match (baseline, growing(&pair.variant)) {
                (true, _) => Some(&pair.baseline),
                (_, true) => Some(&pair.variant),
                _ => None,
            };
            for cell in &mut pair.cells {
                if let Some(name) = grows {
                    *cell = Contrast {
                        note: Some(format!("no mean: the backlog of {name} still grows at its end")),
                        ..Contrast::empty(std::mem::take(&mut cell.of), &cell.variant, &cell.measure)
                    };
                }
            }
            cells.append(&mut pair.cells.clone());
        }
        settle(&mut cells);
        let mut cells = cells.into_iter();
        for pair in &mut self.pairs {
            let of_pair = pair.cells.len();
            pair.cells = cells.by_ref().take(of_pair).collect();
        }
    }
}

/// How many tests there are in a table: cells with a p value, and of those that are the same test under several names, one.
pub fn tests_of(cells: &[&Contrast]) -> usize {
    let tested = cells.iter().filter(|cell| cell.p_value.is_some());
    tested.map(|cell| cell.figures()).collect::<BTreeSet<_>>().len()
}

/// Corrects the p values of all cells of one table for the number of [tests](tests_of), and says what each difference is called.
pub fn settle(cells: &mut [Contrast]) {
    let mut raw: Vec<f64> = Vec::new();
    let mut places = BTreeMap::new();
    let place = cells.iter().map(|cell| {
        let p = cell.p_value?;
        let place = *places.entry(cell.figures()).or_insert(raw.len());
        if place == raw.len() {
            raw.push(p);
        }
        Some(place)
    });
    let place: Vec<Option<usize>> = place.collect();
    let adjusted = holm(&raw);
    for (cell, place) in cells.iter_mut().zip(place) {
        cell.adjusted_p = place.and_then(|place| adjusted.get(place).copied());
        let (Some(p), Some(difference)) = (cell.adjusted_p, cell.difference) else { continue };
        let better = MeasureInfo::of(&cell.measure).better;
        cell.leans = match (cell.evidence, p < ALPHA, difference < 0.0, better) {
            (Evidence::Nothing, ..) => Says::Nothing,
            (_, false, ..) => Says::NoDifference,
            (_, _, true, Better::Lower) | (_, _, false, Better::Higher) => Says::Better,
            (_, _, true, Better::Higher) | (_, _, false, Better::Lower) => Says::Worse,
            (_, _, true, Better::Neither) => Says::Lower,
            (_, _, false, Better::Neither) => Says::Higher,
        };
        cell.says = if cell.evidence == Evidence::Verdict { cell.leans } else { Says::Nothing };
    }
}
