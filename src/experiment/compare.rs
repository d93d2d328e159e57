//! Comparing: folders of runs, or the table of a study, in; differences with their intervals out.

use std::collections::BTreeSet;
use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};

use serde::Serialize;
use serde_json::Value;

use super::RunError;
use crate::metrics::comparison::{
    Charge, CompareError, ComparedRun, JobOutcome, JobQuestion, RunsComparison, StudyComparison,
    StudyQuestion, compare_jobs, compare_study,
};
use crate::metrics::{
    Backlog, Definitions, Outcomes, RunStatus, StudyRow, StudyTable, Window, flat_measures,
};
use crate::model::Outcome;
use crate::report::{JobRow, RunFolder};
use crate::units::{Span, Time};

/// What is asked.
#[derive(Clone, Debug)]
pub struct CompareOptions {
    /// The axis of a study whose labels are compared.
    pub by: Option<String>,
    /// What the others are held against: a label, or the name of a run; by default the first.
    pub baseline: Option<String>,
    /// Labels of other axes of a study that count.
    pub only: Vec<(String, String)>,
    /// Ids of measures of a study.
    pub measures: Vec<String>,
    /// How jobs count that did not end alike.
    pub charge: Option<Charge>,
    /// Level of the intervals, 0.95 for 95 %.
    pub level: f64,
    /// How many of the jobs that gained and lost most are named.
    pub top: usize,
    /// Seed of the bootstrap's draws.
    pub seed: u64,
}

/// What was found.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Comparison {
    /// The variants of a study.
    Study(StudyComparison),
    /// Runs, job by job.
    Runs(RunsComparison),
}

/// Measures of a run as a whole that are shown side by side, by the last word of their id.
const WHOLE: [&str; 7] =
    ["utilization", "makespan", "cost", "charged", "meter_kwh", "facility_kwh", "lost_proc_s"];

/// Compares the runs in some folders with the first, or the variants in the table of a study.
///
/// Several folders in each place, with a seed each, are paired by seed like a study.
///
/// # Errors
/// [`RunError::Request`] if there is nothing to compare, or not in the way asked for.
pub fn compare(paths: &[PathBuf], options: &CompareOptions) -> Result<Comparison, RunError> {
    let tables: Vec<Option<PathBuf>> = paths.iter().map(|path| study_file(path)).collect();
    if let [Some(table)] = tables.as_slice() {
        return study(&read_study(table)?, options);
    }
    if let Some((path, _)) = paths.iter().zip(&tables).find(|(_, table)| table.is_some()) {
        return Err(RunError::request(format!(
            "`{}` is the table of a study, and is not alone",
            path.display()
        ))
        .with_hint(
            "compare the variants of one table, `gridemu compare TABLE --by AXIS`, or folders of runs",
        ));
    }
    let mut places = Vec::new();
    for path in paths {
        places.push((path.clone(), RunFolder::all_in(path)?));
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
        return study(&table_of(&places), options);
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

/// The table of a study at `path`: itself, or `results.csv` in it.
fn study_file(path: &Path) -> Option<PathBuf> {
    let file = if path.is_dir() { path.join("results.csv") } else { path.to_owned() };
    let mut first = String::new();
    BufReader::new(File::open(&file).ok()?).read_line(&mut first).ok()?;
    first.starts_with("run,").then_some(file)
}

fn read_study(path: &Path) -> Result<StudyTable, RunError> {
    let named = |error: &dyn std::fmt::Display| RunError::request(format!("`{}`: {error}", path.display()));
    let file = File::open(path).map_err(|error| named(&error))?;
    let name = path.file_stem().map_or_else(String::new, |stem| stem.to_string_lossy().into_owned());
    let name = match path.parent().and_then(Path::file_name) {
        Some(folder) if name == "results" => folder.to_string_lossy().into_owned(),
        _ => name,
    };
    StudyTable::read_csv(&name, BufReader::new(file))
        .map_err(|error| named(&error).with_hint("give a table as `gridemu campaign` writes it, whole"))
}

fn study(table: &StudyTable, options: &CompareOptions) -> Result<Comparison, RunError> {
    let question = StudyQuestion {
        by: options.by.clone(),
        baseline: options.baseline.clone(),
        only: options.only.clone(),
        measures: options.measures.clone(),
        charge: options.charge,
        level: options.level,
    };
    let refused = |error: CompareError| {
        let refused = RunError::request(&error);
        match error.hint() {
            Some(hint) => refused.with_hint(hint),
            None => refused,
        }
    };
    compare_study(table, &question).map(Comparison::Study).map_err(refused)
}

fn seed_of(folder: &RunFolder) -> Option<u64> {
    folder.summary().and_then(|summary| summary["seed"].as_u64())
}

/// Places with a run for each seed, as the table of a study with the one axis `run`.
fn table_of(places: &[(PathBuf, Vec<RunFolder>)]) -> StudyTable {
    let names = distinct(&places.iter().map(|(path, _)| path.as_path()).collect::<Vec<_>>());
    let flat: Vec<_> = places
        .iter()
        .zip(&names)
        .flat_map(|((_, folders), name)| folders.iter().map(move |folder| (name, folder)))
        .filter_map(|(name, folder)| Some((name, folder.summary()?, flat_measures(folder.summary()?))))
        .collect();
    // What counts jobs is in the outcomes already.
    let measures: BTreeSet<&String> = flat.iter().flat_map(|(_, _, values)| values.keys()).collect();
    let measures: Vec<String> = measures.into_iter().filter(|id| shown_of_a_study(id)).cloned().collect();
    let rows = (1..).zip(&flat).map(|(run, (name, summary, values))| StudyRow {
        run,
        point: vec![(*name).clone()],
        seed: summary["seed"].as_u64().unwrap_or_default(),
        status: RunStatus::Done,
        jobs: summary["jobs"].as_u64().unwrap_or_default(),
        outcomes: outcomes_of(summary),
        grows: grows(summary),
        scenario_hash: summary["scenario_hash"].as_str().unwrap_or_default().to_owned(),
        fingerprint: summary["fingerprint"].as_str().unwrap_or_default().to_owned(),
        values: measures.iter().map(|id| values.get(id).copied()).collect(),
    });
    StudyTable { name: "runs".to_owned(), axes: vec!["run".to_owned()], rows: rows.collect(), measures }
}

/// Means of jobs, of all, of classes and of sites, and what a run is as a whole.
fn shown_of_a_study(id: &str) -> bool {
    let last = id.rsplit('.').next().unwrap_or(id);
    let mean = ["mean_wait", "mean_response", "mean_bounded_slowdown"].contains(&last);
    let of_the_run = !id.starts_with("class.") && WHOLE.contains(&last);
    (mean && !id.starts_with("nowhere")) || of_the_run
}

fn outcomes_of(summary: &Value) -> Outcomes {
    serde_json::from_value(summary["outcomes"].clone()).unwrap_or_default()
}

fn grows(summary: &Value) -> bool {
    summary["backlog"]["grows"].as_bool().unwrap_or(false)
}

/// Whether ever more jobs waited.
fn backlog_grows(jobs: &[JobOutcome], window: Window) -> bool {
    let mut backlog = Backlog::default();
    let in_it = jobs.iter().filter(|job| !matches!(job.outcome, Outcome::Rejected(_)));
    in_it.for_each(|job| backlog.add_stay(job.submit, job.end));
    let counted = jobs.iter().filter(|job| window.contains(job.submit)).count();
    backlog.summary(window, counted as u64).is_some_and(|backlog| backlog.grows)
}

fn runs(mut folders: Vec<RunFolder>, options: &CompareOptions) -> Result<Comparison, RunError> {
    if options.by.is_some() || !options.only.is_empty() || !options.measures.is_empty() {
        return Err(RunError::request("`--by`, `--where` and `--measure` are for the table of a study")
            .with_hint("folders of runs are compared job by job: leave these out"));
    }
    let [_, _, ..] = folders.as_slice() else {
        return Err(RunError::request("one run alone: there is nothing to compare it with")
            .with_hint("give the folders of two runs, or the table of a study"));
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
    let question = JobQuestion {
        charge: options.charge,
        tau,
        window: window_of(&all)?,
        feedback: with_feedback(&folders)?,
        level: options.level,
        top: options.top,
        seed: options.seed,
    };
    let compared = |at: usize, jobs: &[JobOutcome]| ComparedRun {
        name: names[at].clone(),
        title: folders[at].title().to_owned(),
        // The summary of a grid says so, of its measured window; that of a replay does not.
        grows: match folders[at].summary().filter(|summary| summary.get("backlog").is_some()) {
            Some(summary) => grows(summary),
            None => backlog_grows(jobs, question.window),
        },
    };
    // The jobs of two runs at a time: those of twenty would not fit.
    let baseline = jobs_of(&folders[0])?;
    let (mut runs, mut pairs) = (vec![compared(0, &baseline)], Vec::new());
    for at in 1..folders.len() {
        let jobs = jobs_of(&folders[at])?;
        pairs.push(compare_jobs((&names[0], &baseline), (&names[at], &jobs), &question));
        runs.push(compared(at, &jobs));
    }
    let whole = whole_of(&folders);
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

/// The bound of the slowdown that all runs were summarised with.
fn tau_of(folders: &[&RunFolder]) -> Result<Span, RunError> {
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
        several => Err(RunError::request(format!(
            "the runs were summarised with different bounds of the slowdown ({several:?} s)"
        ))
        .with_hint("run them again with one `tau`")),
    }
}

/// The measured window of all runs. A table without a summary does not say; it is taken as the others are.
fn window_of(folders: &[&RunFolder]) -> Result<Window, RunError> {
    let mut windows: Vec<Window> = Vec::new();
    for summary in folders.iter().filter_map(|folder| folder.summary()) {
        let at = |key: &str| {
            let secs = summary["measure"][key].as_f64()?;
            Some(Time::ZERO + Span::from_secs_f64(secs)?)
        };
        // The end of a window without one is more than a number of seconds can say.
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
            let said = |window: &Window| match *window == Window::ALL {
                true => "all of it".to_owned(),
                false => format!("{} to {} s", window.from().as_secs_f64(), window.to().as_secs_f64()),
            };
            let listed: Vec<String> = windows.iter().map(said).collect();
            Err(RunError::request(format!("the runs measure different windows ({})", listed.join("; ")))
                .with_hint("run them again with one `measure`"))
        }
    }
}

/// Whether the users of a run waited for their jobs before they submitted the next.
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

/// Whether a workload of a scenario has `feedback = true`, of which there may be one for each site.
fn says_feedback(value: &toml::Value) -> bool {
    match value {
        toml::Value::Table(entries) => entries
            .iter()
            .any(|(key, entry)| (key == "feedback" && entry.as_bool() == Some(true)) || says_feedback(entry)),
        toml::Value::Array(items) => items.iter().any(says_feedback),
        _ => false,
    }
}

fn jobs_of(folder: &RunFolder) -> Result<Vec<JobOutcome>, RunError> {
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
    let rows = folder.jobs()?;
    rows.map(|row| row.map(outcome).map_err(RunError::from)).collect()
}

fn whole_of(folders: &[RunFolder]) -> Vec<(String, Vec<Option<f64>>)> {
    let flat: Vec<_> =
        folders.iter().map(|folder| folder.summary().map(flat_measures).unwrap_or_default()).collect();
    let ids: BTreeSet<&String> = flat.iter().flat_map(|values| values.keys()).collect();
    let shown = |id: &&&String| {
        !id.starts_with("class.") && WHOLE.contains(&id.rsplit('.').next().unwrap_or_default())
    };
    ids.iter()
        .filter(shown)
        .map(|id| ((**id).clone(), flat.iter().map(|values| values.get(*id).copied()).collect::<Vec<_>>()))
        // What nobody paid or used is no news.
        .filter(|(_, values)| values.iter().flatten().any(|value| *value != 0.0))
        .collect()
}

/// Names that tell paths apart: their last parts if those do, else all of them.
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
