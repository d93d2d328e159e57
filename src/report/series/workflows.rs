//! Workflows of a run: their rows, and figures of those that took longest.

use std::cmp::Reverse;

use rustc_hash::FxHashMap;

use super::churn::{Outage, outages};
use super::marks::marks;
use super::places::Places;
use super::schedule::{Fact, Schedule, Stretch, key};
use crate::model::{Origin, Outcome, WorkflowSubmission};
use crate::output::{ReadError, RunFolder, TaskRow, WorkflowRow};
use crate::report::charts::{DagChart, GanttChart, Ink, TimeMarks};
use crate::report::workflow_figure::{EndPath, kinds, workflow_figure};
use crate::units::Time;
use crate::workflow::{TaskId, Workflow};

/// Most workflows of which figures are drawn.
const DRAWN: usize = 3;

/// The workflows of a run.
pub(crate) struct Workflows {
    /// Their rows, by number.
    pub(crate) rows: Vec<WorkflowRow>,
    /// Figures of the workflows that took longest, by number.
    pub(crate) drawn: Vec<Drawn>,
}

/// The figures of a workflow.
pub(crate) struct Drawn {
    /// Its number.
    pub(crate) number: u32,
    /// Its name.
    pub(crate) name: String,
    /// Its graph; `None` if it has too many types of task.
    pub(crate) dag: Option<DagChart>,
    /// The processors of the grid while it was there, by type of task; `None` if they are too many jobs, or the run has no segments.
    pub(crate) gantt: Option<GanttChart>,
}

/// A workflow whose schedule is being drawn.
struct Part {
    span: (u64, u64),
    schedule: Schedule,
    /// The group of each task and its name, by job.
    tasks: FxHashMap<u64, (u16, String, u32)>,
    /// Names of the groups, the last of which has all other jobs.
    names: Vec<String>,
}

impl Workflows {
    /// Reads the workflows of a folder; those of `submitted` are what figures are made of. `None` if the run had no workflows.
    pub(crate) fn read(
        folder: &RunFolder,
        submitted: &[WorkflowSubmission],
    ) -> Result<Option<Self>, ReadError> {
        let Some(rows) = folder.workflows()? else { return Ok(None) };
        let mut rows = rows.collect::<Result<Vec<WorkflowRow>, _>>()?;
        rows.sort_by_key(|row| row.workflow);
        let known = |row: &&WorkflowRow| {
            row.outcome != Outcome::Unfinished && submitted.iter().any(|of| of.number.0 == row.workflow)
        };
        let mut longest: Vec<&WorkflowRow> = rows.iter().filter(known).collect();
        longest.sort_by_key(|row| (Reverse(row.makespan), row.workflow));
        longest.truncate(DRAWN);
        longest.sort_by_key(|row| row.workflow);
        let mut tasks: FxHashMap<u32, Vec<TaskRow>> = FxHashMap::default();
        for row in folder.tasks()?.into_iter().flatten() {
            let row = row?;
            if longest.iter().any(|of| of.workflow == row.workflow) {
                tasks.entry(row.workflow).or_default().push(row);
            }
        }
        let (mut drawn, mut parts) = (Vec::new(), Vec::new());
        for row in longest {
            let Some(of) = submitted.iter().find(|of| of.number.0 == row.workflow) else { continue };
            // A run of it has shown that it is sound.
            let Ok(workflow) = Workflow::from_spec(of.spec.clone()) else { continue };
            let tasks = tasks.remove(&row.workflow).unwrap_or_default();
            let path = end_path(row, &tasks, of.first_job.0);
            let name = row.name.split('[').next().unwrap_or_default().to_owned();
            let dag = workflow_figure(&workflow, Some(&path));
            let dag = dag.map(|dag| DagChart { title: format!("{name} (workflow {})", row.workflow), ..dag });
            parts.push(Part::new(row, &workflow, &tasks));
            drawn.push(Drawn { number: row.workflow, name, dag, gantt: None });
        }
        draw(folder, &mut drawn, parts)?;
        Ok(Some(Self { rows, drawn }))
    }
}

/// The path that determined the end: from the task that ended last back to the one that it waited for last, and so on.
fn end_path(row: &WorkflowRow, tasks: &[TaskRow], first: u64) -> EndPath {
    let by_job: FxHashMap<u64, &TaskRow> = tasks.iter().map(|task| (task.job, task)).collect();
    let mut path = Vec::new();
    let mut next = row.last;
    while let Some(task) = next.and_then(|job| by_job.get(&job)).filter(|_| path.len() < tasks.len()) {
        path.extend(task.job.checked_sub(first).map(|at| TaskId(at as u32)));
        next = task.after;
    }
    path.reverse();
    EndPath { tasks: path, makespan: row.makespan, fastest_path: row.fastest_path }
}

impl Part {
    fn new(row: &WorkflowRow, workflow: &Workflow, tasks: &[TaskRow]) -> Self {
        let kinds = kinds(workflow);
        let most = usize::from(Ink::SERIES);
        let mut ranked: Vec<(usize, &str)> = kinds.iter().map(|(kind, (rank, _))| (*rank, *kind)).collect();
        ranked.sort_unstable();
        let mut names: Vec<String> = ranked.iter().take(most).map(|(_, kind)| (*kind).to_owned()).collect();
        if ranked.len() > most {
            names.push(format!("{} other types", ranked.len() - most));
        }
        names.push("other jobs".to_owned());
        let group = |kind: &str| kinds.get(kind).map_or(most, |(rank, _)| (*rank).min(most)) as u16;
        let known = |task: &TaskRow| (task.job, (group(&task.kind), task.task.to_string(), task.attempts));
        let span = (row.submitted.micros(), row.ended.micros().max(row.submitted.micros() + 1));
        Self {
            span,
            schedule: Schedule::of_part(span, names.len()),
            tasks: tasks.iter().map(known).collect(),
            names,
        }
    }

    fn chart(self, name: &str, places: &Places, marks: (&[Outage], &TimeMarks)) -> Option<GanttChart> {
        if self.schedule.is_empty() {
            return None;
        }
        let others = self.names.len() - 1;
        let mut chart = self.schedule.chart(&format!("{name} on the grid"), places, &self.names, marks);
        for (at, (_, ink)) in chart.groups.iter_mut().enumerate().skip(usize::from(Ink::SERIES)) {
            *ink = if at < others { Ink::Muted } else { *ink };
        }
        chart.groups[others].1 = Ink::Axis;
        for bar in &mut chart.bars {
            let job = bar.label.parse().ok().filter(|_| bar.group != others);
            match job.and_then(|job: u64| self.tasks.get(&job)) {
                Some((_, name, _)) => {
                    bar.title = format!("{name}\n{}", bar.title);
                    bar.label.clone_from(name);
                }
                None => bar.label.clear(),
            }
        }
        Some(chart)
    }
}

/// Draws what ran on the grid while each of the workflows was there.
fn draw(folder: &RunFolder, drawn: &mut [Drawn], mut parts: Vec<Part>) -> Result<(), ReadError> {
    let Some(segments) = folder.segments()?.filter(|_| !parts.is_empty()) else { return Ok(()) };
    let mut places = Places::of(folder)?;
    for row in segments {
        let row = row?;
        let place = places.place(&row.site, &row.partition);
        if !places.sized() {
            places.reach(place, &row.processors);
        }
        let (from, to) = (row.from.micros(), row.to.micros());
        let stretch = Stretch {
            key: key(row.origin, row.job, &row.site),
            attempt: row.attempt,
            place,
            from,
            to,
            procs: row.processors,
        };
        for part in parts.iter_mut().filter(|part| part.schedule.meets(&stretch)) {
            let others = (part.names.len() - 1) as u16;
            let task = part.tasks.get(&row.job).filter(|_| row.origin == Origin::Grid);
            let (group, attempts) = task.map_or((others, 1), |(group, _, attempts)| (*group, *attempts));
            part.schedule.take(stretch.clone(), Fact { group, attempts, ..Fact::NONE });
        }
    }
    let end = parts.iter().map(|part| part.span.1).max().unwrap_or(0);
    let outages = outages(folder, &mut places, (Time::ZERO.micros(), end))?;
    let marks = marks(folder)?;
    for (of, part) in drawn.iter_mut().zip(parts) {
        of.gantt = part.chart(&format!("{} (workflow {})", of.name, of.number), &places, (&outages, &marks));
    }
    Ok(())
}
