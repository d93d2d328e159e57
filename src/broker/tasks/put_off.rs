//! Tasks that are ready and that a plan has put off.

use super::{Phase, Row, Tasks};
use crate::broker::ready::Shape;
use crate::broker::{PutOff, Task};
use crate::model::{PoolId, TaskId};
use crate::units::Time;

impl Row {
    /// A task in this phase of which no plan has said anything.
    pub(super) fn of(phase: Phase, refused: Vec<PoolId>) -> Self {
        Self { phase, refused, planned: None, put_off: None, run: None }
    }
}

impl Tasks {
    /// Until when a ready task is put off, if it is.
    pub fn is_put_off(&self, task: TaskId) -> Option<PutOff> {
        self.rows.get(&task)?.put_off
    }

    /// The number of ready tasks that are put off.
    pub fn count_put_off(&self) -> usize {
        self.ready.all_put_off().len()
    }

    /// When the first of them is due.
    pub(crate) fn next_due(&self) -> Option<Time> {
        self.ready.next_due()
    }

    /// Puts a ready task off: until then no policy is asked about it. False if it is not ready, or planned.
    pub(crate) fn put_off(&mut self, task: TaskId, put_off: PutOff) -> bool {
        let Some(row) = self.rows.get_mut(&task).filter(|row| row.planned.is_none()) else { return false };
        let Phase::Ready { job, rank } = &row.phase else { return false };
        self.ready.remove(*rank, || Shape::of(&Task::new(job, &row.refused)));
        self.ready.put_off(*rank, task, put_off.until);
        row.put_off = Some(put_off);
        self.changed.note(task);
        true
    }

    /// Lets policies be asked again about tasks that are put off until an instant at the latest. False if there are none.
    pub(crate) fn wake(&mut self, now: Time) -> bool {
        let mut any = false;
        while let Some((rank, task)) = self.ready.take_due(now) {
            let Some(row) = self.rows.get_mut(&task) else { continue };
            let Phase::Ready { job, .. } = &row.phase else { continue };
            row.put_off = None;
            self.ready.insert(rank, task, Shape::of(&Task::new(job, &row.refused)));
            self.changed.note(task);
            any = true;
        }
        any
    }
}
