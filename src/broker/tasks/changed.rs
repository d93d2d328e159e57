//! Tasks that have changed, for a policy that keeps its own books.

use super::Tasks;
use crate::model::TaskId;

/// The tasks that have entered, left or changed their state since they were last taken, in order; `None` if nobody follows them. A task
/// may be there several times.
#[derive(Clone, Debug, Default)]
pub(super) struct Changed(Option<Vec<TaskId>>);

impl Changed {
    /// Notes that a task has changed.
    pub(super) fn note(&mut self, task: TaskId) {
        if let Some(changed) = &mut self.0 {
            changed.push(task);
        }
    }
}

impl Tasks {
    /// From now on, notes which tasks change.
    pub(crate) fn follow(&mut self) {
        self.changed.0.get_or_insert_default();
    }

    /// Notes that what has been decided about a task does not hold.
    pub(crate) fn dropped(&mut self, task: TaskId) {
        self.changed.note(task);
    }

    /// Takes out what has changed since.
    pub(crate) fn take_changed(&mut self) -> Vec<TaskId> {
        self.changed.0.as_mut().map(std::mem::take).unwrap_or_default()
    }

    /// The tasks that the broker has to do with, by number.
    pub fn all(&self) -> impl Iterator<Item = TaskId> {
        self.rows.keys().copied()
    }
}
