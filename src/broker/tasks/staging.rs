//! Tasks that are assigned and wait with the broker for their files.

use super::{Phase, Row, Tasks};
use crate::broker::{Placed, Task};
use crate::model::{Job, PoolId, TaskId};
use crate::units::Stamp;

impl Tasks {
    /// Keeps the job of a task that has just been [placed](Self::place) without an arrival, until its files are there. Its pool counts it as
    /// on its way.
    pub(crate) fn stage(&mut self, job: Box<Job>) {
        let task = Task::new(&job, &[]).id();
        let Some(row) = self.rows.get_mut(&task) else { return };
        if let Phase::Placed(placed) = row.phase {
            row.phase = Phase::Staging { job, placed };
        }
    }

    /// Takes out the job of a staged task, which is sent now and reaches its site then; `None` if it is not staged.
    pub(crate) fn send(&mut self, task: TaskId, arrival: Stamp) -> Option<Box<Job>> {
        let row = self.rows.get_mut(&task)?;
        let Phase::Staging { placed, .. } = &row.phase else { return None };
        let (before, placed) = (*placed, Placed { arrival: Some(arrival), unseen: true, ..*placed });
        if before.unseen {
            self.lanes[placed.pool].arrives(task, &before, &placed);
        } else {
            self.lanes[placed.pool].add(task, &placed);
        }
        match std::mem::replace(&mut row.phase, Phase::Placed(placed)) {
            Phase::Staging { job, .. } => Some(job),
            _ => None,
        }
    }

    /// Notes whether the pool of a staged task counts it as on its way. True if that is new.
    pub(crate) fn count_staged(&mut self, task: TaskId, counts: bool) -> bool {
        let Some(Row { phase: Phase::Staging { placed, .. }, .. }) = self.rows.get_mut(&task) else {
            return false;
        };
        if placed.unseen == counts {
            return false;
        }
        placed.unseen = counts;
        let lane = &mut self.lanes[placed.pool];
        if counts {
            lane.add(task, placed)
        } else {
            lane.remove(task, placed)
        }
        true
    }

    /// The jobs that wait for their files, by number.
    pub fn staged(&self) -> impl Iterator<Item = &Job> {
        self.rows.values().filter_map(|row| match &row.phase {
            Phase::Staging { job, .. } => Some(&**job),
            _ => None,
        })
    }

    /// Takes out a staged task, to be planned again: the place of its pool, its job, and the pools that cannot take it.
    pub(crate) fn unstage(&mut self, task: TaskId) -> Option<(usize, Box<Job>, Vec<PoolId>)> {
        let Phase::Staging { placed, .. } = &self.rows.get(&task)?.phase else { return None };
        if placed.unseen {
            self.lanes[placed.pool].remove(task, placed);
        }
        self.changed.note(task);
        match self.rows.remove(&task)? {
            Row { phase: Phase::Staging { job, placed }, refused, .. } => Some((placed.pool, job, refused)),
            _ => None,
        }
    }
}
