//! Workflows of a run: their rows, and figures of those that took longest.

use std::cmp::Reverse;

use rustc_hash::FxHashMap;

use super::churn::{Outage, outages};
use super::marks::marks;
use super::places::Places;
use super::run::suspends;
use super::schedule::{Fact, Schedule, Stretch, key};
use crate::model::{Origin, Outcome, ProcSet, WorkflowSubmission};
use crate::output::{ReadError, RunFolder, TaskRow, WorkflowRow};
use crate::report::charts::{DagChart, GanttChart, Ink, TimeMarks};
use crate::report::workflow_figure::{EndPath, kinds, workflow_figure};
use crate::units::Time;
use crate::workflow::{TaskId, Workflow};

/// Most workflows of which figures are drawn.
const DRAWN: usize = 3;

/// Keys of tasks in groups begin here, so that they are not those of jobs.
const MEMBERS: u64 = 1 << 62;

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
    /// Whether its tasks ran in groups.
    pub(crate) grouped: bool,
}

/// A workflow whose schedule is being drawn.
struct Part {
    span: (u64, u64),
    schedule: Schedule,
    tasks: Vec<Drawable>,
    /// The tasks of each job; of a group several.
    of_job: FxHashMap<u64, Vec<usize>>,
    /// Names of the groups, the last of which has all other jobs.
    names: Vec<String>,
}

/// A task as it is drawn.
struct Drawable {
    /// The group of its colour.
    group: u16,
    name: String,
    job: u64,
    attempts: u32,
    /// When its last attempt ran.
    ran: (u64, u64),
    /// The places of its processors among those of its job.
    procs: ProcSet,
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
        let (mut drawn, mut parts, suspended) = (Vec::new(), Vec::new(), suspends(folder));
        for row in longest {
            let Some(of) = submitted.iter().find(|of| of.number.0 == row.workflow) else { continue };
            // A run of it has shown that it is sound.
            let Ok(workflow) = Workflow::from_spec(of.spec.clone()) else { continue };
            let tasks = tasks.remove(&row.workflow).unwrap_or_default();
            let path = end_path(row, &tasks, of.first_job.0);
            let name = row.name.split('[').next().unwrap_or_default().to_owned();
            let dag = workflow_figure(&workflow, Some(&path));
            let dag = dag.map(|dag| DagChart { title: format!("{name} (workflow {})", row.workflow), ..dag });
            let Ok(ungrouped) = Workflow::from_spec(of.ungrouped().clone()) else { continue };
            parts.push(Part::new(row, &ungrouped, &tasks, suspended));
            let grouped = of.groups.is_some();
            drawn.push(Drawn { number: row.workflow, name, dag, gantt: None, grouped });
        }
        draw(folder, &mut drawn, parts)?;
        Ok(Some(Self { rows, drawn }))
    }
}

/// The path that determined the end: from the task that ended last back to the one that it waited for last, and so on.
fn end_path(row: &WorkflowRow, tasks: &[TaskRow], first: u64) -> EndPath {
    // A task that ran again has several rows: what waited for it waited for the one that was known then.
    let mut by_job: FxHashMap<u64, Vec<&TaskRow>> = FxHashMap::default();
    tasks.iter().for_each(|task| by_job.entry(task.job).or_default().push(task));
    let of = |job: u64, known: Option<Time>| {
        let mut rows = by_job.get(&job)?.iter().rev();
        rows.find(|row| known.is_none_or(|known| row.known == known))
    };
    let mut path = Vec::new();
    let mut next = row.last.and_then(|job| of(job, None));
    while let Some(task) = next.filter(|_| path.len() < tasks.len()) {
        path.extend(task.job.checked_sub(first).map(|at| TaskId(at as u32)));
        next = task.after.and_then(|job| of(job, task.ready));
    }
    path.reverse();
    EndPath { tasks: path, makespan: row.makespan, fastest_path: row.fastest_path }
}

impl Part {
    fn new(row: &WorkflowRow, workflow: &Workflow, tasks: &[TaskRow], suspended: bool) -> Self {
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
        let procs: FxHashMap<&str, u32> =
            workflow.tasks().map(|task| (task.name.as_str(), task.procs)).collect();
        let drawable = |task: &TaskRow| Drawable {
            group: group(&task.kind),
            name: task.task.to_string(),
            job: task.job,
            attempts: task.attempts,
            ran: (task.last_start.unwrap_or(task.ended).micros(), task.ended.micros()),
            procs: ProcSet::full(procs.get(&*task.task).copied().unwrap_or(1)),
        };
        let mut drawn: Vec<Drawable> = tasks.iter().map(drawable).collect();
        let mut of_job: FxHashMap<u64, Vec<usize>> = FxHashMap::default();
        for (at, task) in drawn.iter().enumerate() {
            of_job.entry(task.job).or_default().push(at);
        }
        of_job.values_mut().filter(|tasks| tasks.len() > 1).for_each(|tasks| settle(&mut drawn, tasks));
        let span = (row.submitted.micros(), row.ended.micros().max(row.submitted.micros() + 1));
        Self { span, schedule: Schedule::of_part(span, names.len(), suspended), tasks: drawn, of_job, names }
    }

    /// Takes what held processors: of a group each of its tasks, in the attempt that ended.
    fn take(&mut self, origin: Origin, stretch: &Stretch) {
        let Self { schedule, tasks, of_job, names, .. } = self;
        let none = Vec::new();
        let of = of_job.get(&stretch.key.1).filter(|_| origin == Origin::Grid).unwrap_or(&none);
        let others = (names.len() - 1) as u16;
        let (group, attempts) = of.first().map_or((others, 1), |at| (tasks[*at].group, tasks[*at].attempts));
        if of.len() < 2 || stretch.attempt < attempts {
            return schedule.take_part(stretch, Fact { group, attempts, ..Fact::NONE });
        }
        for at in of {
            let task = &tasks[*at];
            let (from, to) = (stretch.from.max(task.ran.0), stretch.to.min(task.ran.1));
            let held = stretch.procs.iter().zip(0..).filter(|(_, place)| task.procs.contains(*place));
            let mut procs = ProcSet::new();
            held.for_each(|(proc, _)| procs.insert(proc));
            if from < to {
                let key = (None, MEMBERS + *at as u64);
                let member = Stretch { key, from, to, procs, ..*stretch };
                schedule.take_part(&member, Fact { group: task.group, ..Fact::NONE });
            }
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
        if chart.bars.iter().chain(&chart.suspended).all(|bar| bar.group != others) {
            // What has no name is not in the legend.
            chart.groups[others].0.clear();
        }
        for bar in chart.bars.iter_mut().chain(&mut chart.suspended) {
            let key: Option<u64> = bar.label.parse().ok().filter(|_| bar.group != others);
            let of_job = |key| self.of_job.get(&key).and_then(|tasks| Some((tasks.len(), *tasks.first()?)));
            let (tasks, task) = match key {
                Some(key) if key >= MEMBERS => (1, self.tasks.get((key - MEMBERS) as usize)),
                Some(key) => of_job(key).map_or((1, None), |(tasks, first)| (tasks, self.tasks.get(first))),
                None => (1, None),
            };
            let Some(task) = task else {
                bar.label.clear();
                continue;
            };
            let name = if tasks > 1 { format!("group of {tasks} tasks") } else { task.name.clone() };
            let title = bar.title.replacen(&bar.label, &task.job.to_string(), 1);
            bar.title = format!("{name}\n{title}");
            bar.label = name;
        }
        Some(chart)
    }
}

/// Gives each task of a group the first of its processors that are free when it starts. Which it really has is not recorded.
fn settle(tasks: &mut [Drawable], of: &[usize]) {
    let mut order = of.to_vec();
    order.sort_by_key(|at| (tasks[*at].ran, *at));
    let most = of.iter().map(|at| tasks[*at].procs.len()).sum();
    let (mut free, mut running) = (ProcSet::full(most), Vec::<usize>::new());
    for at in order {
        let start = tasks[at].ran.0;
        running.retain(|before| {
            let over = tasks[*before].ran.1 <= start;
            if over {
                free.insert_all(&tasks[*before].procs);
            }
            !over
        });
        let needs = tasks[at].procs.len();
        tasks[at].procs = free.take_lowest(needs).unwrap_or_default();
        running.push(at);
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
            cause: row.cause,
        };
        for part in parts.iter_mut().filter(|part| part.schedule.concerns(&stretch)) {
            part.take(row.origin, &stretch);
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
