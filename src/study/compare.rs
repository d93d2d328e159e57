//! Compares folders of runs, or the variants in the table of a study, and gives the differences with their intervals.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use rustc_hash::FxHashMap;
use serde::Serialize;
use serde_json::Value;

use crate::experiment::RunError;
use crate::metrics::{Backlog, Definitions, Window};
use crate::model::{JobRef, Origin, Outcome, did_you_mean};
use crate::output::{JobRefs, JobRow, RunFolder};
use crate::scenario::listed;
use crate::study::comparison::{
    CompareOptions, ComparedRun, JobOutcome, JobQuestion, RunsComparison, StudyComparison, compare_jobs,
    compare_study, compare_workflows, workflow_outcome,
};
use crate::study::open::{is_campaign_file, is_study, read_study};
use crate::study::{
    JOB_MEASURES, RunStatus, StudyRow, StudyTable, flat_measures, nearest_measure, stands_for,
};
use crate::units::{Span, Time};

mod of_campaign;
mod shown;

pub use of_campaign::{check_question, compare_campaign};

/// The result of a comparison.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Comparison {
    /// The variants of a study.
    Study(StudyComparison),
    /// Runs, compared job by job.
    Runs(RunsComparison),
}

/// Compares the runs in some folders with the first, or the variants in the table of a study.
///
/// If each place has several folders with one seed each, they are paired by seed like a study.
///
/// # Errors
/// `RunErrorKind::Request` if there is nothing to compare, or if the requested comparison is not possible.
pub fn compare(paths: &[PathBuf], options: &CompareOptions) -> Result<Comparison, RunError> {
    if let [only] = paths
        && is_study(only)
    {
        return compare_study(&read_study(only)?, options).map(Comparison::Study);
    }
    if let Some(path) = paths.iter().find(|path| is_study(path) || is_campaign_file(path)) {
        let what = if is_study(path) { "the table of a campaign" } else { "the file of a campaign" };
        return Err(RunError::request(format!("`{}` is {what}, and must be given alone", path.display()))
            .with_hint(
                "compare the variants of one table, `gridemu compare TABLE --by AXIS`, or folders of runs",
            ));
    }
    let mut places = Vec::new();
    for path in paths {
        let (folders, unfinished) = RunFolder::all_in(path)?;
        if let Some(error) = unfinished.into_iter().next() {
            let hint = "wait for its end, or give the folders of the finished runs one by one";
            return Err(RunError::from(error).with_hint(hint));
        }
        places.push((path.clone(), folders));
    }
    let replicated = |folders: &[RunFolder]| {
        let seeds: BTreeSet<Option<u64>> = folders.iter().map(seed_of).collect();
        folders.len() > 1 && seeds.len() == folders.len() && !seeds.contains(&None)
    };
    let with_seeds = places.iter().filter(|(_, folders)| replicated(folders)).count();
    if places.len() > 1 && with_seeds == places.len() {
        let all: Vec<&RunFolder> = places.iter().flat_map(|(_, folders)| folders).collect();
        tau_of(&all)?;
        window_of(&all)?;
        return compare_study(&table_of(&places, &options.measures), options).map(Comparison::Study);
    }
    if places.len() > 1 && with_seeds > 0 {
        let (path, folders) = places.iter().find(|(_, folders)| replicated(folders)).unwrap_or(&places[0]);
        let (other, _) = places.iter().find(|(_, folders)| !replicated(folders)).unwrap_or(&places[0]);
        return Err(RunError::request(format!(
            "`{}` has a run for each of {} seeds, and `{}` has not",
            path.display(),
            folders.len(),
            other.display()
        ))
        .with_hint("give folders that have a run for each seed, all of them, or one run of each"));
    }
    let folders: Vec<RunFolder> = places.into_iter().flat_map(|(_, folders)| folders).collect();
    runs(folders, options)
}

fn seed_of(folder: &RunFolder) -> Option<u64> {
    folder.summary().and_then(|summary| summary["seed"].as_u64())
}

/// Places with one run for each seed, as the table of a study with the one axis `run`.
fn table_of(places: &[(PathBuf, Vec<RunFolder>)], wanted: &[String]) -> StudyTable {
    let names = distinct(&places.iter().map(|(path, _)| path.as_path()).collect::<Vec<_>>());
    let flat: Vec<_> = places
        .iter()
        .zip(&names)
        .flat_map(|((_, folders), name)| folders.iter().map(move |folder| (name, folder)))
        .filter_map(|(name, folder)| Some((name, folder.summary()?, flat_measures(folder.summary()?))))
        .collect();
    // Counts of jobs are in the outcomes already.
    let all: BTreeSet<&String> = flat.iter().flat_map(|(_, _, values)| values.keys()).collect();
    let column = |id: &str| -> Vec<Option<u64>> {
        flat.iter().map(|(_, _, values)| values.get(id).map(|value| value.to_bits())).collect()
    };
    let mut shown: Vec<&String> = all.iter().copied().filter(|id| shown::of_a_study(id)).collect();
    // Those of workflows first, then those of whole runs: where there is one site, its jobs are all jobs, and are shown once.
    shown.sort_by_key(|id| (shown::of_workflows(id), id.matches('.').count(), *id));
    let mut seen = BTreeSet::new();
    shown.retain(|id| seen.insert((id.rsplit('.').next().unwrap_or(id), column(id))));
    let is_shown = |id: &String| shown.contains(&id);
    let is_wanted = |id: &&String| wanted.iter().any(|wanted| stands_for(wanted, id));
    let more = all.iter().copied().filter(|id| is_wanted(id) && !is_shown(id));
    let measures: Vec<String> = if wanted.is_empty() {
        shown.into_iter().cloned().collect()
    } else {
        let more: Vec<&String> = more.collect();
        shown.into_iter().chain(more).cloned().collect()
    };
    let rows = (1..).zip(&flat).map(|(run, (name, summary, values))| StudyRow {
        run,
        point: vec![(*name).clone()],
        seed: summary["seed"].as_u64().unwrap_or_default(),
        status: RunStatus::Done,
        jobs: summary["jobs"].as_u64().unwrap_or_default(),
        outcomes: serde_json::from_value(summary["outcomes"].clone()).unwrap_or_default(),
        unstable: unstable(summary),
        scenario_hash: summary["scenario_hash"].as_str().unwrap_or_default().to_owned(),
        fingerprint: summary["fingerprint"].as_str().unwrap_or_default().to_owned(),
        values: measures.iter().map(|id| values.get(id).copied()).collect(),
    });
    StudyTable {
        name: "runs".to_owned(),
        axes: vec!["run".to_owned()],
        rows: rows.collect(),
        measures,
        baseline: None,
        dates: Vec::new(),
    }
}

fn unstable(summary: &Value) -> bool {
    summary["backlog"]["unstable"].as_bool().unwrap_or(false)
}

/// True if the backlog grew.
fn backlog_grows(jobs: &[JobOutcome], window: Window) -> bool {
    let mut backlog = Backlog::default();
    let in_it = jobs.iter().filter(|job| !matches!(job.outcome, Outcome::Rejected(_)));
    in_it.for_each(|job| backlog.add_stay(job.submit, job.end));
    let counted = jobs.iter().filter(|job| window.contains(job.submit)).count();
    backlog.summary(window, counted as u64).is_some_and(|backlog| backlog.unstable)
}

fn runs(mut folders: Vec<RunFolder>, options: &CompareOptions) -> Result<Comparison, RunError> {
    if options.by.is_some() || !options.only.is_empty() {
        return Err(RunError::request("`--by` and `--where` are for campaigns")
            .with_hint("folders of runs are compared job by job: omit them"));
    }
    let [_, _, ..] = folders.as_slice() else {
        return Err(RunError::request("one run alone: there is nothing to compare it with")
            .with_hint("give the folders of two runs, or a campaign"));
    };
    let mut names = distinct(&folders.iter().map(RunFolder::dir).collect::<Vec<_>>());
    if let Some(wanted) = &options.baseline {
        let Some(at) = names.iter().position(|name| name == wanted) else {
            let listed = names.join("`, `");
            return Err(RunError::request(format!("there is no run `{wanted}`; there are `{listed}`")));
        };
        folders[..=at].rotate_right(1);
        names[..=at].rotate_right(1);
    }
    let all: Vec<&RunFolder> = folders.iter().collect();
    let tau = tau_of(&all)?;
    let (window, feedback) = (window_of(&all)?, with_feedback(&folders)?);
    let question = JobQuestion { options: options.clone(), tau, window, feedback };
    let whole = whole_of(&folders, &options.measures)?;
    let compared = |at: usize, jobs: &[JobOutcome]| ComparedRun {
        name: names[at].clone(),
        title: folders[at].title().to_owned(),
        // A table alone, and a summary of an older gridemu, do not state it.
        unstable: !options.finite
            && match folders[at].summary().filter(|summary| summary.get("backlog").is_some()) {
                Some(summary) => unstable(summary),
                None => backlog_grows(jobs, question.window),
            },
    };
    // The jobs of two runs at a time, since those of twenty would not fit into memory.
    let (baseline, workflows) = (jobs_of(&folders[0])?, workflows_of(&folders[0])?);
    let (mut runs, mut pairs) = (vec![compared(0, &baseline)], Vec::new());
    for at in 1..folders.len() {
        let jobs = jobs_of(&folders[at])?;
        let mut pair = compare_jobs((&names[0], &baseline), (&names[at], &jobs), &question);
        let of_it = workflows_of(&folders[at])?;
        pair.cells.splice(..0, compare_workflows((&names[0], &workflows), (&names[at], &of_it), &question));
        pairs.push(pair);
        runs.push(compared(at, &jobs));
    }
    let mut found = RunsComparison {
        runs,
        tau_s: tau.as_secs_f64(),
        level: options.level,
        charge: options.charge,
        pairs,
        whole,
    };
    found.settle();
    Ok(Comparison::Runs(found))
}

/// The bound of the slowdown of all runs.
pub(super) fn tau_of(folders: &[&RunFolder]) -> Result<Span, RunError> {
    let mut bounds = Vec::new();
    for folder in folders {
        if let Some(tau) = folder.summary().and_then(|summary| summary["tau"].as_f64())
            && !bounds.contains(&tau)
        {
            bounds.push(tau);
        }
    }
    match bounds.as_slice() {
        [] => Ok(Definitions::TAU),
        [one] => Ok(Span::from_secs_f64(*one).unwrap_or(Definitions::TAU)),
        several => {
            Err(RunError::request(format!("the runs have different bounds of the slowdown ({several:?} s)"))
                .with_hint("run them again with one `tau`"))
        }
    }
}

/// The measured window of all runs. A table without a summary does not give it and is read with the window of the others.
pub(super) fn window_of(folders: &[&RunFolder]) -> Result<Window, RunError> {
    let mut windows: Vec<Window> = Vec::new();
    for summary in folders.iter().filter_map(|folder| folder.summary()) {
        let at = |key: &str| {
            let secs = summary["measure"][key].as_f64()?;
            Some(Time::ZERO + Span::from_secs_f64(secs)?)
        };
        // The end of an unlimited window is too large for a number of seconds.
        let to = at("to").unwrap_or(Time::NEVER);
        let window = at("from").and_then(|from| Window::new(from, to)).unwrap_or(Window::ALL);
        if !windows.contains(&window) {
            windows.push(window);
        }
    }
    match windows.as_slice() {
        [] => Ok(Window::ALL),
        [one] => Ok(*one),
        _ => {
            let shown = |window: &Window| match *window == Window::ALL {
                true => "all of it".to_owned(),
                false => format!("{} to {}", window.from().told(), window.to().told()),
            };
            let listed: Vec<String> = windows.iter().map(shown).collect();
            Err(RunError::request(format!("the runs measure different windows ({})", listed.join("; ")))
                .with_hint("run them again with one `measure`"))
        }
    }
}

/// True if the users of a run waited for their jobs before they submitted the next.
fn with_feedback(folders: &[RunFolder]) -> Result<bool, RunError> {
    for folder in folders {
        let options = folder.summary().and_then(|summary| summary["options"].as_array());
        let replayed = options.is_some_and(|options| options.iter().any(|option| option == "--feedback"));
        let scenario = folder.scenario()?;
        let scenario = scenario.and_then(|text| text.parse::<toml::Table>().ok());
        if replayed || scenario.is_some_and(|table| says_feedback(&toml::Value::Table(table))) {
            return Ok(true);
        }
    }
    Ok(false)
}

/// True if a workload of a scenario has `feedback = true`, or is of workflows, whose tasks are submitted when others have ended; each site may
/// have a workload.
fn says_feedback(value: &toml::Value) -> bool {
    let says = |(key, entry): (&String, &toml::Value)| match (key.as_str(), entry) {
        ("feedback", toml::Value::Boolean(true)) | ("workflow", toml::Value::String(_)) => true,
        _ => says_feedback(entry),
    };
    match value {
        toml::Value::Table(entries) => entries.iter().any(says),
        toml::Value::Array(items) => items.iter().any(says_feedback),
        _ => false,
    }
}

/// The jobs of a run.
pub(super) fn jobs_of(folder: &RunFolder) -> Result<Vec<JobOutcome>, RunError> {
    let outcome = |row: JobRow| JobOutcome {
        ready: row.ready(),
        job: row.job,
        origin: row.origin,
        site: row.site,
        class: row.class,
        submit: row.submit,
        start: row.start,
        end: row.end,
        procs: row.requested,
        run: row.run,
        outcome: row.outcome,
    };
    let (mut jobs, mut refs) = (Vec::new(), JobRefs::default());
    let mut lines: FxHashMap<JobRef, (u64, u32, usize)> = FxHashMap::default();
    for row in folder.jobs()? {
        let row = row?;
        let line = (row.line, row.attempts, jobs.len());
        if let Some((before, attempts, at)) = lines.insert(refs.name(row.origin, row.job, &row.site), line) {
            // A task that had completed and ran again: its last row tells all.
            if row.origin == Origin::Grid && attempts > 0 && row.attempts > attempts {
                lines.insert(refs.name(row.origin, row.job, &row.site), (row.line, row.attempts, at));
                jobs[at] = outcome(row);
                continue;
            }
            let (path, line, job) = (folder.jobs_path().display(), row.line, row.job);
            return Err(RunError::request(format!("{path}:{line}: job {job} is already in line {before}"))
                .with_hint("each job has one row; copy or create the table again"));
        }
        jobs.push(outcome(row));
    }
    Ok(jobs)
}

/// The workflows of a run.
fn workflows_of(folder: &RunFolder) -> Result<Vec<JobOutcome>, RunError> {
    folder.workflows()?.into_iter().flatten().map(|row| Ok(workflow_outcome(&row?))).collect()
}

/// A measure, and its value in each run.
type Whole = (String, Vec<Option<f64>>);

/// Measures of whole runs: a selection, or those that are `wanted`.
///
/// # Errors
/// `RunErrorKind::Request` if no run has a requested measure.
fn whole_of(folders: &[RunFolder], wanted: &[String]) -> Result<Vec<Whole>, RunError> {
    let flat: Vec<_> =
        folders.iter().map(|folder| folder.summary().map(flat_measures).unwrap_or_default()).collect();
    let ids: BTreeSet<&String> = flat.iter().flat_map(|values| values.keys()).collect();
    let of_jobs = |wanted: &str| JOB_MEASURES.iter().any(|id| stands_for(wanted, id));
    let named = |wanted: &String| ids.iter().any(|id| stands_for(wanted, id));
    if let Some(wrong) = wanted.iter().find(|id| !of_jobs(id) && !named(id)) {
        let known = || JOB_MEASURES.into_iter().chain(ids.iter().map(|id| id.as_str()));
        let near = did_you_mean(nearest_measure(wrong, known()));
        let last = |id: &&str| !id.contains('.') || id.starts_with("energy.") || id.starts_with("usage.");
        let of_all = listed(known().filter(last).collect::<BTreeSet<_>>());
        return Err(RunError::request(format!("the runs have no measure `{wrong}`{near}")).with_hint(format!(
            "of all jobs and the whole run there are {of_all}; those of groups begin with `site.NAME.`, `class.NAME.`, `local.` or `grid.`"
        )));
    }
    let row = |id: &str| -> Vec<Option<f64>> { flat.iter().map(|values| values.get(id).copied()).collect() };
    if !wanted.is_empty() {
        let named = wanted.iter().flat_map(|wanted| ids.iter().filter(|id| stands_for(wanted, id)));
        let mut seen = BTreeSet::new();
        let named = named.filter(|id| !of_jobs(id) && seen.insert(**id));
        return Ok(named.map(|id| ((**id).clone(), row(id))).collect());
    }
    let shown = |id: &&&String| shown::of_runs(id);
    let shown: Vec<Whole> = ids.iter().filter(shown).map(|id| ((**id).clone(), row(id))).collect();
    // Measures that are zero in all runs are not shown, and neither are those of the only site.
    let last = |id: &str| id.rsplit('.').next().unwrap_or_default().to_owned();
    let repeats = |(id, values): &Whole| {
        let same =
            |(whole, of): &Whole| !whole.starts_with("site.") && last(whole) == last(id) && of == values;
        id.starts_with("site.") && shown.iter().any(same)
    };
    let some = |(_, values): &&Whole| values.iter().flatten().any(|value| *value != 0.0);
    Ok(shown.iter().filter(some).filter(|row| !repeats(row)).cloned().collect())
}

/// Unique names for paths: their last parts if those differ, else the whole paths.
fn distinct(paths: &[&Path]) -> Vec<String> {
    let last = |path: &&Path| path.file_name().map(|name| name.to_string_lossy().into_owned());
    let names: Option<Vec<String>> = paths.iter().map(last).collect();
    match names {
        Some(names) if names.iter().collect::<BTreeSet<_>>().len() == paths.len() => names,
        _ => paths.iter().map(|path| path.display().to_string()).collect(),
    }
}

#[cfg(test)]
mod tests;
