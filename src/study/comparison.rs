//! Comparisons of runs: the differences, their intervals, and the cases that allow no conclusion.
//!
//! There are two kinds of comparison, by what is independent in them: [`compare_study`] pairs the runs of a study by
//! their seeds; [`compare_jobs`] pairs the jobs of two runs of one workload, and resamples its weeks. Both give the same
//! kind of cell, a [`Contrast`], and both refuse a difference where the two sides did not do the same work, except for a few tolerated jobs: means over
//! completed jobs are not comparable if on one side the difficult jobs did not complete.

mod by_seed;
mod changes;
mod jobs;
mod study;
mod weekly;
mod workflows;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::statistics::{Effect, Evidence, holm};
use super::{Better, MeasureInfo};

pub use changes::JobChange;
pub use jobs::{JobComparison, JobOutcome, JobQuestion, compare_jobs};
pub(crate) use study::Asked;
pub use study::{StudyComparison, compare_study};
pub use weekly::{RunJobs, by_week};
pub use workflows::{compare_workflows, workflow_outcome};

/// How jobs with different outcomes on the two sides count.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Charge {
    /// They are left out on both sides; in a study, so are the seeds with such jobs.
    LeaveOut,
    /// On the side where a job did not run to its end it counts as if it had started at the end of the longer run; in a study, at the
    /// end of its own run.
    ToTheEnd,
}

/// The share of the jobs of a pair that may have different outcomes, by default.
pub const TOLERANCE: f64 = 0.01;

/// The options of a comparison.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CompareOptions {
    /// The axis of a study whose labels are compared; by default the only one, or `policy`.
    pub by: Option<String>,
    /// The baseline, with which the others are compared: a label, or the name of a run; by default the first.
    pub baseline: Option<String>,
    /// Labels of other axes of a study that count; all labels of an axis that is not named.
    pub only: Vec<(String, String)>,
    /// Ids of measures; by default all of the table, or a selection of those of runs.
    pub measures: Vec<String>,
    /// How jobs with different outcomes count.
    pub charge: Option<Charge>,
    /// The share of the jobs of a pair that may have different outcomes where nothing says how they count, such as 0.01. The jobs that
    /// ran to their end are compared then, and the difference with all of them is given too.
    pub tolerance: f64,
    /// True if each run is a whole piece of work (a terminating simulation), so that unstable runs are compared like any other.
    pub finite: bool,
    /// Level of the intervals, 0.95 for 95 %.
    pub level: f64,
    /// How many of the jobs with the largest gains and losses are listed.
    pub top: usize,
    /// Seed of the bootstrap's draws.
    pub seed: u64,
}

/// The conclusion on a difference.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Conclusion {
    /// The variant is better than the baseline.
    Better,
    /// The variant is worse than the baseline.
    Worse,
    /// The variant is lower, which is neither better nor worse.
    Lower,
    /// The variant is higher, which is neither better nor worse.
    Higher,
    /// There is no difference beyond chance.
    NoDifference,
    /// There is no difference in any pair, so there is nothing to test. This holds for these pairs, however few they are.
    Same,
    /// No conclusion; the note gives the reason.
    Nothing,
}

/// A cell of a comparison: one measure of one group, under the baseline and under a variant.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Contrast {
    /// The group: the point on the other axes of a study, or the class or site of jobs.
    pub of: Vec<String>,
    /// The variant.
    pub variant: String,
    /// Id of the measure.
    pub measure: String,
    /// The number of pairs: of seeds, or of jobs.
    pub pairs: usize,
    /// In a study, true if every seed gave the same run on each side, because nothing in it is drawn. That is one pair, and not a
    /// sample.
    pub one_run: bool,
    /// Mean under the baseline.
    pub baseline_mean: Option<f64>,
    /// Mean under the variant.
    pub variant_mean: Option<f64>,
    /// The variant minus the baseline.
    pub difference: Option<f64>,
    /// The difference if the jobs that did not run to their end are charged to it, where they are tolerated and left out of
    /// `difference`: the other end of the effect.
    #[serde(default)]
    pub charged: Option<f64>,
    /// Lower end of the interval of the difference.
    pub low: Option<f64>,
    /// Upper end of the interval of the difference.
    pub high: Option<f64>,
    /// The p value of this cell alone.
    pub p_value: Option<f64>,
    /// The p value after Holm's correction over all cells of the table.
    pub adjusted_p: Option<f64>,
    /// The evidence of the pairs.
    pub evidence: Evidence,
    /// The conclusion by the corrected p value. [`Conclusion::Nothing`] where the evidence does not allow a verdict.
    pub says: Conclusion,
    /// The tendency: as `says`, but also where the evidence is only that of a smoke test.
    pub leans: Conclusion,
    /// Why there is no difference or no interval, or what was left out.
    pub note: Option<String>,
}

/// The level of significance of corrected p values.
pub const ALPHA: f64 = 0.05;

impl Contrast {
    /// A cell without figures.
    fn empty(of: Vec<String>, variant: &str, measure: &str) -> Self {
        Self {
            of,
            variant: variant.to_owned(),
            measure: measure.to_owned(),
            pairs: 0,
            one_run: false,
            baseline_mean: None,
            variant_mean: None,
            difference: None,
            charged: None,
            low: None,
            high: None,
            p_value: None,
            adjusted_p: None,
            evidence: Evidence::Nothing,
            says: Conclusion::Nothing,
            leans: Conclusion::Nothing,
            note: None,
        }
    }

    fn with_effect(self, pairs: usize, found: &Effect, evidence: Evidence) -> Self {
        Self {
            pairs,
            baseline_mean: Some(found.mean_a),
            variant_mean: Some(found.mean_b),
            difference: Some(found.difference),
            low: Some(found.low),
            high: Some(found.high),
            p_value: Some(found.p_value),
            evidence,
            ..self
        }
    }

    /// A cell whose sides are equal in each of `pairs` pairs: there are no random differences to test.
    fn same(self, pairs: usize, mean: f64, evidence: Evidence) -> Self {
        Self {
            pairs,
            baseline_mean: Some(mean),
            variant_mean: Some(mean),
            difference: Some(0.0),
            evidence,
            says: Conclusion::Same,
            leans: Conclusion::Same,
            ..self
        }
    }

    /// Puts a note before those that are there.
    fn precede_note(&mut self, first: &str) {
        self.note = Some(self.note.take().map_or(first.to_owned(), |note| format!("{first}; {note}")));
    }

    /// What cells must have in common to be the same test. Wait and response are one kind: where run times are equal on
    /// both sides, they have equal differences.
    fn kind(&self) -> (&[String], &str, &str, usize) {
        let last = match self.measure.rsplit('.').next().unwrap_or(&self.measure) {
            "mean_response" => "mean_wait",
            other => other,
        };
        (&self.of, &self.variant, last, self.pairs)
    }

    /// True if two cells of one [kind](Self::kind) have the same differences, except for rounding: those of the same jobs
    /// under several names (all jobs, those of the only site, those of its users), and waits and responses of jobs with
    /// equal run times on both sides.
    fn is_same_test(&self, other: &Self) -> bool {
        let figures = |cell: &Self| Some([cell.difference?, cell.low?, cell.high?, cell.p_value?]);
        let (Some(mine), Some(others)) = (figures(self), figures(other)) else { return false };
        let [difference, low, high, p] = mine;
        let rounding = 1e-6 * (high - low) + 1e-9 * difference.abs();
        let near = |at: usize, rounding: f64| (mine[at] - others[at]).abs() <= rounding;
        (0..3).all(|at| near(at, rounding)) && near(3, 1e-6 * p + 1e-12)
    }
}

/// A share in percent, with up to two decimals: `0.06 %`.
fn percent(share: f64) -> String {
    let digits = format!("{:.2}", share * 100.0);
    let digits = digits.trim_end_matches('0').trim_end_matches('.');
    if digits == "0" && share > 0.0 { "less than 0.01 %".to_owned() } else { format!("{digits} %") }
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
    /// How jobs with different outcomes counted, if the options do.
    pub charge: Option<Charge>,
    /// The comparison of each run but the first with the first.
    pub pairs: Vec<JobComparison>,
    /// Measures of each run as a whole, with a value for each run; a single run has no interval for them.
    pub whole: Vec<(String, Vec<Option<f64>>)>,
}

/// One of the runs that are compared.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ComparedRun {
    /// A name that is unique among the runs.
    pub name: String,
    /// Its own title.
    pub title: String,
    /// True if its backlog still grew at its end, unless the question takes runs for whole pieces of work: then it has no means.
    pub unstable: bool,
}

impl RunsComparison {
    /// Removes the means where a run is unstable, corrects all cells together, and states their conclusions.
    pub fn settle(&mut self) {
        let growing = |name: &str| self.runs.iter().any(|run| run.unstable && run.name == name);
        let baseline = self.runs.first().is_some_and(|run| run.unstable);
        for pair in &mut self.pairs {
            let unstable = match (baseline, growing(&pair.variant)) {
                (true, _) => &pair.baseline,
                (_, true) => &pair.variant,
                _ => continue,
            };
            for cell in &mut pair.cells {
                *cell = Contrast {
                    note: Some(format!(
                        "no mean: {unstable} is unstable (its backlog grows until the end); `--finite` compares it if the run is a whole piece \
                         of work"
                    )),
                    ..Contrast::empty(std::mem::take(&mut cell.of), &cell.variant, &cell.measure)
                };
            }
        }
        settle(self.pairs.iter_mut().flat_map(|pair| &mut pair.cells));
    }
}

/// The number of tests in a table: of cells with a p value, where cells that are the same test under several names count once.
pub fn tests_of(cells: &[&Contrast]) -> usize {
    tests(cells.iter().copied()).into_iter().flatten().max().map_or(0, |last| last + 1)
}

/// The number of the test of each cell; `None` without a p value.
fn tests<'a>(cells: impl Iterator<Item = &'a Contrast>) -> Vec<Option<usize>> {
    let mut kinds: BTreeMap<_, Vec<(&Contrast, usize)>> = BTreeMap::new();
    let mut number = 0;
    let test = cells.map(|cell| {
        cell.p_value?;
        let known = kinds.entry(cell.kind()).or_default();
        if let Some((_, test)) = known.iter().find(|(other, _)| other.is_same_test(cell)) {
            return Some(*test);
        }
        known.push((cell, number));
        number += 1;
        Some(number - 1)
    });
    test.collect()
}

/// Corrects the p values of all cells of one table for the number of [tests](tests_of), and states the conclusion on each difference.
pub fn settle<'a>(cells: impl IntoIterator<Item = &'a mut Contrast>) {
    let cells: Vec<&mut Contrast> = cells.into_iter().collect();
    let place = tests(cells.iter().map(|cell| &**cell));
    let mut raw: Vec<f64> = Vec::new();
    for (cell, place) in cells.iter().zip(&place) {
        if let (Some(p), Some(place)) = (cell.p_value, place)
            && *place == raw.len()
        {
            raw.push(p);
        }
    }
    let adjusted = holm(&raw);
    for (cell, place) in cells.into_iter().zip(place) {
        cell.adjusted_p = place.and_then(|place| adjusted.get(place).copied());
        if cell.leans == Conclusion::Same && cell.charged.is_some_and(|charged| charged != 0.0) {
            (cell.leans, cell.says) = (Conclusion::Nothing, Conclusion::Nothing);
            cell.precede_note("no verdict: the same but for jobs that ended otherwise");
            continue;
        }
        let (Some(p), Some(difference)) = (cell.adjusted_p, cell.difference) else { continue };
        let better = MeasureInfo::of(&cell.measure).better;
        cell.leans = match (cell.evidence, p < ALPHA, difference < 0.0, better) {
            (Evidence::Nothing, ..) => Conclusion::Nothing,
            (_, false, ..) => Conclusion::NoDifference,
            (_, _, true, Better::Lower) | (_, _, false, Better::Higher) => Conclusion::Better,
            (_, _, true, Better::Higher) | (_, _, false, Better::Lower) => Conclusion::Worse,
            (_, _, true, Better::Neither) => Conclusion::Lower,
            (_, _, false, Better::Neither) => Conclusion::Higher,
        };
        // The sign must not depend on how a few jobs count.
        let is_open = cell.charged.is_some_and(|charged| charged * difference < 0.0);
        if is_open && !matches!(cell.leans, Conclusion::NoDifference | Conclusion::Nothing) {
            cell.leans = Conclusion::Nothing;
            cell.precede_note("no verdict: charged, the difference has the other sign");
        }
        cell.says = if cell.evidence == Evidence::Verdict { cell.leans } else { Conclusion::Nothing };
    }
}
