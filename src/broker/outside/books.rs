//! What a program has been told, so that it is told only what is new.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use super::Hello;
use super::question::{BackLine, JobLine, PoolLine, Question, TaskLine};
use crate::broker::{BrokerEvent, GridView, Pool, Rank, TaskState, Tasks};
use crate::model::{EventCause, Outcome, PoolId, TaskId};

/// What a program knows.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Books {
    /// Whether it has been told what was there at first.
    begun: bool,
    /// What it knows of the tasks that have not ended.
    known: BTreeMap<TaskId, Known>,
    /// What may have changed since.
    changed: BTreeSet<TaskId>,
    /// What has ended since.
    ended: BTreeMap<TaskId, Outcome>,
    /// What has returned since: from where and why.
    returned: BTreeMap<TaskId, (PoolId, EventCause)>,
    /// What it knows of each pool.
    pools: Vec<Pool>,
}

/// What a program knows of a task.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Known {
    /// It waits for other tasks.
    Blocked,
    /// It waits for a decision.
    Ready,
    /// It is put off.
    PutOff,
    /// It is planned for the pool at this place.
    Planned(usize),
    /// It was assigned to the pool at this place.
    Placed(usize),
}

impl Known {
    /// The state of a task in the table; `None` if it is not there.
    pub(super) fn of(task: TaskId, tasks: &Tasks) -> Option<Self> {
        let planned = || tasks.planned(task).map(Self::Planned);
        Some(match tasks.state(task)? {
            TaskState::Blocked => planned().unwrap_or(Self::Blocked),
            TaskState::Ready if tasks.is_put_off(task).is_some() => Self::PutOff,
            TaskState::Ready => planned().unwrap_or(Self::Ready),
            TaskState::Staging(pool) | TaskState::Placed(pool) => Self::Placed(pool),
        })
    }

    fn word(self) -> (&'static str, Option<usize>) {
        match self {
            Self::Blocked => ("blocked", None),
            Self::Ready => ("ready", None),
            Self::PutOff => ("put-off", None),
            Self::Planned(pool) => ("planned", Some(pool)),
            Self::Placed(pool) => ("sent", Some(pool)),
        }
    }
}

impl Books {
    /// Notes an event.
    pub(super) fn note(&mut self, event: &BrokerEvent) {
        match *event {
            BrokerEvent::Changed(task) => _ = self.changed.insert(task),
            BrokerEvent::Ended { task, outcome, .. } if self.known.contains_key(&task) => {
                self.ended.insert(task, outcome);
            }
            BrokerEvent::Returned { task, pool, why, .. } => _ = self.returned.insert(task, (pool, why)),
            _ => {}
        }
    }

    /// Notes what the program has decided about a task.
    pub(super) fn decided(&mut self, task: TaskId, state: Known) {
        self.known.insert(task, state);
    }

    /// What the program knows of a task, with what it has decided about it.
    pub(super) fn known(&self, task: TaskId) -> Option<Known> {
        self.known.get(&task).copied()
    }

    /// Adds to a question what has changed, and notes that the program knows it.
    pub(super) fn tell<'a>(&mut self, question: &mut Question<'a>, view: &'a GridView<'_>, hello: &Hello) {
        if !std::mem::replace(&mut self.begun, true) {
            self.changed.extend(view.tasks().all());
        }
        let mut told: Vec<((u8, Rank), TaskLine<'a>)> = Vec::new();
        for task in std::mem::take(&mut self.changed) {
            let state = Known::of(task, view.tasks());
            // What waits for others is for those who plan workflows.
            let state = state.filter(|state| *state != Known::Blocked || hello.plans_workflows());
            let before = self.known.get(&task).copied();
            if state == before && !self.returned.contains_key(&task) {
                continue;
            }
            let Some(state) = state else {
                self.known.remove(&task);
                let outcome = self.ended.remove(&task).map(Outcome::name);
                let word = if outcome.is_some() { "ended" } else { "gone" };
                let line = TaskLine { task: task.0, state: word, outcome, ..TaskLine::default() };
                told.push(((0, Rank::default()), line));
                continue;
            };
            self.known.insert(task, state);
            let (word, pool) = state.word();
            let seen = view.task(task);
            let describe = before.is_none() || matches!(state, Known::Ready | Known::Blocked);
            let job = seen.filter(|_| describe).map(|seen| JobLine::of(seen, view, hello.wants_estimates()));
            let place = match state {
                Known::Ready => (2, seen.map(|seen| seen.rank()).unwrap_or_default()),
                _ => (1, Rank::default()),
            };
            let back = self.returned.get(&task).filter(|_| state == Known::Ready);
            let back = back.map(|(pool, why)| BackLine::of(*pool, *why, view));
            told.push((
                place,
                TaskLine { task: task.0, state: word, pool, back, job, ..TaskLine::default() },
            ));
        }
        self.ended.clear();
        self.returned.clear();
        told.sort_by_key(|(place, line)| (*place, line.task));
        question.tasks = told.into_iter().map(|(_, line)| line).collect();
        self.tell_pools(question, view);
    }

    /// The same for pools.
    fn tell_pools<'a>(&mut self, question: &mut Question<'a>, view: &'a GridView<'_>) {
        for (at, pool) in view.pools().iter().enumerate() {
            match self.pools.get_mut(at) {
                Some(known) if is_same(known, pool) => continue,
                Some(known) => {
                    known.report.clone_from(&pool.report);
                    (known.measured, known.open) = (pool.measured, pool.open);
                    (known.in_flight, known.asked) = (pool.in_flight, pool.asked);
                    known.forecasts.clone_from(&pool.forecasts);
                }
                None => self.pools.push(pool.clone()),
            }
            question.pools.push(PoolLine::of(at, pool));
        }
    }
}

/// Whether a pool is as it was.
fn is_same(known: &Pool, pool: &Pool) -> bool {
    known.measured == pool.measured
        && known.open == pool.open
        && known.asked == pool.asked
        && known.in_flight == pool.in_flight
        && known.report == pool.report
        && known.forecasts == pool.forecasts
}
