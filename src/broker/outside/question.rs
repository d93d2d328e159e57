//! Questions as they are written: lines of JSON.

use std::borrow::Cow;

use serde::Serialize;

use super::Hello;
use crate::broker::{BrokerEvent, GridView, Pool, Task};
use crate::model::{EventCause, PoolId, TaskId};

/// Why a program is asked: what has happened since it was asked before.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Why(pub(super) u16);

impl Why {
    const WORDS: [&'static str; 8] =
        ["arrived", "unblocked", "ended", "returned", "report", "asked", "due", "planned"];

    /// Adds an event.
    pub(super) fn add(&mut self, event: &BrokerEvent) {
        let at = match event {
            BrokerEvent::Arrived { .. } => 0,
            BrokerEvent::Unblocked { .. } => 1,
            BrokerEvent::Ended { .. } => 2,
            BrokerEvent::Returned { .. } => 3,
            BrokerEvent::ViewUpdated => 4,
            BrokerEvent::Asked(_) => 5,
            BrokerEvent::Due => 6,
            BrokerEvent::Planned => 7,
            BrokerEvent::Changed(_) => return,
        };
        self.0 |= 1 << at;
    }

    fn words(self) -> Vec<&'static str> {
        let has = |(at, word): (usize, _)| (self.0 & (1 << at) != 0).then_some(word);
        Self::WORDS.into_iter().enumerate().filter_map(has).collect()
    }
}

/// A question.
#[derive(Serialize)]
pub(super) struct Question<'a> {
    pub(super) ask: u64,
    pub(super) now: u64,
    why: Vec<&'static str>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) tasks: Vec<TaskLine<'a>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) pools: Vec<PoolLine<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) task: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) job: Option<JobLine<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) choices: Option<Vec<ChoiceLine>>,
}

impl Question<'_> {
    pub(super) fn new(ask: u64, now: u64, why: Why) -> Self {
        let (tasks, pools) = (Vec::new(), Vec::new());
        Self { ask, now, why: why.words(), tasks, pools, task: None, job: None, choices: None }
    }

    /// Writes the line, with its end.
    pub(super) fn write(&self, line: &mut Vec<u8>) -> Result<(), String> {
        line.clear();
        serde_json::to_writer(&mut *line, self).map_err(|error| error.to_string())?;
        line.push(b'\n');
        Ok(())
    }
}

/// A task that has changed.
#[derive(Default, Serialize)]
pub(super) struct TaskLine<'a> {
    pub(super) task: u64,
    pub(super) state: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) pool: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) outcome: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) back: Option<BackLine>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) job: Option<JobLine<'a>>,
}

/// From where a task has returned, and why.
#[derive(Serialize)]
pub(super) struct BackLine {
    #[serde(skip_serializing_if = "Option::is_none")]
    pool: Option<usize>,
    why: String,
}

impl BackLine {
    pub(super) fn of(pool: PoolId, why: EventCause, view: &GridView<'_>) -> Self {
        Self { pool: view.pools().iter().position(|at| at.facts.id == pool), why: why.to_string() }
    }
}

/// The description of a task.
#[derive(Serialize)]
pub(super) struct JobLine<'a> {
    number: u64,
    user: i32,
    submit: u64,
    estimate: u64,
    processors: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    least: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    most: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    assignment: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    deadline: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    budget: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    input: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    memory: Option<u64>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tags: Vec<&'a str>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    refused: Vec<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    workflow: Option<u64>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    after: Vec<(u64, u64)>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    runs: Vec<Option<u64>>,
}

impl<'a> JobLine<'a> {
    /// The description of a task, with how long it takes in each pool if `runs`.
    pub(super) fn of(task: Task<'a>, view: &GridView<'_>, runs: bool) -> Self {
        let size = task.size();
        let rigid = size.min() == size.preferred() && size.max() == size.preferred();
        let needs = task.needs();
        let place = |id: &PoolId| view.pools().iter().position(|pool| pool.facts.id == *id);
        let run = |pool: &Pool| pool.could_run(&task).then(|| pool.run_of(&task).micros());
        let (workflow, after) = Self::before(task.id(), view);
        Self {
            number: task.job().0,
            user: task.user(),
            submit: task.submit().micros(),
            estimate: task.estimate().micros(),
            processors: size.preferred(),
            least: (!rigid).then(|| size.min()),
            most: (!rigid).then(|| size.max()),
            assignment: Some(task.assignment()).filter(|assignment| *assignment > 1),
            deadline: task.deadline().map(|deadline| deadline.micros()),
            budget: task.budget().map(|budget| budget.as_f64()),
            input: Some(task.input().count()).filter(|input| *input > 0),
            memory: needs.and_then(|needs| needs.memory).map(|memory| memory.count()),
            tags: needs.map_or_else(Vec::new, |needs| needs.tags.iter().map(String::as_str).collect()),
            refused: task.refused().iter().filter_map(place).collect(),
            workflow,
            after,
            runs: if runs { view.pools().iter().map(run).collect() } else { Vec::new() },
        }
    }

    /// The workflow of a task, by its first task, and what the task waits for, each with the bytes that it takes from there.
    fn before(task: TaskId, view: &GridView<'_>) -> (Option<u64>, Vec<(u64, u64)>) {
        let behind = view.workflows().partition_point(|workflow| workflow.id(0) <= task);
        let found = behind.checked_sub(1).map(|at| view.workflows()[at]);
        let Some((workflow, at)) = found.and_then(|workflow| Some((workflow, workflow.place(task)?))) else {
            return (None, Vec::new());
        };
        let before = workflow.dag().predecessors(at);
        (Some(workflow.id(0).0), before.map(|(at, data)| (workflow.id(at).0, data.count())).collect())
    }
}

/// A pool where a task fits, with when it would start and end there if that is known.
#[derive(Serialize)]
pub(super) struct ChoiceLine {
    pool: usize,
    processors: u32,
    run: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    start: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    end: Option<u64>,
}

impl ChoiceLine {
    /// The pools where a task fits, now or with all machines up.
    pub(super) fn all(task: Task<'_>, view: &GridView<'_>, hello: &Hello) -> Vec<Self> {
        let choice = |at: usize| {
            let fits = view.fits(task, at, true);
            if !fits && !view.fits(task, at, false) {
                return None;
            }
            let pool = &view.pools()[at];
            let run = pool.run_now(&task);
            let start = if fits && hello.wants_estimates() { view.start(task, at) } else { None };
            Some(Self {
                pool: at,
                processors: pool.procs_for(&task),
                run: run.micros(),
                start: start.map(|start| start.micros()),
                end: start.map(|start| (start + run).micros()),
            })
        };
        (0..view.pools().len()).filter_map(choice).collect()
    }
}

/// The state of a pool.
#[derive(Serialize)]
pub(super) struct PoolLine<'a> {
    pool: usize,
    measured: u64,
    open: bool,
    present: u32,
    free: u32,
    waiting: u32,
    running: u32,
    backlog: u128,
    starts: Cow<'a, [(u32, crate::units::Time)]>,
    price: f64,
    power: f64,
    coming: Coming,
    #[serde(skip_serializing_if = "Option::is_none")]
    asked: Option<u32>,
}

/// Assignments that a report does not show yet.
#[derive(Serialize)]
struct Coming {
    jobs: u32,
    processors: u64,
    until: u64,
}

impl<'a> PoolLine<'a> {
    pub(super) fn of(at: usize, pool: &'a Pool) -> Self {
        let report = &pool.report;
        Self {
            pool: at,
            measured: pool.measured.micros(),
            open: pool.open,
            present: report.present,
            free: report.free,
            waiting: report.waiting,
            running: report.running,
            backlog: report.backlog,
            starts: pool.expected_starts(),
            price: report.price.nanos() as f64 / 1e9,
            power: report.power.milliwatts() as f64 / 1e3,
            coming: Coming {
                jobs: pool.in_flight.jobs,
                processors: pool.in_flight.procs,
                until: pool.in_flight.until.micros(),
            },
            asked: Some(pool.asked).filter(|asked| *asked > 0),
        }
    }
}
