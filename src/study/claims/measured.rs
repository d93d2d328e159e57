//! Selects the runs of a claim.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use super::columns::{Step, columns, short, steps};
use super::gains::{Against, best_of, greatest};
use super::relative::gains;
use super::{Claim, ClaimError, Expects, Side, check_claim, refuse};
use crate::metrics::Outcomes;
use crate::study::comparison::{RunJobs, by_week};
use crate::study::statistics::{Draws, Week};
use crate::study::{MeasureInfo, RunStatus, StudyPoint, StudyRow, StudyTable, one_run};

/// The measurements for a claim.
#[derive(Clone, Debug, PartialEq)]
pub enum Measured {
    /// The samples at each point of the axes that vary.
    Samples(Vec<Sample>),
    /// No samples, for this reason: the claim cannot be compared.
    Missing(String),
}

/// The runs of one point, paired by seed.
#[derive(Clone, Debug, PartialEq)]
pub struct Sample {
    /// The point, such as `load 0.5`; empty if nothing varies. In a row that falls or rises, it includes the two measures.
    pub at: String,
    /// The index of its measure among those of the claim.
    pub measure: usize,
    /// The name of that measure, if the claim is about each of several; otherwise empty.
    pub of_measure: String,
    /// A value for each seed. In a row: of the later measure.
    pub of: Vec<f64>,
    /// Values of the same seeds on the other side; empty for a number. In a row: of the earlier measure.
    pub than: Vec<f64>,
    /// Why there are no values, or a remark on them.
    pub note: Option<String>,
    /// The number of seeds, with or without a value.
    pub seeds: usize,
    /// True if each side is one run, whatever its seed, because nothing in it is drawn at random.
    pub one_run: bool,
    /// How the values follow each other.
    pub draws: Draws,
    /// Of one run of a log on each side: the sums of the measure by week, where its jobs are at hand.
    pub weeks: Option<Vec<Week>>,
}

/// What is known of the runs of a study beside its table, by their numbers.
#[derive(Copy, Clone)]
pub struct Runs<'a> {
    /// Whether anything in a run is drawn from its seed.
    pub drawn: &'a dyn Fn(u64) -> bool,
    /// The jobs of a run, if they are at hand.
    pub jobs: &'a dyn Fn(u64) -> Option<Rc<RunJobs>>,
}

impl Sample {
    /// The point, with the name of its measure if the claim is about several.
    pub(super) fn full_at(&self) -> String {
        let parts = [self.at.as_str(), self.of_measure.as_str()];
        parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(", ")
    }

    /// A sample without values, for a reason.
    pub(super) fn nothing(at: String, seeds: usize, note: String) -> Self {
        let draws = Draws::Independent;
        Self {
            at,
            measure: 0,
            of_measure: String::new(),
            of: Vec::new(),
            than: Vec::new(),
            note: Some(note),
            seeds,
            one_run: false,
            draws,
            weeks: None,
        }
    }
}

/// Selects the runs of a claim from the table of its study.
///
/// Where a run is unstable (its backlog grows) there is no sample, only a note: its means depend on its length.
///
/// The runs of a sample show whether it is random: where those of several seeds have one fingerprint, nothing was drawn. A
/// point with one seed does not show it; there `runs` tells. Orders and ranges on one run of a log get its weeks.
///
/// # Errors
/// [`ClaimError`] if the table does not have what the claim names.
pub fn measure_claim(claim: &Claim, table: &StudyTable, runs: Runs<'_>) -> Result<Measured, ClaimError> {
    let axes: Vec<&str> = table.axes.iter().map(String::as_str).collect();
    check_claim(claim, &axes, &|at| table.labels(at).into_iter().map(str::to_owned).collect())?;
    let measure = |id: &String| {
        table.measure(id).ok_or_else(|| ClaimError {
            problem: format!("claim `{}`: the campaign has no measure `{id}`", claim.id),
            hint: table.nearest_measure(id).map(|near| format!("did you mean `{near}`?")),
        })
    };
    let measures: Vec<usize> = claim.measures.iter().map(measure).collect::<Result<_, _>>()?;
    let others: Vec<usize> = claim.than_measures.iter().map(measure).collect::<Result<_, _>>()?;
    let gained = (!claim.gain_over.is_empty())
        .then(|| gains(table, &claim.gain_over, &[measures.clone(), others.clone()].concat()));
    // A gain is drawn where one of its two runs is, and no mean over jobs.
    let drawn = |run: u64| {
        let over = gained.as_ref().and_then(|gained| gained.over.get(&run));
        (runs.drawn)(run) || over.is_some_and(|over| (runs.drawn)(*over))
    };
    let jobs = |run: u64| if gained.is_some() || claim.on_this_log { None } else { (runs.jobs)(run) };
    let runs = Runs { drawn: &drawn, jobs: &jobs };
    let table = gained.as_ref().map_or(table, |gained| &gained.table);
    let samples = select(claim, table, (&measures, &others), runs)?;
    if let Some(sample) =
        samples.iter().find(|sample| claim.on_this_log && !sample.of.is_empty() && !sample.one_run)
    {
        let at = if sample.at.is_empty() { String::new() } else { format!(" at {}", sample.at) };
        let problem =
            format!("claim `{}`: `on_this_log`, and something is drawn at random in its runs{at}", claim.id);
        return refuse(problem, "leave `on_this_log` out: seeds give an interval");
    }
    Ok(if samples.is_empty() && measures.is_empty() {
        Measured::Missing(String::new())
    } else {
        Measured::Samples(samples)
    })
}

/// The samples of a claim: `measures` are the columns of its measures, `others` those that they are compared with, if these are not the same.
fn select(
    claim: &Claim,
    table: &StudyTable,
    (measures, others): (&[usize], &[usize]),
    runs: Runs<'_>,
) -> Result<Vec<Sample>, ClaimError> {
    let Some(first) = measures.first().copied() else { return Ok(Vec::new()) };
    // Labels that `of` fixes and `than` does not name are the same on both sides.
    let mut other = claim.of.clone();
    other.extend(claim.than.clone());
    let points = table.points();
    let chosen = claim.best.as_ref().and_then(|axis| table.axis(axis));
    let varying: Vec<usize> = (0..table.axes.len())
        .filter(|at| claim.of.get(&table.axes[*at]).is_none_or(|labels| labels.len() > 1))
        .filter(|at| chosen != Some(*at))
        .collect();
    let better = MeasureInfo::of(&claim.measures[0]).better;
    let best = chosen.map(|_| best_of(side_of(table, &points, &claim.of, &varying), first, better));
    let of = match &best {
        Some(best) => best.iter().map(|(place, point)| (place.clone(), point)).collect(),
        None => side_of(table, &points, &claim.of, &varying),
    };
    // Where `than` has one label for several of `of`, it is the same at each of them.
    let fixed = |at: &usize| {
        let axis = &table.axes[*at];
        claim.than.get(axis).is_some_and(|labels| labels.len() == 1)
    };
    let shared: Vec<usize> = varying.iter().copied().filter(|at| !fixed(at)).collect();
    let than: BTreeMap<Vec<&str>, &StudyPoint<'_>> =
        side_of(table, &points, &other, &shared).into_iter().collect();
    let opposite = |place: &[&str]| {
        let kept = varying.iter().zip(place).filter(|(at, _)| shared.contains(at));
        than.get(&kept.map(|(_, label)| *label).collect::<Vec<_>>()).copied()
    };
    let named = |axes: &[usize], place: &[&str]| {
        let named = axes.iter().zip(place).map(|(axis, label)| format!("{} {label}", table.axes[*axis]));
        named.collect::<Vec<_>>().join(", ")
    };
    let sides = of.iter().map(|(place, point)| (&varying, place, *point));
    for (axes, place, point) in sides.chain(than.iter().map(|(place, point)| (&shared, place, *point))) {
        let seeds: BTreeSet<u64> = point.runs.iter().map(|row| row.seed).collect();
        let (runs, seeds) = (point.runs.len(), seeds.len());
        if seeds < runs {
            let (id, at) = (&claim.id, named(axes, place));
            let problem = format!("claim `{id}`: there are {runs} runs of {seeds} seeds at `{at}`");
            return refuse(problem, "a point has one run of each seed");
        }
    }
    let along = claim.along.as_ref().and_then(|axis| table.axis(axis));
    if let (Some(along), Expects::UpTo { .. }) = (along, claim.expects) {
        let mut groups: Vec<(String, Vec<Against<'_, '_>>)> = Vec::new();
        for (place, point) in &of {
            let others =
                varying.iter().copied().zip(place.iter().copied()).filter(|(axis, _)| *axis != along);
            let (axes, labels): (Vec<usize>, Vec<&str>) = others.unzip();
            let (at, pair) = (named(&axes, &labels), (*point, opposite(place)));
            match groups.iter_mut().find(|(other, _)| *other == at) {
                Some((_, pairs)) => pairs.push(pair),
                None => groups.push((at, vec![pair])),
            }
        }
        let samples = groups.into_iter().map(|(at, pairs)| greatest(at, &pairs, first, better, runs.drawn));
        return Ok(samples.collect());
    }
    let mut samples = Vec::new();
    let columns = columns(claim, measures, others);
    if let (Some(axis), Expects::Falling | Expects::Rising) = (along, claim.expects) {
        // `check_gain` has checked that `of` names its labels.
        let labels = claim.of.get(&table.axes[axis]).map_or(&[][..], Vec::as_slice);
        let Some(at) = varying.iter().position(|other| *other == axis) else { return Ok(samples) };
        let rest: Vec<usize> = varying.iter().copied().filter(|other| *other != axis).collect();
        for Step { place, point, earlier, step } in steps(&of, at, labels) {
            let at = [named(&rest, &place), step];
            let at = at.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(", ");
            samples.extend(columns.iter().map(|column| column.pairs(&at, point, earlier, runs)));
        }
        return Ok(samples);
    }
    for (place, point) in &of {
        let at = named(&varying, place);
        match claim.expects {
            // `check_gain` has checked its axis.
            Expects::UpTo { .. } => {}
            Expects::Value { .. }
            | Expects::AtLeast { .. }
            | Expects::AtMost { .. }
            | Expects::Table
            | Expects::Shown { .. } => {
                samples.extend(columns.iter().map(|column| {
                    let of_jobs = MeasureInfo::of(column.ids[0]).of_jobs();
                    column.named(alone(at.clone(), point, (column.of, of_jobs), runs.drawn))
                }));
            }
            Expects::Below | Expects::Above | Expects::Change { .. } => {
                let than = opposite(place);
                samples.extend(columns.iter().map(|column| column.pairs(&at, point, than, runs)));
            }
            Expects::Falling | Expects::Rising => {
                for (pair, ids) in measures.windows(2).zip(claim.measures.windows(2)) {
                    let step = format!("{} to {}", short(&ids[0]), short(&ids[1]));
                    let at = if at.is_empty() { step } else { format!("{at}, {step}") };
                    let than = Some((*point, pair[0]));
                    samples.push(pairs(at, (point, pair[1]), than, [&ids[1], &ids[0]], runs));
                }
            }
        }
    }
    Ok(samples)
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

/// The reason why runs have no common mean, if there is one.
fn spoilt(rows: &[&StudyRow]) -> Option<String> {
    let failed = rows.iter().find_map(|row| match &row.status {
        RunStatus::Failed(why) => Some(format!("run {} failed: {why}", row.run)),
        RunStatus::Done => None,
    });
    let growing = rows.iter().filter(|row| row.unstable).count();
    let unstable = || {
        (growing > 0).then(|| format!("{growing} of {} runs are unstable (their backlog grows)", rows.len()))
    };
    failed.or_else(unstable)
}

/// True if the runs of one side are one run, so that there is no randomness in them.
pub(super) fn is_one(rows: &[&StudyRow], drawn: &dyn Fn(u64) -> bool) -> bool {
    match rows {
        [only] => !drawn(only.run),
        several => one_run(several.iter().copied()),
    }
}

fn alone(
    at: String,
    point: &StudyPoint<'_>,
    (measure, of_jobs): (usize, bool),
    drawn: &dyn Fn(u64) -> bool,
) -> Sample {
    let seeds = point.runs.len();
    if let Some(note) = spoilt(&point.runs) {
        return Sample::nothing(at, seeds, note);
    }
    let of = point.values(measure);
    let mut notes = Vec::new();
    if of.len() < seeds {
        notes.push(format!("{} of {seeds} runs have no such jobs", seeds - of.len()));
    }
    // There is no other side with which these jobs would be compared, so they are only reported. Utilization and cost refer to all
    // jobs.
    let out: u64 = point.runs.iter().map(|row| row.outcomes.rejected + row.outcomes.unfinished).sum();
    if out > 0 && of_jobs {
        notes.push(format!("{out} jobs were rejected or never finished, and are not in it"));
    }
    let note = (!notes.is_empty()).then(|| notes.join("; "));
    let (one_run, draws) = (is_one(&point.runs, drawn), point.draws);
    Sample { of, note, one_run, draws, ..Sample::nothing(at, seeds, String::new()) }
}

/// True if the jobs of two runs have the same outcomes: equal counts of each, or all completed, whatever their number.
pub(super) fn alike(one: &Outcomes, other: &Outcomes) -> bool {
    let all_completed = |of: &Outcomes| of.completed == of.total();
    one == other || (all_completed(one) && all_completed(other))
}

/// The values of both sides by seed, or why they cannot be compared. In a row that falls or rises, both sides are the same runs.
pub(super) fn pairs_of(
    of: (&StudyPoint<'_>, usize),
    than: Option<(&StudyPoint<'_>, usize)>,
) -> Result<Vec<(u64, f64, f64)>, String> {
    let others = than.map_or(&[][..], |(point, _)| point.runs.as_slice());
    let all: BTreeMap<u64, &StudyRow> = of.0.runs.iter().chain(others).map(|row| (row.run, *row)).collect();
    let all: Vec<&StudyRow> = all.into_values().collect();
    if let Some(note) = spoilt(&all) {
        return Err(note);
    }
    let others: BTreeMap<u64, &StudyRow> = others.iter().map(|row| (row.seed, *row)).collect();
    let pairs: Vec<(&StudyRow, &StudyRow)> =
        of.0.runs.iter().filter_map(|row| Some((*row, *others.get(&row.seed)?))).collect();
    let unlike = pairs.iter().filter(|(row, other)| !alike(&row.outcomes, &other.outcomes)).count();
    if unlike > 0 {
        return Err(format!("the outcomes of jobs differ in {unlike} of {} pairs", of.0.runs.len()));
    }
    let measure = than.map_or(of.1, |(_, measure)| measure);
    let values =
        pairs.iter().filter_map(|(row, other)| Some((row.seed, row.values[of.1]?, other.values[measure]?)));
    Ok(values.collect())
}

pub(super) fn pairs(
    at: String,
    of: (&StudyPoint<'_>, usize),
    than: Option<(&StudyPoint<'_>, usize)>,
    [of_id, than_id]: [&str; 2],
    runs: Runs<'_>,
) -> Sample {
    let (seeds, draws) = (of.0.runs.len(), of.0.draws);
    let values = match pairs_of(of, than) {
        Ok(values) => values,
        Err(note) => return Sample::nothing(at, seeds, note),
    };
    let others = than.map_or(&[][..], |(point, _)| point.runs.as_slice());
    let one_run = is_one(&of.0.runs, runs.drawn) && (others.is_empty() || is_one(others, runs.drawn));
    let jobs = |rows: &[&StudyRow]| rows.first().filter(|_| one_run).and_then(|row| (runs.jobs)(row.run));
    let both = jobs(others).zip(jobs(&of.0.runs));
    let weeks = both.and_then(|(than, of)| by_week((&than, than_id), (&of, of_id)));
    let (of, than): (Vec<f64>, Vec<f64>) = values.into_iter().map(|(_, of, than)| (of, than)).unzip();
    let missing = seeds - of.len();
    let note = (missing > 0).then(|| format!("{missing} of {seeds} runs have no such jobs"));
    Sample { of, than, note, one_run, draws, weeks, ..Sample::nothing(at, seeds, String::new()) }
}
