//! How the tasks of a workflow come on: what their records and that of the workflow say of time.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::Broker;
use crate::broker::{Pool, Task};
use crate::model::{Job, ResponseParts, TaskId, WorkflowBounds};
use crate::units::{Rate, Span, Time, Work};
use crate::workflow::Workflow;

/// The times of a task so far, and the path that led to it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Course {
    /// The task whose end made it ready.
    pub(super) after: Option<u32>,
    pub(super) ready: Option<Time>,
    /// Of the assignment with which it first started, or of the last one so far.
    pub(super) decided: Option<Time>,
    pub(super) sent: Option<Time>,
    pub(super) queued: Option<Time>,
    /// Whether it has started, so that later assignments change nothing above.
    started: bool,
    /// Its first start and its attempts, once it has ended.
    pub(super) start: Option<Time>,
    pub(super) attempts: u32,
    /// The attempt with which it completed.
    pub(super) ran: Option<(Time, Time)>,
    /// The parts of the time from the submission of the workflow to when it was ready, along the path that led to it.
    pub(super) path: ResponseParts,
}

impl Course {
    /// Notes that the broker has decided where the task goes, or that its turn in a plan has come: until it is [sent](Self::send) it waits for nothing
    /// but its files. If it did so before, it goes on.
    pub(super) fn decide(&mut self, now: Time) {
        if !self.started && (self.decided.is_none() || self.sent.is_some()) {
            (self.decided, self.sent, self.queued) = (Some(now), None, None);
        }
    }

    /// Whether it waits for its files.
    pub(super) fn waits_for_files(&self) -> bool {
        !self.started && self.decided.is_some() && self.sent.is_none()
    }

    /// Notes that nothing is decided any more of a task that waited for its files.
    pub(super) fn undecide(&mut self) {
        if self.waits_for_files() {
            self.decided = None;
        }
    }

    /// Notes that the task leaves the broker.
    pub(super) fn send(&mut self, now: Time) {
        if !self.started {
            self.sent = Some(now);
        }
    }

    /// Notes that it waits for others again. Of a task that has started, what led to its first start stays, and the rest is lost time.
    pub(super) fn block(&mut self) {
        if !self.started {
            *self = Self::default();
        }
    }

    /// Notes that all that it waits for has completed; `after` is what it waited for last, with the parts of the time up to its end.
    pub(super) fn unblock(&mut self, after: Option<(u32, ResponseParts)>, now: Time) {
        if !self.started {
            self.ready = Some(now);
            if let Some((task, path)) = after {
                (self.after, self.path) = (Some(task), path);
            }
        }
    }

    /// Notes when an assignment reached its site, once it is over or the run is.
    pub(super) fn arrive(&mut self, arrival: Option<Time>, started: bool) {
        if !self.started {
            (self.queued, self.started) = (arrival, started);
        }
    }
}

impl Broker {
    /// Notes that an assignment of a task is over. `started` is whether the task has ever started.
    pub(super) fn note_arrival(&mut self, task: TaskId, started: bool) {
        if !self.state.workflows.is_empty() {
            let arrival = self.state.tasks.arrival(task).map(|stamp| stamp.time);
            if let Some(course) = self.state.workflows.course(task) {
                course.arrive(arrival, started);
            }
        }
    }
}

/// Most processors that are held at once.
pub(super) fn peak(held: impl Iterator<Item = (Time, Time, u32)>) -> u32 {
    let mut changes = BTreeMap::<Time, i64>::new();
    for (from, to, procs) in held {
        *changes.entry(from).or_default() += i64::from(procs);
        *changes.entry(to).or_default() -= i64::from(procs);
    }
    let most = changes.into_values().scan(0, |held, change| {
        *held += change;
        Some(*held)
    });
    most.max().map_or(0, |most| u32::try_from(most).unwrap_or(u32::MAX))
}

/// What a workflow would take on an empty grid of these pools: of all their machines, whatever a power cap leaves. A task that fits none of
/// them counts as nothing.
pub(super) fn bounds(workflow: &Workflow, jobs: &[Box<Job>], pools: &[Pool]) -> WorkflowBounds {
    let mut fastest = BTreeMap::<u32, Option<Rate>>::new();
    let mut run_of = |job: &Job| {
        let task = Task::new(job, &[]);
        let fits = |pool: &&Pool| pool.could_run(&task);
        let class = |pool: &Pool| job.times_on(&pool.facts.partition);
        if pools.iter().any(|pool| class(pool).is_some()) {
            let by_speed = |pool: &Pool| Work::of_runtime(job.runtime).span_at(pool.facts.fastest());
            let runs = pools.iter().filter(fits);
            let runs = runs.filter_map(|pool| {
                class(pool).map(|times| pool.facts.at_best(times.runtime)).or_else(|| by_speed(pool))
            });
            return runs.min().unwrap_or_default();
        }
        let speed = || pools.iter().filter(fits).map(|pool| pool.facts.fastest()).max();
        let rate = match task.needs() {
            None => *fastest.entry(task.size().preferred()).or_insert_with(speed),
            Some(_) => speed(),
        };
        rate.and_then(|rate| Work::of_runtime(job.runtime).span_at(rate)).unwrap_or_default()
    };
    let runs: Vec<Span> = jobs.iter().map(|job| run_of(job)).collect();
    let mut ends = vec![Span::ZERO; runs.len()];
    for task in workflow.order() {
        let begin = workflow.predecessors(*task).map(|(from, _)| ends[from.index()]).max();
        ends[task.index()] = begin.unwrap_or_default() + runs[task.index()];
    }
    let fastest_path = ends.into_iter().max().unwrap_or_default();
    let procs = |job: &Job| u128::from(job.size.preferred());
    let sum = |each: &dyn Fn(&Job, Span) -> u128| -> u128 {
        jobs.iter().zip(&runs).map(|(job, run)| each(job, *run)).sum()
    };
    let span = |micros: u128| Span::from_micros(u64::try_from(micros).unwrap_or(u64::MAX));
    let work = sum(&|job, run| procs(job) * u128::from(run.micros()));
    // The least work of a processor: less than that of the reference where a class is faster than its speed says.
    let work_of = |job: &Job| {
        let task = Task::new(job, &[]);
        let reference = Work::of_runtime(job.runtime).units();
        let on = |pool: &Pool| match job.times_on(&pool.facts.partition) {
            Some(times) => u128::from(times.runtime.micros()) * u128::from(pool.facts.speed.units()),
            None => reference,
        };
        if pools.iter().all(|pool| job.times_on(&pool.facts.partition).is_none()) {
            return reference;
        }
        let fits = |pool: &&Pool| pool.could_run(&task);
        pools.iter().filter(fits).map(on).min().unwrap_or(reference)
    };
    let units = sum(&|job, run| if run.is_zero() { 0 } else { procs(job) * work_of(job) });
    let speeds: u128 = pools.iter().map(|pool| pool.facts.total_speed()).sum();
    let spread = span(units.checked_div(speeds).unwrap_or(0));
    // Where run times do not follow from speeds, no more can run at once than there are processors.
    let processors: u128 = pools.iter().map(|pool| u128::from(pool.facts.processors)).sum();
    let even = span(work.checked_div(processors).unwrap_or(0));
    WorkflowBounds { fastest_path, work: span(work), alone: fastest_path.max(spread).max(even) }
}
