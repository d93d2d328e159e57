//! The runs that a claim is about.

use std::collections::{BTreeMap, BTreeSet};

use thiserror::Error;

use super::{Claim, Expects, Side};
use crate::metrics::{RunStatus, StudyPoint, StudyRow, StudyTable};
use crate::model::nearest;

/// A claim that does not fit the study that it names.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("claim `{claim}`: {said}")]
pub struct ClaimError {
    claim: String,
    said: String,
    hint: Option<String>,
}

impl ClaimError {
    fn new(claim: &Claim, said: String, near: Option<&str>) -> Self {
        Self { claim: claim.id.clone(), said, hint: near.map(|near| format!("did you mean `{near}`?")) }
    }

    fn with_hint(claim: &Claim, said: String, hint: &str) -> Self {
        Self { claim: claim.id.clone(), said, hint: Some(hint.to_owned()) }
    }

    /// What to do about it.
    pub fn hint(&self) -> Option<&str> {
        self.hint.as_deref()
    }
}

/// What was measured for a claim.
#[derive(Clone, Debug, PartialEq)]
pub enum Measured {
    /// At each point of the axes that vary.
    Samples(Vec<Sample>),
    /// Nothing, for this reason: it cannot be compared.
    Missing(String),
}

/// The runs of one point, paired by seed.
#[derive(Clone, Debug, PartialEq)]
pub struct Sample {
    /// The point, such as `load 0.5`; empty if nothing varies. With what is compared, in a row that falls or rises.
    pub at: String,
    /// A value for each seed. In a row: of the later measure.
    pub of: Vec<f64>,
    /// The same seeds on the other side; empty for a number. In a row: of the earlier measure.
    pub than: Vec<f64>,
    /// Why there are no values, or what is odd about them.
    pub note: Option<String>,
    /// Seeds, with or without a value.
    pub seeds: usize,
}

/// Sees whether the axes and labels that a claim names are there, and whether `than` names runs that can be paired.
///
/// What `of` names and `than` leaves out counts for both. What `of` leaves open is a point each, at which both sides must have runs:
/// so `than` may not choose there.
///
/// # Errors
/// [`ClaimError`] with the nearest name that there is.
pub fn check_claim(
    claim: &Claim,
    axes: &[&str],
    labels: &dyn Fn(usize) -> Vec<String>,
) -> Result<(), ClaimError> {
    for (axis, wanted) in claim.of.iter().chain(&claim.than) {
        let Some(at) = axes.iter().position(|known| known == axis) else {
            let said = format!("the campaign has no axis `{axis}`; its axes are {}", axes.join(", "));
            return Err(ClaimError::new(claim, said, nearest(axis, axes.iter().copied())));
        };
        let known = labels(at);
        if let Some(label) = wanted.iter().find(|label| !known.contains(label)) {
            let said = format!("axis `{axis}` has no `{label}`; it has {}", known.join(", "));
            return Err(ClaimError::new(claim, said, nearest(label, known.iter().map(String::as_str))));
        }
    }
    for (axis, wanted) in &claim.than {
        let fixed = claim.of.get(axis);
        if fixed.is_none_or(|labels| labels.len() > 1 && labels != wanted) {
            let said =
                format!("`than` chooses on axis `{axis}`, and `of` leaves it open: there is nothing to pair");
            let hint = format!("name one label of `{axis}` in `of` too, or leave it out of `than`");
            return Err(ClaimError::with_hint(claim, said, &hint));
        }
        if fixed.is_some_and(|labels| labels.len() == 1) && wanted.len() > 1 {
            let said =
                format!("`than` has several labels of axis `{axis}` for one of `of`: two runs of one seed");
            return Err(ClaimError::with_hint(claim, said, "make it a claim for each label"));
        }
    }
    Ok(())
}

/// Takes what a claim is about out of the table of its study.
///
/// Where the backlog of a run still grows there is no sample, only a note: its means depend on how long it was.
///
/// # Errors
/// [`ClaimError`] if the table does not have what the claim names.
pub fn measure_claim(claim: &Claim, table: &StudyTable) -> Result<Measured, ClaimError> {
    let axes: Vec<&str> = table.axes.iter().map(String::as_str).collect();
    check_claim(claim, &axes, &|at| table.labels(at).into_iter().map(str::to_owned).collect())?;
    let mut measures = Vec::new();
    for id in &claim.measures {
        let missing = || {
            ClaimError::new(claim, format!("the campaign has no measure `{id}`"), table.nearest_measure(id))
        };
        measures.push(table.measure(id).ok_or_else(missing)?);
    }
    let Some(first) = measures.first().copied() else { return Ok(Measured::Missing(String::new())) };
    // What `of` fixes and `than` does not speak of is the same on both sides.
    let mut other = claim.of.clone();
    other.extend(claim.than.clone());
    let points = table.points();
    let varying: Vec<usize> = (0..table.axes.len())
        .filter(|at| claim.of.get(&table.axes[*at]).is_none_or(|labels| labels.len() > 1))
        .collect();
    let of = side_of(table, &points, &claim.of, &varying);
    let than: BTreeMap<Vec<&str>, &StudyPoint<'_>> =
        side_of(table, &points, &other, &varying).into_iter().collect();
    let named = |place: &[&str]| {
        let named = varying.iter().zip(place).map(|(axis, label)| format!("{} {label}", table.axes[*axis]));
        named.collect::<Vec<_>>().join(", ")
    };
    for (place, point) in of.iter().map(|(place, point)| (place, point)).chain(&than) {
        let seeds: BTreeSet<u64> = point.runs.iter().map(|row| row.seed).collect();
        if seeds.len() < point.runs.len() {
            let said =
                format!("there are {} runs of {} seeds at `{}`", point.runs.len(), seeds.len(), named(place));
            return Err(ClaimError::with_hint(claim, said, "a point has one run of each seed"));
        }
    }
    let mut samples = Vec::new();
    for (place, point) in &of {
        let at = named(place);
        match claim.expects {
            Expects::Value { .. } | Expects::Shown { .. } => samples.push(alone(at, point, first)),
            Expects::Below | Expects::Above | Expects::Change { .. } => {
                samples.push(pairs(at, (point, first), than.get(place).map(|other| (*other, first))));
            }
            Expects::Falling | Expects::Rising => {
                for (pair, ids) in measures.windows(2).zip(claim.measures.windows(2)) {
                    let step = format!("{} to {}", short(&ids[0]), short(&ids[1]));
                    let at = if at.is_empty() { step } else { format!("{at}, {step}") };
                    samples.push(pairs(at, (point, pair[1]), Some((point, pair[0]))));
                }
            }
        }
    }
    Ok(Measured::Samples(samples))
}

/// Of `class.VS Seq.mean_wait` the name of the class.
fn short(id: &str) -> &str {
    let inner = id.split_once('.').map_or(id, |(_, rest)| rest);
    inner.rsplit_once('.').map_or(inner, |(name, _)| name)
}

/// The points of a side, each with its labels on the axes that vary, in the order of the table.
fn side_of<'a, 'b>(
    table: &'a StudyTable,
    points: &'b [StudyPoint<'a>],
    side: &Side,
    varying: &[usize],
) -> Vec<(Vec<&'a str>, &'b StudyPoint<'a>)> {
    let axes: Vec<(usize, &Vec<String>)> =
        side.iter().filter_map(|(axis, labels)| Some((table.axis(axis)?, labels))).collect();
    let meant = |point: &&StudyPoint<'_>| axes.iter().all(|(at, labels)| labels.contains(&point.labels[*at]));
    let placed =
        |point: &'b StudyPoint<'a>| (varying.iter().map(|at| point.labels[*at].as_str()).collect(), point);
    points.iter().filter(meant).map(placed).collect()
}

/// Why runs have no mean together, if they have none.
fn spoilt(rows: &[&StudyRow]) -> Option<String> {
    let failed = rows.iter().find_map(|row| match &row.status {
        RunStatus::Failed(why) => Some(format!("run {} failed: {why}", row.run)),
        RunStatus::Done => None,
    });
    let growing = rows.iter().filter(|row| row.grows).count();
    let grows =
        || (growing > 0).then(|| format!("the backlog still grows in {growing} of {} runs", rows.len()));
    failed.or_else(grows)
}

fn alone(at: String, point: &StudyPoint<'_>, measure: usize) -> Sample {
    let seeds = point.runs.len();
    if let Some(note) = spoilt(&point.runs) {
        return Sample { at, of: Vec::new(), than: Vec::new(), note: Some(note), seeds };
    }
    let of = point.values(measure);
    let mut notes = Vec::new();
    if of.len() < seeds {
        notes.push(format!("{} of {seeds} runs have no such jobs", seeds - of.len()));
    }
    // There is no other side that these jobs would be compared with, so they are only told.
    let out: u64 = point.runs.iter().map(|row| row.outcomes.rejected + row.outcomes.unfinished).sum();
    if out > 0 {
        notes.push(format!("{out} jobs were rejected or never finished, and are not in it"));
    }
    Sample { at, of, than: Vec::new(), note: (!notes.is_empty()).then(|| notes.join("; ")), seeds }
}

fn pairs(at: String, of: (&StudyPoint<'_>, usize), than: Option<(&StudyPoint<'_>, usize)>) -> Sample {
    let seeds = of.0.runs.len();
    let others = than.map_or(&[][..], |(point, _)| point.runs.as_slice());
    // In a row that falls or rises, both sides are the same runs.
    let all: BTreeMap<u64, &StudyRow> = of.0.runs.iter().chain(others).map(|row| (row.run, *row)).collect();
    let all: Vec<&StudyRow> = all.into_values().collect();
    if let Some(note) = spoilt(&all) {
        return Sample { at, of: Vec::new(), than: Vec::new(), note: Some(note), seeds };
    }
    let others: BTreeMap<u64, &StudyRow> = others.iter().map(|row| (row.seed, *row)).collect();
    let pairs: Vec<(&StudyRow, &StudyRow)> =
        of.0.runs.iter().filter_map(|row| Some((*row, *others.get(&row.seed)?))).collect();
    let unlike = pairs.iter().filter(|(row, other)| row.outcomes != other.outcomes).count();
    if unlike > 0 {
        let note = format!("jobs did not end alike in {unlike} of {seeds} pairs");
        return Sample { at, of: Vec::new(), than: Vec::new(), note: Some(note), seeds };
    }
    let measure = than.map_or(of.1, |(_, measure)| measure);
    let values = pairs.iter().filter_map(|(row, other)| Some((row.values[of.1]?, other.values[measure]?)));
    let (of, than): (Vec<f64>, Vec<f64>) = values.unzip();
    let missing = seeds - of.len();
    let note = (missing > 0).then(|| format!("{missing} of {seeds} runs have no such jobs"));
    Sample { at, of, than, note, seeds }
}
