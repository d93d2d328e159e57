//! One cell of a study: the runs of two variants, paired by seed.

use std::collections::BTreeMap;

use super::{Charge, CompareOptions, Contrast, percent};
use crate::model::Outcome;
use crate::study::statistics::{Draws, Evidence};
use crate::study::{MeasureInfo, RunStatus, StudyRow, StudyTable, charged, one_run};
use crate::units::counted;

/// The runs of a label at a point, by the places of their seeds in time, if they have some, and their seeds.
pub(super) type Runs<'a> = BTreeMap<(usize, u64), &'a StudyRow>;

/// The two runs of a seed.
type Pair<'a> = (&'a StudyRow, &'a StudyRow);

/// Seeds that a note names one by one.
const NAMED: usize = 5;

/// A column of the table, and the one in which the jobs that did not run to their end are charged.
#[derive(Copy, Clone, Debug)]
pub(super) struct Column {
    at: usize,
    charged: Option<usize>,
    /// Whether it is of a group of jobs, such as a class.
    grouped: bool,
    /// Whether runs of the table have such columns wherever jobs did not run to their end: then a group without one has none.
    complete: bool,
    /// How the runs follow each other.
    draws: Draws,
}

impl Column {
    /// The column of the measure at an index.
    pub(super) fn of(table: &StudyTable, at: usize) -> Self {
        let charged_id = charged(&table.measures[at]);
        let has_charged =
            || table.measures.iter().any(|id| charged(id).is_some_and(|id| table.measure(&id).is_some()));
        let complete = charged_id.is_some() && has_charged();
        let grouped = table.measures[at].contains('.');
        let charged = charged_id.and_then(|id| table.measure(&id));
        Self { at, charged, grouped, complete, draws: table.draws() }
    }

    fn value(self, row: &StudyRow) -> Option<f64> {
        row.values[self.at]
    }

    /// The value with all jobs; `None` if it is not known.
    fn value_of_all(self, row: &StudyRow) -> Option<f64> {
        let charged = self.charged.and_then(|at| row.values[at]);
        charged.or_else(|| self.value(row).filter(|_| self.complete || unended(row) == 0))
    }

    /// Whether jobs of it did not run to their end.
    fn is_charged(self, row: &StudyRow) -> bool {
        self.charged.is_some_and(|at| row.values[at].is_some())
    }
}

/// Fills a cell from the runs of both sides by seed.
pub(super) fn contrast(
    cell: Contrast,
    baseline: &Runs<'_>,
    variant: &Runs<'_>,
    column: Column,
    options: &CompareOptions,
) -> Contrast {
    let pairs: Vec<Pair<'_>> =
        baseline.iter().filter_map(|(seed, row)| Some((*row, *variant.get(seed)?))).collect();
    let unpaired = baseline.len() + variant.len() - 2 * pairs.len();
    let mut sample = Sample { pairs, column, options, notes: Vec::new() };
    let picked = match MeasureInfo::of(&cell.measure).of_jobs() {
        true => sample.of_jobs(),
        false => sample.of_the_run(),
    };
    let Sample { pairs, mut notes, .. } = sample;
    let count = match picked {
        Ok(count) => count,
        Err(refusal) => return Contrast { note: Some(refusal), ..cell },
    };
    let values: Vec<_> =
        pairs.iter().map(|(a, b)| (count.value(column, a), count.value(column, b))).collect();
    let unfinite = |value: Option<f64>| value.is_some_and(|value| !value.is_finite());
    let odd = values.iter().filter(|(a, b)| unfinite(*a) || unfinite(*b)).count();
    if odd > 0 {
        notes.insert(0, format!("no mean: a value in {odd} of {} pairs is not a finite number", pairs.len()));
        return Contrast { note: Some(notes.join("; ")), ..cell };
    }
    let (mut a, mut b): (Vec<f64>, Vec<f64>) = values.iter().filter_map(|(a, b)| a.zip(*b)).unzip();
    if a.len() < pairs.len() {
        notes.push(format!("{} pairs have no such value", pairs.len() - a.len()));
    }
    if unpaired > 0 {
        notes.push(format!("{unpaired} runs have no partner with their seed"));
    }
    let each_one = one_run(pairs.iter().map(|(a, _)| *a)) && one_run(pairs.iter().map(|(_, b)| *b));
    if each_one && !a.is_empty() {
        notes.insert(0, "every seed gave the same run: one log".to_owned());
        a.truncate(1);
        b.truncate(1);
    }
    let charged = if count == Count::BothEnds { difference_of_all(&pairs, column) } else { None };
    let cell = Contrast { one_run: each_one, charged, ..cell };
    let evidence = Evidence::of_seeds(a.len());
    let cell = if a.len() > 1 && a == b {
        cell.same(a.len(), a.iter().sum::<f64>() / a.len() as f64, evidence)
    } else if let Some(found) = column.draws.paired(&a, &b, options.level) {
        cell.with_effect(a.len(), &found, evidence)
    } else {
        if a.len() == 1 && !each_one {
            notes.push("one pair: no interval".to_owned());
        }
        let (mean_a, mean_b) = (a.first().copied(), b.first().copied());
        let difference = mean_a.zip(mean_b).map(|(a, b)| b - a);
        Contrast { pairs: a.len(), baseline_mean: mean_a, variant_mean: mean_b, difference, ..cell }
    };
    Contrast { note: (!notes.is_empty()).then(|| notes.join("; ")), ..cell }
}

/// How the jobs that did not run to their end count.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
enum Count {
    /// Not at all.
    Not,
    /// As if they had started at the end of their run.
    Charged,
    /// Not at all, but the difference with them is given too.
    BothEnds,
}

impl Count {
    fn value(self, column: Column, row: &StudyRow) -> Option<f64> {
        match self {
            Self::Not | Self::BothEnds => column.value(row),
            Self::Charged => column.value_of_all(row),
        }
    }
}

/// One pair in so many may be left out because a run of it is unstable. With more there is no difference.
const UNSTABLE: usize = 10;

/// The pairs that count, and what is said about the others.
struct Sample<'a> {
    pairs: Vec<Pair<'a>>,
    column: Column,
    options: &'a CompareOptions,
    notes: Vec<String>,
}

impl Sample<'_> {
    /// Picks the pairs of a measure of jobs.
    ///
    /// # Errors
    /// Why there is no difference, with the options that would give one.
    fn of_jobs(&mut self) -> Result<Count, String> {
        self.leave_failed_out()?;
        self.leave_unstable_out()?;
        let unlike = self.unlike();
        let Some(first) = unlike.first() else { return self.charge() };
        let (all, count) = (self.pairs.len(), unlike.len());
        let largest = unlike.iter().map(unlike_share).fold(0.0, f64::max);
        let which = format!("{}: {}", seeds(&unlike), unlike_outcomes(first));
        match self.options.charge {
            Some(Charge::LeaveOut) => {
                self.leave_unlike_out(count, &which);
                Ok(Count::Not)
            }
            Some(Charge::ToTheEnd) => self.charge(),
            None if largest > self.options.tolerance => Err(format!(
                "refused: outcomes differ in {count} of {all} pairs, in one for {} of its jobs, more than the tolerance of {} ({which}); \
                 `--charge to-the-end` charges such jobs, `--charge leave-out` leaves such pairs out, `--tolerance {}` accepts them{}",
                percent(largest),
                percent(self.options.tolerance),
                (largest * 100.0).ceil(),
                fewer_failures(&unlike)
            )),
            None => {
                let known = self.column.complete;
                let end = if known { "" } else { "; what it would be with them is not known" };
                self.notes.push(format!(
                    "outcomes differ in {count} of {all} pairs, for at most {} of the jobs ({which}){end}",
                    percent(largest)
                ));
                Ok(if known { Count::BothEnds } else { Count::Not })
            }
        }
    }

    /// Picks the pairs of a measure of the whole run, which counts all jobs, whatever their outcome.
    ///
    /// # Errors
    /// If a run failed, and no way to count such pairs is given.
    fn of_the_run(&mut self) -> Result<Count, String> {
        self.leave_failed_out()?;
        let unlike = self.unlike();
        let which = unlike.first().map(|first| format!("{}: {}", seeds(&unlike), unlike_outcomes(first)));
        let Some(which) = which else { return Ok(Count::Not) };
        let (all, count) = (self.pairs.len(), unlike.len());
        if self.options.charge == Some(Charge::LeaveOut) {
            self.leave_unlike_out(count, &which);
        } else {
            self.notes.push(format!(
                "of the whole run, with all of its jobs: outcomes differ in {count} of {all} pairs"
            ));
        }
        Ok(Count::Not)
    }

    fn leave_failed_out(&mut self) -> Result<(), String> {
        let ran = |(a, b): &Pair<'_>| a.status == RunStatus::Done && b.status == RunStatus::Done;
        let failed: Vec<Pair<'_>> = self.pairs.iter().filter(|pair| !ran(pair)).copied().collect();
        if failed.is_empty() {
            return Ok(());
        }
        let (count, which) = (failed.len(), seeds(&failed));
        if self.options.charge.is_none() {
            let all = self.pairs.len();
            return Err(format!(
                "refused: a run failed in {count} of {all} pairs ({which}); `--charge leave-out` leaves such pairs out"
            ));
        }
        self.pairs.retain(ran);
        self.notes.push(format!("{} left out: a run failed ({which})", counted(count, "pair")));
        Ok(())
    }

    fn leave_unstable_out(&mut self) -> Result<(), String> {
        if self.options.finite {
            return Ok(());
        }
        let all = self.pairs.len();
        let [a, b] = [|pair: &Pair<'_>| pair.0.unstable, |pair: &Pair<'_>| pair.1.unstable]
            .map(|is| self.pairs.iter().filter(|pair| is(pair)).count());
        if a + b == 0 {
            return Ok(());
        }
        self.pairs.retain(|(a, b)| !a.unstable && !b.unstable);
        let count = all - self.pairs.len();
        let which =
            format!("the backlog grows (unstable) in {a} of {all} runs of the baseline, {b} of the variant");
        // The policy may be why a run is unstable: those that are left would be the runs that were easy for it.
        if count * UNSTABLE > all {
            return Err(format!(
                "no mean: {which}; if each run is a whole piece of work, `--finite` compares them (in a campaign `finite = true`)"
            ));
        }
        self.notes.push(format!("{} left out: {which}", counted(count, "pair")));
        Ok(())
    }

    fn leave_unlike_out(&mut self, count: usize, which: &str) {
        self.pairs.retain(|(a, b)| a.outcomes == b.outcomes);
        self.notes.push(format!("{} left out: outcomes differ ({which})", counted(count, "pair")));
    }

    /// Charges the jobs that did not run to their end, if that is asked for and there are such jobs.
    fn charge(&mut self) -> Result<Count, String> {
        let jobs: u64 = self.pairs.iter().map(|(a, b)| unended(a) + unended(b)).sum();
        if self.options.charge != Some(Charge::ToTheEnd) || jobs == 0 {
            return Ok(Count::Not);
        }
        let known = |(a, b): &Pair<'_>| {
            self.column.value_of_all(a).is_some() && self.column.value_of_all(b).is_some()
        };
        if !self.pairs.iter().all(known) {
            return Err(
                "refused: jobs that did not run to their end can be charged in `mean_wait`, `mean_response` and `mean_bounded_slowdown`, where \
                 the table has a column `to_the_end.`..., which `gridemu campaign` of this version writes; `--charge leave-out` leaves such pairs out"
                    .to_owned(),
            );
        }
        let in_group = |(a, b): &Pair<'_>| self.column.is_charged(a) || self.column.is_charged(b);
        // The table has the number of such jobs of a run, not of its groups.
        let which = match self.column.grouped {
            false => counted(jobs as usize, "job"),
            true if self.pairs.iter().any(in_group) => "jobs that did not run to their end".to_owned(),
            true => return Ok(Count::Not),
        };
        self.notes.push(format!("{which} charged to the end of their run"));
        Ok(Count::Charged)
    }

    /// The pairs whose outcomes differ.
    fn unlike(&self) -> Vec<Pair<'_>> {
        self.pairs.iter().filter(|(a, b)| a.outcomes != b.outcomes).copied().collect()
    }
}

/// The mean difference with all jobs, those that did not run to their end charged; `None` if any is not known.
fn difference_of_all(pairs: &[Pair<'_>], column: Column) -> Option<f64> {
    let difference = |(a, b): &Pair<'_>| Some(column.value_of_all(b)? - column.value_of_all(a)?);
    let differences: Option<Vec<f64>> = pairs.iter().map(difference).collect();
    differences.filter(|all| !all.is_empty()).map(|all| all.iter().sum::<f64>() / all.len() as f64)
}

/// The jobs that did not run to their end.
fn unended(row: &StudyRow) -> u64 {
    row.outcomes.total() - row.outcomes.completed - row.outcomes.killed
}

/// The share of jobs with another outcome, by the numbers of the outcomes.
fn unlike_share((a, b): &Pair<'_>) -> f64 {
    let counts = a.outcomes.counts().into_iter().zip(b.outcomes.counts());
    let unlike = counts.map(|(a, b)| a.abs_diff(b)).sum::<u64>().div_ceil(2);
    unlike as f64 / a.outcomes.total().max(b.outcomes.total()).max(1) as f64
}

/// Describes the different outcomes of the jobs of two runs: `rejected 0 and 4`.
fn unlike_outcomes((a, b): &Pair<'_>) -> String {
    let counts = a.outcomes.counts().into_iter().zip(b.outcomes.counts());
    let unlike = Outcome::NAMES.iter().zip(counts).filter(|(_, (a, b))| a != b);
    unlike.map(|(name, (a, b))| format!("{name} {a} and {b}")).collect::<Vec<_>>().join(", ")
}

/// What makes fewer jobs fail, if their numbers differ.
fn fewer_failures(unlike: &[Pair<'_>]) -> &'static str {
    match unlike.iter().any(|(a, b)| a.outcomes.failed != b.outcomes.failed) {
        true => "; with larger `churn.attempts` and `broker.retries` in the scenario fewer jobs fail",
        false => "",
    }
}

/// The seeds of some pairs: `seed 7`, `seeds 1, 2, 4, 7, 9 and 17 more`.
fn seeds(pairs: &[Pair<'_>]) -> String {
    let named: Vec<String> = pairs.iter().take(NAMED).map(|(a, _)| a.seed.to_string()).collect();
    let word = if pairs.len() == 1 { "seed" } else { "seeds" };
    let more = pairs.len().saturating_sub(NAMED);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    format!("{word} {}{more}", named.join(", "))
}
