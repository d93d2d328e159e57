//! Tasks that a plan has decided about before they are sent.

use super::{Phase, Row, Tasks};
use crate::broker::ready::{Rank, Shape};
use crate::broker::{Placed, Planned, Task};
use crate::model::TaskId;

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
            Phase::Ready { job, rank } => Some(Task::new(job, &row.refused).at(*rank)),
            Phase::Staging { .. } | Phase::Placed(_) => None,
        }
    }

    /// What is planned for the pool at this place and has not been sent, in the order in which it goes there.
    pub fn lane(&self, pool: usize) -> impl Iterator<Item = (TaskId, Planned)> {
        self.planned[pool].iter().filter_map(|(_, task)| Some((*task, self.plan_of(*task)?)))
    }

    /// The assignments to a pool that its last report does not include, by arrival.
    pub fn unseen(&self, pool: usize) -> impl Iterator<Item = Placed> {
        self.lanes[pool].all().filter_map(|task| match self.rows.get(&task)?.phase {
            Phase::Placed(placed) | Phase::Staging { placed, .. } => Some(placed),
            _ => None,
        })
    }

    /// The number of blocked tasks that no plan has decided about.
    pub fn count_undecided(&self) -> usize {
        self.undecided
    }

    /// Notes what a plan says of a task that waits with the broker, in place of what was said before. False if it does not wait.
    pub(crate) fn plan(&mut self, task: TaskId, planned: Planned) -> bool {
        let Some(row) = self.rows.get_mut(&task) else { return false };
        match (&row.phase, row.planned) {
            (Phase::Staging { .. } | Phase::Placed(_), _) => return false,
            (_, Some(before)) => _ = self.planned[before.pool].remove(&(before.start, task)),
            (Phase::Blocked { .. }, None) => self.undecided -= 1,
            (Phase::Ready { job, rank }, None) => {
                self.ready.remove(*rank, || Shape::of(&Task::new(job, &row.refused)));
            }
        }
        row.planned = Some(planned);
        self.planned[planned.pool].insert((planned.start, task));
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
        self.planned[planned.pool].remove(&(planned.start, task));
        if let Phase::Ready { job, rank } = &mut row.phase {
            *rank = Rank { entered: self.entered, ..*rank };
            self.entered += 1;
            if rank.urgency.0 > 0 {
                self.ready.insert(*rank, task, Shape::of(&Task::new(job, &row.refused)));
            } else {
                self.ready.push(*rank, task);
            }
        } else {
            self.undecided += 1;
        }
        true
    }

    /// The task that goes to the pool at this place next, if it is ready.
    pub(crate) fn next_planned(&self, pool: usize) -> Option<(TaskId, Planned)> {
        let (_, task) = self.planned[pool].first()?;
        let Row { phase: Phase::Ready { .. }, planned, .. } = self.rows.get(task)? else { return None };
        Some((*task, (*planned)?))
    }

    /// All that is planned and has not been sent, by number.
    pub(crate) fn all_planned(&self) -> Vec<TaskId> {
        let mut all: Vec<TaskId> = self.planned.iter().flatten().map(|(_, task)| *task).collect();
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
