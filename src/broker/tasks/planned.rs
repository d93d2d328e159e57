//! Tasks that a plan has decided about before they are sent.

use std::collections::btree_map;

use super::{Phase, Row, Tasks};
use crate::broker::ready::{Rank, Shape};
use crate::broker::{Placed, Planned, Pool, Task};
use crate::model::{Job, TaskId};
use crate::units::Time;

/// What a planned task takes of its pool: until when, and its least and preferred processors.
#[derive(Copy, Clone, Debug)]
pub(super) struct Takes {
    until: Time,
    size: (u32, u32),
}

impl Takes {
    pub(super) fn of(planned: Planned, job: &Job) -> Self {
        Self { until: planned.end, size: (job.size.min(), job.size.preferred()) }
    }
}

impl Tasks {
    /// The place of the pool that a task is planned for, until it is sent there.
    pub fn planned(&self, task: TaskId) -> Option<usize> {
        let row = self.rows.get(&task)?;
        row.planned
            .filter(|_| !matches!(row.phase, Phase::Staging { .. } | Phase::Placed(_)))
            .map(|planned| planned.pool)
    }

    /// What a plan has said of a task, also once it is sent.
    pub fn plan_of(&self, task: TaskId) -> Option<Planned> {
        self.rows.get(&task)?.planned
    }

    /// A task that is not placed.
    pub fn unplaced(&self, task: TaskId) -> Option<Task<'_>> {
        let row = self.rows.get(&task)?;
        match &row.phase {
            Phase::Blocked { job, .. } => Some(Task::new(job, &row.refused)),
            Phase::Ready { job, rank } => Some(Task::new(job, &row.refused).at(*rank).believing(row.run)),
            Phase::Staging { .. } | Phase::Placed(_) => None,
        }
    }

    /// What is planned for the pool at this place and has not been sent, in the order in which it goes there.
    pub fn lane(&self, pool: usize) -> impl Iterator<Item = (TaskId, Planned)> {
        self.planned_in(pool).filter_map(|((.., task), _)| Some((*task, self.plan_of(*task)?)))
    }

    /// What that takes of the pool, in the same order: from when to when, and how many processors.
    pub(in crate::broker) fn taken<'a>(
        &'a self,
        pool: usize,
        facts: &'a Pool,
    ) -> impl Iterator<Item = (Time, Time, u32)> + 'a {
        let planned = self.planned_in(pool);
        planned.map(|((_, from, _), Takes { until, size })| (*from, *until, facts.procs_of(*size)))
    }

    /// The assignments to a pool that its last report does not include, by arrival.
    pub fn unseen(&self, pool: usize) -> impl Iterator<Item = Placed> {
        self.lanes[pool].all()
    }

    /// The number of blocked tasks that no plan has decided about.
    pub fn count_undecided(&self) -> usize {
        self.undecided.len()
    }

    /// The tasks that wait with the broker, blocked or ready, and that no plan has decided about, by number.
    pub fn undecided(&self) -> Vec<TaskId> {
        let mut all: Vec<TaskId> = self.undecided.iter().copied().chain(self.ready.all()).collect();
        // The stable sort merges what is in order already, which nearly all is.
        all.sort();
        all
    }

    /// Notes what a plan says of a task that waits with the broker, in place of what was said before. False if it does not wait.
    pub(crate) fn plan(&mut self, task: TaskId, planned: Planned) -> bool {
        let Some(row) = self.rows.get_mut(&task) else { return false };
        let takes = match &row.phase {
            Phase::Blocked { job, .. } | Phase::Ready { job, .. } => Takes::of(planned, job),
            Phase::Staging { .. } | Phase::Placed(_) => return false,
        };
        match (&row.phase, row.planned) {
            (_, Some(before)) => _ = self.planned.remove(&(before.pool, before.start, task)),
            (Phase::Blocked { .. }, None) => _ = self.undecided.remove(&task),
            (Phase::Ready { job, rank }, None) => {
                self.ready.remove(*rank, || Shape::of(&Task::new(job, &row.refused)));
            }
            (Phase::Staging { .. } | Phase::Placed(_), None) => {}
        }
        (row.planned, row.put_off) = (Some(planned), None);
        self.planned.insert((planned.pool, planned.start, task), takes);
        self.changed.note(task);
        true
    }

    /// Drops what a plan says of a task that has not been sent. If it is ready, it waits behind all others. False if nothing was planned.
    pub(crate) fn drop_plan(&mut self, task: TaskId) -> bool {
        let Some(row) = self.rows.get_mut(&task) else { return false };
        let Some(planned) =
            row.planned.filter(|_| !matches!(row.phase, Phase::Staging { .. } | Phase::Placed(_)))
        else {
            return false;
        };
        row.planned = None;
        self.planned.remove(&(planned.pool, planned.start, task));
        if let Phase::Ready { job, rank } = &mut row.phase {
            *rank = Rank { entered: self.entered, ..*rank };
            self.entered += 1;
            if rank.urgency.0 > 0 {
                self.ready.insert(*rank, task, Shape::of(&Task::new(job, &row.refused)));
            } else {
                self.ready.push(*rank, task);
            }
        } else {
            self.undecided.insert(task);
        }
        self.changed.note(task);
        true
    }

    /// What is planned for a pool.
    fn planned_in(&self, pool: usize) -> btree_map::Range<'_, (usize, Time, TaskId), Takes> {
        self.planned.range((pool, Time::ZERO, TaskId(0))..(pool + 1, Time::ZERO, TaskId(0)))
    }

    /// The first pool, from this place on, for which anything is planned.
    pub(crate) fn next_lane(&self, from: usize) -> Option<usize> {
        self.planned.range((from, Time::ZERO, TaskId(0))..).next().map(|((pool, ..), _)| *pool)
    }

    /// The task that goes to the pool at this place next, if it is ready.
    pub(crate) fn next_planned(&self, pool: usize) -> Option<(TaskId, Planned)> {
        let ((.., task), _) = self.planned_in(pool).next()?;
        let Row { phase: Phase::Ready { .. }, planned, .. } = self.rows.get(task)? else { return None };
        Some((*task, (*planned)?))
    }

    /// All that is planned and has not been sent, by number.
    pub(crate) fn all_planned(&self) -> Vec<TaskId> {
        let mut all: Vec<TaskId> = self.planned.keys().map(|(.., task)| *task).collect();
        all.sort_unstable();
        all
    }

    /// The tasks that are ready and planned, by number.
    pub(super) fn ready_planned(&self) -> impl Iterator<Item = TaskId> + '_ {
        let ready =
            |task: &TaskId| self.rows.get(task).is_some_and(|row| matches!(row.phase, Phase::Ready { .. }));
        self.all_planned().into_iter().filter(ready)
    }
}
