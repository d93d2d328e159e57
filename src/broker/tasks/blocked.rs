//! Tasks that wait for others to complete.

use std::collections::btree_map::Entry;

use super::{Phase, Row, Tasks};
use crate::broker::ready::Shape;
use crate::broker::{Planned, Task};
use crate::model::{Job, PoolId, TaskId};

impl Tasks {
    /// Adds a task that waits for so many others to complete, with the pools that cannot take it, in their order.
    pub(crate) fn block(&mut self, job: Box<Job>, missing: u32, refused: Vec<PoolId>) {
        let id = Task::new(&job, &[]).id();
        let phase = Phase::Blocked { job, missing };
        self.rows.insert(id, Row::of(phase, refused));
        self.undecided.insert(id);
        self.changed.note(id);
    }

    /// Lets a task that waits with the broker, for whatever, wait for so many others to complete. What was planned for it is dropped. False if it does
    /// not wait here.
    pub(crate) fn block_again(&mut self, task: TaskId, missing: u32) -> bool {
        self.drop_plan(task);
        let Some(row) = self.rows.get_mut(&task) else { return false };
        match &row.phase {
            Phase::Placed(_) => return false,
            Phase::Blocked { .. } => _ = self.undecided.remove(&task),
            Phase::Ready { job, rank } => {
                self.ready.remove(*rank, || Shape::of(&Task::new(job, &row.refused)));
            }
            Phase::Staging { placed, .. } if placed.unseen => self.lanes[placed.pool].remove(task, placed),
            Phase::Staging { .. } => {}
        }
        if let Some(Row {
            phase: Phase::Blocked { job, .. } | Phase::Ready { job, .. } | Phase::Staging { job, .. },
            refused,
            ..
        }) = self.rows.remove(&task)
        {
            self.block(job, missing, refused);
        }
        true
    }

    /// Notes that one of those completed for which a blocked task waits. Returns how many are left.
    pub(crate) fn count_down(&mut self, task: TaskId) -> Option<u32> {
        let Phase::Blocked { missing, .. } = &mut self.rows.get_mut(&task)?.phase else { return None };
        *missing -= 1;
        Some(*missing)
    }

    /// The same. After the last one, takes the task out, to be [entered](Self::enter), with what a plan says of it.
    pub(crate) fn unblock(&mut self, task: TaskId) -> Option<(Box<Job>, Option<Planned>)> {
        if self.count_down(task)? > 0 { None } else { self.take_blocked(task) }
    }

    /// Takes out a task that waits for others, with what a plan says of it; `None` if it does not.
    pub(crate) fn take_blocked(&mut self, task: TaskId) -> Option<(Box<Job>, Option<Planned>)> {
        let Entry::Occupied(row) = self.rows.entry(task) else { return None };
        if !matches!(row.get().phase, Phase::Blocked { .. }) {
            return None;
        }
        let row = row.remove();
        self.changed.note(task);
        match row.planned {
            Some(planned) => _ = self.planned.remove(&(planned.pool, planned.start, task)),
            None => _ = self.undecided.remove(&task),
        }
        match row.phase {
            Phase::Blocked { job, .. } => Some((job, row.planned)),
            Phase::Ready { .. } | Phase::Staging { .. } | Phase::Placed(_) => None,
        }
    }
}
