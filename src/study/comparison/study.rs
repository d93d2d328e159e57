//! Compares the variants of a study, paired by seed.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::{Charge, CompareOptions, Contrast, settle};
use crate::experiment::RunError;
use crate::model::{Outcome, suggestion};
use crate::scenario::listed;
use crate::study::statistics::{Evidence, paired};
use crate::study::{RunStatus, StudyRow, StudyTable, one_run};

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
/// A cell has no difference where a run is unstable (its backlog grows, so that its means depend on its length) or where
/// jobs have different outcomes, unless the question gives a way to charge them. The same holds for a run that failed,
/// since the policy may be the cause. Where every seed gave the same run there is one pair, and no interval. The p values
/// of all cells are corrected together.
///
/// # Errors
/// A bad request, if the options name what the study does not have.
pub fn compare_study(table: &StudyTable, options: &CompareOptions) -> Result<StudyComparison, RunError> {
    if options.charge == Some(Charge::ToTheEnd) {
        let problem = "the table of a campaign has no jobs, so `--charge to-the-end` is not possible";
        return Err(RunError::request(problem).with_hint(
            "use `--charge leave-out`, which leaves out the seeds with different outcomes, or compare folders of runs",
        ));
    }
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
        None => labels.iter().find(|label| counts(by, label)).cloned().unwrap_or_default(),
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
                cells.push(contrast(cell, of(&baseline), of(variant), *at, options));
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
        return Ok(table.measures.iter().cloned().zip(0..).collect());
    }
    let found = options.measures.iter().map(|wanted| {
        table.measure(wanted).map(|at| (wanted.clone(), at)).ok_or_else(|| {
            let near = table.nearest_measure(wanted).map(|near| format!("did you mean `{near}`?"));
            RunError::request(format!("the campaign has no measure `{wanted}`")).with_maybe_hint(near)
        })
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
    options: &CompareOptions,
) -> Contrast {
    let noted = |cell: Contrast, note: String| Contrast { note: Some(note), ..cell };
    let growing = |rows: &Runs<'_>| rows.values().filter(|row| done(row) && row.unstable).count();
    let (grow_a, grow_b) = (growing(baseline), growing(variant));
    if grow_a + grow_b > 0 {
        let (runs_a, runs_b) = (baseline.len(), variant.len());
        let note = format!(
            "no mean: the backlog grows (unstable) in {grow_a} of {runs_a} runs of the baseline, {grow_b} of {runs_b} of the variant"
        );
        return noted(cell, note);
    }
    let mut pairs: Vec<(&StudyRow, &StudyRow)> =
        baseline.iter().filter_map(|(seed, row)| Some((*row, *variant.get(seed)?))).collect();
    let unpaired = baseline.len() + variant.len() - 2 * pairs.len();
    let unlike: Vec<_> =
        pairs.iter().filter(|(a, b)| done(a) && done(b) && a.outcomes != b.outcomes).copied().collect();
    let mut notes = Vec::new();
    let ran_whole = |(a, b): &(&StudyRow, &StudyRow)| done(a) && done(b);
    let (all, unlike_count) = (pairs.len(), unlike.len());
    if let Some(first) = pairs.iter().find(|pair| !ran_whole(pair)) {
        let failed = pairs.iter().filter(|pair| !ran_whole(pair)).count();
        let seed = first.0.seed;
        if options.charge.is_none() {
            let note = format!(
                "refused: a run failed in {failed} of {all} pairs (seed {seed}); `--charge leave-out` leaves such pairs out"
            );
            return noted(cell, note);
        }
        pairs.retain(ran_whole);
        notes.push(format!("{failed} pairs left out: a run failed (seed {seed})"));
    }
    if let Some(first) = unlike.first() {
        let which = format!("{} (seed {})", unlike_outcomes(first.0, first.1), first.0.seed);
        if options.charge.is_none() {
            let note = format!(
                "refused: outcomes differ in {unlike_count} of {all} pairs: {which}; choose how such jobs count with `--charge`"
            );
            return noted(cell, note);
        }
        pairs.retain(|(a, b)| a.outcomes == b.outcomes);
        notes.push(format!("{unlike_count} pairs left out: {which}"));
    }
    let (mut a, mut b) = (Vec::new(), Vec::new());
    let unfinite = |row: &StudyRow| row.values[measure].is_some_and(|value| !value.is_finite());
    let odd = pairs.iter().filter(|(a, b)| unfinite(a) || unfinite(b)).count();
    if odd > 0 {
        notes.insert(0, format!("no mean: a value in {odd} of {} pairs is not a finite number", pairs.len()));
        return noted(cell, notes.join("; "));
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
    let each_one = one_run(pairs.iter().map(|(a, _)| *a)) && one_run(pairs.iter().map(|(_, b)| *b));
    if each_one && !a.is_empty() {
        notes.insert(0, "every seed gave the same run: one log".to_owned());
        a.truncate(1);
        b.truncate(1);
    }
    let cell = Contrast { one_run: each_one, ..cell };
    let evidence = Evidence::of_seeds(a.len());
    let cell = if a.len() > 1 && a == b {
        cell.same(a.len(), a.iter().sum::<f64>() / a.len() as f64, evidence)
    } else if let Some(found) = paired(&a, &b, options.level) {
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

fn done(row: &StudyRow) -> bool {
    row.status == RunStatus::Done
}

/// Describes the different outcomes of the jobs of two runs: `rejected 0 and 4`.
fn unlike_outcomes(a: &StudyRow, b: &StudyRow) -> String {
    let counts = a.outcomes.counts().into_iter().zip(b.outcomes.counts());
    let unlike = Outcome::NAMES.iter().zip(counts).filter(|(_, (a, b))| a != b);
    unlike.map(|(name, (a, b))| format!("{name} {a} and {b}")).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests;
