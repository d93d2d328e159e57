//! Drills: whether a broker survives what real brokers have died of.
//!
//! A drill is a scenario with a `[drill]`: what happened to whom, and what must hold in the run ([`crate::scenario::Drill`]). A run
//! writes its files into a folder, from which the expectations are counted, and which is checked as `gridemu validate` does. Besides
//! what a drill expects, every run must end, leave no job without an end, and be a possible schedule.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};

use rayon::prelude::*;
use serde::Serialize;

use super::campaign::measures;
use super::reproduce::plain;
use super::{MeasureInfo, flat_measures, nearest_measure};
use crate::experiment::{GridFrom, Progress, Run, RunError, RunErrorKind, validate};
use crate::grid::Policies;
use crate::metrics::{GridSummary, Outcomes};
use crate::model::{Cause, Origin, Outcome, did_you_mean, nearest};
use crate::output::{ReadError, RunFolder, files};
use crate::scenario::{Count, Counted, DRILLS, Drill, Figure, Override, Scenario, ScenarioError};

/// A broker that is drilled.
#[derive(Clone, Debug)]
pub struct Contender {
    /// Its name in tables.
    pub name: String,
    /// The keys that put it into a scenario; none for the broker of the drill itself.
    pub sets: Vec<Override>,
}

/// A drill as a file, not read yet.
#[derive(Clone, Debug)]
pub struct DrillFile {
    /// The name, which is that of the file.
    pub name: String,
    path: PathBuf,
    text: Cow<'static, str>,
}

/// The result of a drill.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct DrillRan {
    /// The name of the drill.
    pub drill: String,
    /// The name of the broker.
    pub broker: String,
    /// What did not hold; nothing if the broker held.
    pub failures: Vec<Failure>,
    /// How long the emulated grid ran, in seconds; `None` if the run did not end normally.
    pub lasted_s: Option<f64>,
    /// The wall-clock time of the run, in seconds.
    pub wall_s: Option<f64>,
}

/// What did not hold.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case", tag = "kind")]
pub enum Failure {
    /// The run did not end normally.
    Run {
        /// The error.
        problem: String,
    },
    /// Jobs were left when the run ended.
    Unfinished {
        /// Their number.
        jobs: u64,
    },
    /// The outcomes do not sum to the jobs that were submitted.
    Unbalanced {
        /// The sum of the outcomes.
        outcomes: u64,
        /// The jobs that were submitted.
        submitted: u64,
    },
    /// The schedule is not possible.
    Invalid {
        /// The number of violations.
        violations: u64,
        /// The first one.
        first: String,
    },
    /// An expectation of the drill does not hold.
    Expectation {
        /// The expectation.
        expects: String,
        /// The figures that it names.
        figures: Vec<Value>,
    },
}

/// The value of a figure.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Value {
    /// The figure as it is written.
    pub figure: String,
    /// Its value; `None` if the run has none.
    pub value: Option<f64>,
    /// The unit: `s`, `%` for a share, or nothing.
    pub unit: &'static str,
}

/// Figures with a name of their own in drills.
const OWN: [&str; 3] = ["lost", "attempts_max", "wasted"];

impl DrillRan {
    /// True if everything held.
    pub fn held(&self) -> bool {
        self.failures.is_empty()
    }
}

impl DrillFile {
    /// All built-in drills.
    pub fn built_in() -> Vec<Self> {
        DRILLS.iter().map(|file| Self::of(Path::new(file.path), Cow::Borrowed(file.text))).collect()
    }

    /// The drill that is called so: a built-in one, or a file.
    ///
    /// # Errors
    /// `RunErrorKind::Request` if there is none, or it cannot be read.
    pub fn find(written: &str) -> Result<Self, RunError> {
        let path = Path::new(written);
        if !path.is_file()
            && let Some(file) = Drill::built_in(written)
        {
            return Ok(Self::of(Path::new(file.path), Cow::Borrowed(file.text)));
        }
        let text = files::text(path).map_err(|error| {
            let near = did_you_mean(nearest(written, Drill::names()));
            let names: Vec<&str> = Drill::names().collect();
            RunError::request(format!("there is no drill `{written}`{near}, and no such file: {error}"))
                .with_hint(format!("the drills are {}; `--list` says what they are about", names.join(", ")))
        })?;
        Ok(Self::of(path, Cow::Owned(text)))
    }

    fn of(path: &Path, text: Cow<'static, str>) -> Self {
        let name =
            path.file_stem().map_or_else(|| path.display().to_string(), |s| s.to_string_lossy().into_owned());
        Self { name, path: path.to_owned(), text }
    }

    /// What happened to whom, by the file.
    ///
    /// # Errors
    /// `RunErrorKind::Request` if it is no drill, with all problems of its scenario.
    pub fn about(&self, policies: &Policies) -> Result<String, RunError> {
        let scenario = self.scenario(&[], policies)?;
        Ok(scenario.drill().map(|drill| drill.about.clone()).unwrap_or_default())
    }

    fn scenario(&self, sets: &[Override], policies: &Policies) -> Result<Scenario, RunError> {
        let scenario = Scenario::read(&self.path, &self.text, sets, policies)?;
        if scenario.drill().is_none() {
            return Err(RunError::request(format!("`{}` has no `[drill]`", self.path.display()))
                .with_hint("docs/drills.md says what it is made of"));
        }
        Ok(scenario)
    }

    /// The scenario with a broker, when its expectations name figures that its run has.
    fn read(&self, sets: &[Override], policies: &Policies) -> Result<Scenario, RunError> {
        let scenario = self.scenario(sets, policies)?;
        let known = measures::of_scenario(scenario.clone(), policies)?;
        let mut problems = Vec::new();
        for expected in scenario.drill().iter().flat_map(|drill| &drill.expects) {
            for figure in expected.expectation.figures() {
                let Figure::Measure(written) = figure else { continue };
                let id = id_of(written);
                if OWN.contains(&id.as_str()) || known.contains(&id) || measures::is_open(&id) {
                    continue;
                }
                let ids = known.iter().map(String::as_str).chain(OWN);
                let near = did_you_mean(nearest_measure(written, ids));
                problems.push(expected.problem(format!("there is no measure `{written}`{near}")).with_hint(
                    "docs/output.md has all measures; docs/drills.md says what else can be named",
                ));
            }
        }
        if problems.is_empty() { Ok(scenario) } else { Err(ScenarioError::new(problems).into()) }
    }

    /// Runs the drill with its files in `folder`.
    fn run(&self, contender: &Contender, folder: &Path, policies: &Policies) -> Result<DrillRan, RunError> {
        let mut scenario = self.read(&contender.sets, policies)?;
        scenario.resolved.output.folder = Some(folder.to_owned());
        scenario.resolved.output.segments = true;
        scenario.resolved.checkpoint = None;
        scenario.resolved.pace = None;
        scenario.resolved.grid.sites.iter_mut().for_each(|site| site.record_segments = true);
        let drill = scenario.drill().cloned();
        let ran = DrillRan {
            drill: self.name.clone(),
            broker: contender.name.clone(),
            failures: Vec::new(),
            lasted_s: None,
            wall_s: None,
        };
        let run = Run::new(scenario, 1, policies);
        let summary = match catch_unwind(AssertUnwindSafe(|| run.run(&Progress::default()))) {
            Ok(Ok(summary)) => summary,
            Ok(Err(error)) if error.kind == RunErrorKind::Request => return Err(error),
            Ok(Err(error)) => return Ok(ran.with(Failure::Run { problem: error.problem })),
            Err(_) => return Ok(ran.with(Failure::Run { problem: "it panicked".to_owned() })),
        };
        let folder = RunFolder::open(folder)?;
        let failures = judge(drill.as_ref(), &summary, &folder, policies)?;
        Ok(DrillRan { failures, lasted_s: summary.end_s, wall_s: Some(summary.facts.wall_s), ..ran })
    }
}

impl DrillRan {
    fn with(self, failure: Failure) -> Self {
        Self { failures: vec![failure], ..self }
    }
}

/// Runs each drill with each broker, several at a time, with their files in folders below `folder`; the results are in the order of the
/// drills, of each in that of the brokers.
///
/// # Errors
/// `RunErrorKind::Request` with all problems of a drill, or if a broker cannot be started.
pub fn drill(
    drills: &[DrillFile],
    contenders: &[Contender],
    folder: &Path,
    threads: Option<usize>,
    policies: &Policies,
    progress: &Progress,
) -> Result<Vec<DrillRan>, RunError> {
    // What is wrong with a file is told before anything runs.
    for file in drills {
        for contender in contenders {
            file.read(&contender.sets, policies)?;
        }
    }
    let pairs: Vec<(usize, usize)> =
        (0..drills.len()).flat_map(|drill| (0..contenders.len()).map(move |of| (drill, of))).collect();
    let (of_drills, of_brokers) = (
        folder_names(drills.iter().map(|drill| drill.name.as_str())),
        folder_names(contenders.iter().map(|contender| contender.name.as_str())),
    );
    progress.begin_runs(pairs.len() as u64, 0);
    let pool = rayon::ThreadPoolBuilder::new()
        .num_threads(threads.unwrap_or(0))
        .thread_name(|number| format!("drill-{number}"))
        .build()
        .map_err(|error| RunError::run(format!("cannot start threads: {error}")))?;
    pool.install(|| {
        let ran = pairs.par_iter().map(|(drill, of)| {
            let folder = match contenders.len() {
                1 => folder.join(&of_drills[*drill]),
                _ => folder.join(&of_brokers[*of]).join(&of_drills[*drill]),
            };
            let ran = drills[*drill].run(&contenders[*of], &folder, policies);
            progress.run_ended(!ran.as_ref().is_ok_and(DrillRan::held));
            ran
        });
        ran.collect()
    })
}

/// Names of folders, no two alike.
fn folder_names<'a>(names: impl Iterator<Item = &'a str>) -> Vec<String> {
    let mut taken = BTreeSet::new();
    let named = |name: &str| {
        let plain = plain(name);
        let plain = plain.trim_start_matches('.').to_owned();
        let numbered = |number: u32| if number == 1 { plain.clone() } else { format!("{plain}-{number}") };
        (1..).map(numbered).find(|name| taken.insert(name.clone())).unwrap_or_default()
    };
    names.map(named).collect()
}

/// The id of a measure by the name that an expectation gives it: outcomes are named without their section.
fn id_of(name: &str) -> String {
    if Outcome::NAMES.contains(&name) { format!("outcomes.{name}") } else { name.to_owned() }
}

/// What does not hold in a run that has ended.
fn judge(
    drill: Option<&Drill>,
    summary: &GridSummary,
    folder: &RunFolder,
    policies: &Policies,
) -> Result<Vec<Failure>, RunError> {
    let mut failures = Vec::new();
    let (counted, outside) = (&summary.measures.outcomes, &summary.outside);
    let unfinished = counted.unfinished + outside.unfinished;
    if unfinished > 0 {
        failures.push(Failure::Unfinished { jobs: unfinished });
    }
    let sum = |of: &Outcomes| of.counts().iter().sum::<u64>();
    let outcomes = sum(counted) + sum(outside);
    if outcomes != summary.submitted {
        failures.push(Failure::Unbalanced { outcomes, submitted: summary.submitted });
    }
    let validation = validate(folder, &GridFrom::Folder, policies)?;
    if let Some(first) = validation.verdict.first() {
        let first = format!("at {}: {} ({})", first.time.told(), first.message, first.row);
        failures.push(Failure::Invalid { violations: validation.verdict.count(), first });
    }
    let expects = drill.map(|drill| &drill.expects[..]).unwrap_or_default();
    let figures: Vec<&Figure> = expects.iter().flat_map(|expected| expected.expectation.figures()).collect();
    let values = values(&figures, summary, folder)?;
    let value = |figure: &Figure| values.get(&figure.to_string()).copied().flatten();
    for expected in expects {
        if expected.expectation.holds(&value) != Some(true) {
            let figures = expected.expectation.figures().into_iter();
            let figures = figures.map(|figure| Value {
                figure: figure.to_string(),
                value: value(figure),
                unit: unit_of(figure),
            });
            failures.push(Failure::Expectation {
                expects: expected.expectation.to_string(),
                figures: figures.collect(),
            });
        }
    }
    Ok(failures)
}

/// The unit in which the value of a figure is told.
fn unit_of(figure: &Figure) -> &'static str {
    let Figure::Measure(name) = figure else { return "" };
    let last = name.rsplit('.').next().unwrap_or_default();
    let is_share = matches!(name.as_str(), "wasted" | "utilization" | "utilization_available" | "down")
        || last == "share"
        || name.contains(".share.");
    match MeasureInfo::of(&id_of(name)).unit {
        _ if is_share => "%",
        // Processor-seconds are no length of time.
        "s" if !name.contains("usage.") && !last.ends_with("proc_s") => "s",
        _ => "",
    }
}

/// The values of figures in a run, by how they are written.
fn values(
    figures: &[&Figure],
    summary: &GridSummary,
    folder: &RunFolder,
) -> Result<BTreeMap<String, Option<f64>>, RunError> {
    let json = serde_json::to_value(summary).map_err(RunError::run)?;
    let flat = flat_measures(&json);
    let mut values = BTreeMap::new();
    let mut counts: Vec<&Count> = Vec::new();
    for figure in figures {
        match figure {
            Figure::Measure(name) => {
                let id = id_of(name);
                let nothing = measures::is_open(&id).then_some(0.0);
                let value = own(&id, summary).or_else(|| flat.get(&id).copied()).or(nothing);
                values.insert(figure.to_string(), value);
            }
            Figure::Count(count) => counts.push(count),
        }
    }
    for (count, value) in counts.iter().zip(count_all(&counts, folder)?) {
        values.insert(count.to_string(), Some(value as f64));
    }
    Ok(values)
}

/// The value of a figure that has a name of its own in drills.
fn own(name: &str, summary: &GridSummary) -> Option<f64> {
    let usage = &summary.account.usage;
    match name {
        "lost" => {
            let lost = |of: &Outcomes| of.failed + of.rejected + of.unfinished;
            Some((lost(&summary.measures.outcomes) + lost(&summary.outside)) as f64)
        }
        "attempts_max" => {
            let started = summary.churn.attempts.iter().filter(|of| of.jobs > 0);
            Some(f64::from(started.map(|of| of.attempts).max().unwrap_or(0)))
        }
        "wasted" => {
            let in_use = usage.useful + usage.wasted + usage.overhead;
            Some(if in_use > 0.0 { usage.wasted / in_use } else { 0.0 })
        }
        _ => None,
    }
}

/// Counts in the tables of a run.
fn count_all(counts: &[&Count], folder: &RunFolder) -> Result<Vec<u64>, ReadError> {
    let mut found = vec![0; counts.len()];
    let within = |count: &Count, site: &str, at| {
        count.after <= at && at < count.before && count.site.as_deref().is_none_or(|wanted| wanted == site)
    };
    if counts.iter().any(|count| count.of == Counted::JobsAt) {
        let mut begun: BTreeSet<(Origin, String, u64, u32)> = BTreeSet::new();
        let mut jobs: Vec<BTreeSet<(Origin, String, u64)>> = vec![BTreeSet::new(); counts.len()];
        for segment in folder.segments()?.into_iter().flatten() {
            let segment = segment?;
            // Grid jobs have one number everywhere, local ones a number at their site.
            let of = if segment.origin == Origin::Local { segment.site.to_string() } else { String::new() };
            let attempt = (segment.origin, of.clone(), segment.job, segment.attempt);
            if segment.cause == Cause::Staging || !begun.insert(attempt) {
                continue;
            }
            for (count, jobs) in counts.iter().zip(&mut jobs) {
                if count.of == Counted::JobsAt && within(count, &segment.site, segment.from) {
                    jobs.insert((segment.origin, of.clone(), segment.job));
                }
            }
        }
        for ((found, count), jobs) in found.iter_mut().zip(counts).zip(&jobs) {
            if count.of == Counted::JobsAt {
                *found = jobs.len() as u64;
            }
        }
    }
    if counts.iter().any(|count| count.of == Counted::Ended) {
        for job in folder.jobs()? {
            let job = job?;
            for (found, count) in found.iter_mut().zip(counts) {
                let counts = count.of == Counted::Ended && job.outcome == Outcome::Completed;
                *found += u64::from(counts && within(count, &job.site, job.end));
            }
        }
    }
    if counts.iter().any(|count| matches!(count.of, Counted::Events(_))) {
        for event in folder.events()?.into_iter().flatten() {
            let event = event?;
            for (found, count) in found.iter_mut().zip(counts) {
                let counts = matches!(count.of, Counted::Events(kind) if kind.name() == &*event.event);
                *found += u64::from(counts && within(count, &event.site, event.time));
            }
        }
    }
    Ok(found)
}
