//! The variants of a study, paired by seed.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use thiserror::Error;

use super::{Charge, Contrast, settle};
use crate::metrics::statistics::{Evidence, paired};
use crate::metrics::{RunStatus, StudyRow, StudyTable};
use crate::model::{Outcome, nearest};

/// What is asked of a study.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct StudyQuestion {
    /// The axis whose labels are compared; by default the only one, or `policy`.
    pub by: Option<String>,
    /// The label that the others are held against; by default the first.
    pub baseline: Option<String>,
    /// Labels of other axes that count, all if an axis is not named.
    pub only: Vec<(String, String)>,
    /// Ids of measures; all of the table by default.
    pub measures: Vec<String>,
    /// How jobs count that did not end alike.
    pub charge: Option<Charge>,
    /// Level of the intervals, 0.95 for 95 %.
    pub level: f64,
}

/// The variants of a study against one of them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct StudyComparison {
    /// The study.
    pub study: String,
    /// The axis that is compared.
    pub by: String,
    /// The label that the others are held against.
    pub baseline: String,
    /// The labels that are held against it.
    pub variants: Vec<String>,
    /// The other axes: what [`Contrast::of`] has a label of each for.
    pub axes: Vec<String>,
    /// Level of the intervals.
    pub level: f64,
    /// How jobs counted that did not end alike, if that was said.
    pub charge: Option<Charge>,
    /// Fewest and most pairs of a cell that has any.
    pub seeds: Option<(usize, usize)>,
    /// What the cell with the least evidence carries.
    pub evidence: Evidence,
    /// Runs that failed; their pairs are refused, or left out if the question says so.
    pub failed: usize,
    /// The cells.
    pub cells: Vec<Contrast>,
}

/// A question that a study cannot answer.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum CompareError {
    /// No such axis.
    #[error("the study has no axis `{axis}`; its axes are {}", listed(.known))]
    Axis {
        /// What was written.
        axis: String,
        /// What there is.
        known: Vec<String>,
    },
    /// It is not clear which axis is compared.
    #[error("the study has several axes ({}), and it was not said which one is compared", listed(.known))]
    WhichAxis {
        /// What there is.
        known: Vec<String>,
    },
    /// No such label.
    #[error("axis `{axis}` has no `{label}`; it has {}", listed(.known))]
    Label {
        /// The axis.
        axis: String,
        /// What was written.
        label: String,
        /// What there is.
        known: Vec<String>,
    },
    /// No such measure.
    #[error("the study has no measure `{measure}`")]
    Measure {
        /// What was written.
        measure: String,
        /// The nearest that there is.
        near: Option<String>,
    },
    /// One variant is none.
    #[error("axis `{axis}` has `{label}` only: there is nothing to compare it with")]
    Alone {
        /// The axis.
        axis: String,
        /// Its only label.
        label: String,
    },
    /// What is asked needs the jobs, and a table of a study has none.
    #[error("the table of a study has no jobs, so none can be charged to the end of its run")]
    NoJobs,
}

fn listed(known: &[String]) -> String {
    known.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}

impl CompareError {
    /// What to do about it.
    pub fn hint(&self) -> Option<String> {
        let near = |written: &str, known: &[String]| {
            nearest(written, known.iter().map(String::as_str)).map(|near| format!("did you mean `{near}`?"))
        };
        match self {
            Self::Axis { axis, known } => near(axis, known),
            Self::WhichAxis { known } => known.first().map(|axis| format!("say so: `--by {axis}`")),
            Self::Label { label, known, .. } => near(label, known),
            Self::Measure { near, .. } => near.as_ref().map(|near| format!("did you mean `{near}`?")),
            Self::Alone { .. } => Some("compare by another axis, with `--by`".to_owned()),
            Self::NoJobs => {
                Some("`--charge leave-out` leaves out the seeds in which jobs did not end alike; or compare folders of runs".to_owned())
            }
        }
    }
}

/// Holds the variants of a study against one of them, seed by seed, at each point of the other axes.
///
/// A cell says nothing where a run's backlog still grows (its means depend on how long it was) or where jobs did not end
/// alike, unless the question says how to charge them. A run that failed is such a run: that it failed may be the policy's
/// doing. All cells that have a p value are corrected together.
///
/// # Errors
/// [`CompareError`] if the question names what the study does not have.
pub fn compare_study(table: &StudyTable, question: &StudyQuestion) -> Result<StudyComparison, CompareError> {
    if question.charge == Some(Charge::ToTheEnd) {
        return Err(CompareError::NoJobs);
    }
    let by = axis_of(table, question)?;
    let labels: Vec<String> = table.labels(by).into_iter().map(str::to_owned).collect();
    let label = |axis: usize, label: &str| {
        let known: Vec<String> = table.labels(axis).into_iter().map(str::to_owned).collect();
        match known.iter().any(|known| known == label) {
            true => Ok(()),
            false => {
                let axis = table.axes[axis].clone();
                Err(CompareError::Label { axis, label: label.to_owned(), known })
            }
        }
    };
    let mut only: BTreeMap<usize, Vec<&str>> = BTreeMap::new();
    for (axis, wanted) in &question.only {
        let at = find_axis(table, axis)?;
        label(at, wanted)?;
        only.entry(at).or_default().push(wanted);
    }
    let counts = |at: usize, label: &str| only.get(&at).is_none_or(|wanted| wanted.contains(&label));
    let baseline = match &question.baseline {
        Some(wanted) => {
            label(by, wanted)?;
            wanted.clone()
        }
        None => labels.iter().find(|label| counts(by, label)).cloned().unwrap_or_default(),
    };
    let variants: Vec<String> =
        labels.into_iter().filter(|label| *label != baseline && counts(by, label)).collect();
    if variants.is_empty() {
        return Err(CompareError::Alone { axis: table.axes[by].clone(), label: baseline });
    }
    let measures = measures_of(table, question)?;
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
        failed += point.runs.len() - point.done().count();
        let place: Vec<&str> = others.iter().map(|at| point.labels[*at].as_str()).collect();
        let at = *places.entry(place.clone()).or_insert(points.len());
        if at == points.len() {
            points.push((place, BTreeMap::new()));
        }
        let runs = point.runs.iter().map(|row| (row.seed, *row)).collect();
        points[at].1.insert(&point.labels[by], runs);
    }
    let nobody = BTreeMap::new();
    let mut cells = Vec::new();
    for (place, runs) in &points {
        let of = |label: &str| runs.get(label).unwrap_or(&nobody);
        let place: Vec<String> = place.iter().map(|label| (*label).to_owned()).collect();
        for (name, at) in &measures {
            for variant in &variants {
                let cell = Contrast::empty(place.clone(), variant, name);
                cells.push(contrast(cell, of(&baseline), of(variant), *at, question));
            }
        }
    }
    settle(&mut cells);
    let pairs = || cells.iter().filter(|cell| cell.difference.is_some()).map(|cell| cell.pairs);
    let seeds = pairs().min().zip(pairs().max());
    Ok(StudyComparison {
        study: table.name.clone(),
        by: table.axes[by].clone(),
        baseline,
        variants,
        axes: others.into_iter().map(|at| table.axes[at].clone()).collect(),
        level: question.level,
        charge: question.charge,
        seeds,
        evidence: seeds.map_or(Evidence::Nothing, |(least, _)| Evidence::of_seeds(least)),
        failed,
        cells,
    })
}

fn find_axis(table: &StudyTable, axis: &str) -> Result<usize, CompareError> {
    let missing = || CompareError::Axis { axis: axis.to_owned(), known: table.axes.clone() };
    table.axis(axis).ok_or_else(missing)
}

fn axis_of(table: &StudyTable, question: &StudyQuestion) -> Result<usize, CompareError> {
    match (&question.by, table.axes.as_slice()) {
        (Some(axis), _) => find_axis(table, axis),
        (None, [_]) => Ok(0),
        (None, _) => {
            table.axis("policy").ok_or_else(|| CompareError::WhichAxis { known: table.axes.clone() })
        }
    }
}

fn measures_of(table: &StudyTable, question: &StudyQuestion) -> Result<Vec<(String, usize)>, CompareError> {
    if question.measures.is_empty() {
        return Ok(table.measures.iter().cloned().zip(0..).collect());
    }
    let found = question.measures.iter().map(|wanted| {
        let near = || table.nearest_measure(wanted).map(str::to_owned);
        let missing = || CompareError::Measure { measure: wanted.clone(), near: near() };
        table.measure(wanted).map(|at| (wanted.clone(), at)).ok_or_else(missing)
    });
    found.collect()
}

/// The runs of a label at a point, by their seeds.
type Runs<'a> = BTreeMap<u64, &'a StudyRow>;

/// Fills a cell from the runs of both sides by seed.
fn contrast(
    cell: Contrast,
    baseline: &Runs<'_>,
    variant: &Runs<'_>,
    measure: usize,
    question: &StudyQuestion,
) -> Contrast {
    let said = |cell: Contrast, note: String| Contrast { note: Some(note), ..cell };
    let growing = |rows: &Runs<'_>| rows.values().filter(|row| done(row) && row.grows).count();
    let (grow_a, grow_b) = (growing(baseline), growing(variant));
    if grow_a + grow_b > 0 {
        let (runs_a, runs_b) = (baseline.len(), variant.len());
        let note = format!(
            "no mean: the backlog still grows in {grow_a} of {runs_a} runs of the baseline, {grow_b} of {runs_b} of the variant"
        );
        return said(cell, note);
    }
    let mut pairs: Vec<(&StudyRow, &StudyRow)> =
        baseline.iter().filter_map(|(seed, row)| Some((*row, *variant.get(seed)?))).collect();
    let unpaired = baseline.len() + variant.len() - 2 * pairs.len();
    let unlike: Vec<_> =
        pairs.iter().filter(|(a, b)| done(a) && done(b) && a.outcomes != b.outcomes).copied().collect();
    let mut notes = Vec::new();
    let ran_whole = |(a, b): &(&StudyRow, &StudyRow)| done(a) && done(b);
    if let Some(first) = pairs.iter().find(|pair| !ran_whole(pair)) {
        let failed = pairs.iter().filter(|pair| !ran_whole(pair)).count();
        let seed = first.0.seed;
        if question.charge.is_none() {
            let note = format!(
                "refused: a run failed in {failed} of {} pairs (seed {seed}); leave such pairs out with `--charge leave-out`",
                pairs.len()
            );
            return said(cell, note);
        }
        pairs.retain(ran_whole);
        notes.push(format!("{failed} pairs left out: a run failed (seed {seed})"));
    }
    if let Some(first) = unlike.first() {
        let which = format!("{} (seed {})", unlike_outcomes(first.0, first.1), first.0.seed);
        if question.charge.is_none() {
            let note = format!(
                "refused: jobs did not end alike in {} of {} pairs: {which}; say how they count with `--charge`",
                unlike.len(),
                pairs.len()
            );
            return said(cell, note);
        }
        pairs.retain(|(a, b)| a.outcomes == b.outcomes);
        notes.push(format!("{} pairs left out: {which}", unlike.len()));
    }
    let (mut a, mut b) = (Vec::new(), Vec::new());
    let unfinite = |row: &StudyRow| row.values[measure].is_some_and(|value| !value.is_finite());
    let odd = pairs.iter().filter(|(a, b)| unfinite(a) || unfinite(b)).count();
    if odd > 0 {
        notes.insert(0, format!("no mean: a value in {odd} of {} pairs is no finite number", pairs.len()));
        return said(cell, notes.join("; "));
    }
    for (left, right) in &pairs {
        if let (Some(left), Some(right)) = (left.values[measure], right.values[measure]) {
            a.push(left);
            b.push(right);
        }
    }
    if a.len() < pairs.len() {
        notes.push(format!("{} pairs have no such value", pairs.len() - a.len()));
    }
    if unpaired > 0 {
        notes.push(format!("{unpaired} runs have no partner with their seed"));
    }
    if a.len() > 1 && a == b {
        let mean = a.iter().sum::<f64>() / a.len() as f64;
        let cell = cell.same(a.len(), mean);
        return Contrast { note: (!notes.is_empty()).then(|| notes.join("; ")), ..cell };
    }
    let cell = match paired(&a, &b, question.level) {
        Some(found) => cell.with_paired(&found),
        None => {
            if a.len() == 1 {
                notes.push("one pair: no interval".to_owned());
            }
            let (mean_a, mean_b) = (a.first().copied(), b.first().copied());
            let difference = mean_a.zip(mean_b).map(|(a, b)| b - a);
            Contrast { pairs: a.len(), baseline_mean: mean_a, variant_mean: mean_b, difference, ..cell }
        }
    };
    Contrast { note: (!notes.is_empty()).then(|| notes.join("; ")), ..cell }
}

fn done(row: &StudyRow) -> bool {
    row.status == RunStatus::Done
}

/// How the jobs of two runs ended otherwise: `rejected 0 and 4`.
fn unlike_outcomes(a: &StudyRow, b: &StudyRow) -> String {
    let counts = a.outcomes.counts().into_iter().zip(b.outcomes.counts());
    let unlike = Outcome::NAMES.iter().zip(counts).filter(|(_, (a, b))| a != b);
    unlike.map(|(name, (a, b))| format!("{name} {a} and {b}")).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests;
