//! A workflow of a run as WfFormat: what was submitted, and what was executed where and when.

use std::collections::BTreeSet;
use std::io::Write;

use rustc_hash::{FxHashMap, FxHashSet};

use super::{RunError, rerun, submitted_workflows};
use crate::formats::wfformat::{self, ExecutedTask, Execution, Machine};
use crate::grid::Policies;
use crate::model::{Origin, Outcome, SiteSpec};
use crate::output::{RunFolder, SegmentRow, TaskRow};
use crate::scenario::listed;
use crate::units::{Energy, Power, Span};
use crate::workflow::Workflow;

/// The last attempt of a task, by its segments.
#[derive(Clone, Default)]
struct Attempt {
    number: u32,
    machines: BTreeSet<String>,
    energy: Energy,
    /// How long it held processors, in microseconds, and the same for each of them in sum.
    held: u128,
    area: u128,
}

/// Writes a workflow of the run that left `folder` as WfFormat 1.5, with its execution: for each task when it started, how long it ran, on which
/// machines and with how much energy. `number` is that of the workflow, where there are several. Gives the number of names of tasks and files with
/// signs that WfFormat does not have, which are written as `_`.
///
/// # Errors
/// `RunErrorKind::Request` if the run had no such workflow, a task of it did not complete, or the workflow cannot be read once more;
/// `RunErrorKind::Run` if it cannot be written.
pub fn export_workflow(
    folder: &RunFolder,
    number: Option<u32>,
    policies: &Policies,
    out: impl Write,
) -> Result<usize, RunError> {
    let dir = folder.dir().display();
    let submitted = submitted_workflows(folder, policies)?;
    let wanted = match (number, &submitted[..]) {
        (_, []) => {
            return Err(RunError::request(format!("the run in `{dir}` had no workflows"))
                .with_hint("only a workflow is written as WfFormat"));
        }
        (None, [only]) => only,
        (None, several) => {
            let problem = format!("the run in `{dir}` had {} workflows", several.len());
            return Err(RunError::request(problem)
                .with_hint("select one with `--workflow N`, by its number in workflows.csv"));
        }
        (Some(number), all) => all.get(number as usize).ok_or_else(|| {
            let problem = format!("the run in `{dir}` had no workflow {number}");
            RunError::request(problem)
                .with_hint(format!("its workflows have numbers from 0 to {}", all.len() - 1))
        })?,
    };
    let number = wanted.number.0;
    let whole = folder.workflows()?.into_iter().flatten();
    let whole =
        whole.filter(|row| row.as_ref().map_or(true, |row| row.workflow == number)).last().transpose()?;
    // As it was before its tasks were put into groups, if they were.
    let spec = wanted.ungrouped();
    let places: FxHashMap<&str, usize> =
        spec.tasks.iter().enumerate().map(|(at, task)| (task.name.as_str(), at)).collect();
    let mut tasks: Vec<Option<TaskRow>> = spec.tasks.iter().map(|_| None).collect();
    for row in folder.tasks()?.into_iter().flatten() {
        let row = row?;
        if let Some(at) = places.get(&*row.task).filter(|_| row.workflow == number) {
            tasks[*at] = Some(row);
        }
    }
    let left: Vec<&str> = spec
        .tasks
        .iter()
        .zip(&tasks)
        .filter(|(_, row)| row.as_ref().is_none_or(|row| row.outcome != Outcome::Completed))
        .map(|(task, _)| task.name.as_str())
        .collect();
    let Some(whole) = whole.filter(|_| left.is_empty()) else {
        let problem = format!("workflow {number} of the run in `{dir}` did not complete: {}", listed(left));
        return Err(RunError::request(problem).with_hint("WfFormat needs a run time of every task"));
    };
    let sites = rerun(folder, policies)?.scenario().resolved.grid.sites.clone();
    let mut attempts: FxHashMap<u64, Attempt> = FxHashMap::default();
    let segments = folder.segments()?;
    // With segments, a task that none names took no time at all on its machines.
    let by_segments = segments.is_some();
    let jobs = wanted.first_job.0..wanted.first_job.0 + wanted.spec.tasks.len() as u64;
    for row in segments.into_iter().flatten() {
        let row = row?;
        if row.origin == Origin::Grid && jobs.contains(&row.job) && row.procs > 0 {
            attempts.entry(row.job).or_default().add(&row, &sites);
        }
    }
    // The tasks of a group divide the energy of its job by their processor time.
    let area = |row: &TaskRow, procs: u32| {
        u128::from(row.ended.since(row.last_start.unwrap_or(row.ended)).micros()) * u128::from(procs)
    };
    let mut areas: FxHashMap<u64, u128> = FxHashMap::default();
    for (row, task) in tasks.iter().zip(&spec.tasks) {
        if let Some(row) = row {
            *areas.entry(row.job).or_default() += area(row, task.procs);
        }
    }
    let executed = tasks.iter().zip(&spec.tasks).filter_map(|(row, task)| Some((row.as_ref()?, task)));
    let executed = executed.map(|(row, task)| {
        // The row of a task of a group begins when the overhead of its job is over.
        let alone = wanted.members((row.job - wanted.first_job.0) as usize).is_none();
        let overhead = if alone { wanted.overheads.job_overhead } else { Span::ZERO };
        let began = row.last_start.map_or(row.ended, |start| row.ended.min(start + overhead));
        let runtime = row.ended.since(began);
        let attempt = attempts.get(&row.job).cloned().unwrap_or_default();
        let place = match &row.partition {
            Some(partition) => format!("{}-{partition}", row.site),
            None => row.site.to_string(),
        };
        let machines = if by_segments { attempt.machines } else { [place].into() };
        let (whole, own) = (areas.get(&row.job).copied().unwrap_or(0).max(1), area(row, task.procs));
        let energy = attempt.energy.nanojoules();
        let energy = Energy::from_nanojoules(energy / whole * own + energy % whole * own / whole);
        // A processor of a group draws the same in each of its tasks, and while it has none.
        let drawn = attempt.energy.nanojoules();
        let power = match alone {
            true => drawn / attempt.held.max(1),
            false => drawn * u128::from(task.procs) / attempt.area.max(1),
        };
        let power = Power::from_milliwatts(u64::try_from(power).unwrap_or(u64::MAX));
        ExecutedTask { began, runtime, machines: machines.into_iter().collect(), energy, power }
    });
    let tasks: Vec<ExecutedTask> = executed.collect();
    let used: BTreeSet<&str> = tasks.iter().flat_map(|task| &task.machines).map(String::as_str).collect();
    let machines = used.iter().map(|name| machine(name, &sites)).collect();
    let execution = Execution { began: whole.submitted, makespan: whole.makespan, tasks, machines };
    let mut spec = spec.clone();
    let renamed = plain_names(spec.tasks.iter_mut().map(|task| &mut task.name).collect())
        + plain_names(spec.files.iter_mut().map(|file| &mut file.name).collect());
    let workflow = Workflow::from_spec(spec).map_err(RunError::request)?;
    wfformat::write_execution(&workflow, &execution, out).map_err(RunError::run)?;
    Ok(renamed)
}

/// Writes `_` for the signs of names that the schema of WfFormat refuses, with more of them where two names would be the same. Gives the number of
/// such names.
fn plain_names(names: Vec<&mut String>) -> usize {
    let has = |sign: char| sign.is_ascii_alphanumeric() || "-_.".contains(sign);
    let (plain, others): (Vec<_>, Vec<_>) = names.into_iter().partition(|name| name.chars().all(has));
    let mut taken: FxHashSet<String> = plain.into_iter().map(|name| name.clone()).collect();
    let renamed = others.len();
    for name in others {
        *name = name.chars().map(|sign| if has(sign) { sign } else { '_' }).collect();
        while !taken.insert(name.clone()) {
            name.push('_');
        }
    }
    renamed
}

impl Attempt {
    /// Adds a segment; what earlier attempts left is forgotten.
    fn add(&mut self, row: &SegmentRow, sites: &[SiteSpec]) {
        if self.number < row.attempt {
            *self = Self { number: row.attempt, ..Self::default() };
        }
        self.energy += row.energy;
        let held = u128::from(row.to.since(row.from).micros());
        (self.held, self.area) = (self.held + held, self.area + held * u128::from(row.procs));
        let cores = cores(&row.site, &row.partition, sites);
        for (first, last) in row.processors.intervals() {
            let machines = first / cores..=last / cores;
            self.machines.extend(machines.map(|machine| format!("{}-{}-{machine}", row.site, row.partition)));
        }
    }
}

/// The processors of a machine of a partition.
fn cores(site: &str, partition: &str, sites: &[SiteSpec]) -> u32 {
    let site = sites.iter().find(|of| of.name == site);
    let partition = site.and_then(|site| site.partitions.iter().find(|of| of.name == partition));
    partition.map_or(1, |partition| partition.cores.max(1))
}

/// A machine by its name, `site-partition-number`, or a whole partition if the run wrote no segments.
fn machine(name: &str, sites: &[SiteSpec]) -> Machine {
    let partitions = sites.iter().flat_map(|site| site.partitions.iter().map(move |part| (site, part)));
    let found = partitions.into_iter().find_map(|(site, part)| {
        let rest = name.strip_prefix(&format!("{}-{}", site.name, part.name))?;
        let one = rest.strip_prefix('-').is_some_and(|number| number.parse::<u32>().is_ok());
        if one { Some(part.cores) } else { rest.is_empty().then(|| part.processors()) }
    });
    Machine { name: name.to_owned(), cores: found.unwrap_or(1).max(1) }
}
