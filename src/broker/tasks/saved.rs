//! The table of tasks in a snapshot: its rows.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use serde::{Deserialize, Serialize, Serializer};

use super::planned::Takes;
use super::{Phase, Row, Tasks};
use crate::broker::Task;
use crate::broker::ready::Shape;
use crate::model::{Job, PoolId, TaskId};
use crate::units::Time;

#[derive(PartialEq, Serialize, Deserialize)]
#[serde(rename = "Tasks")]
pub(super) struct Saved<R = BTreeMap<TaskId, Row>> {
    rows: R,
    pools: usize,
    entered: u64,
    left_to: u64,
}

impl Tasks {
    fn saved(&self) -> Saved<&BTreeMap<TaskId, Row>> {
        let Self { rows, entered, left_to, .. } = self;
        Saved { rows, pools: self.lanes.len(), entered: *entered, left_to: *left_to }
    }
}

impl Serialize for Tasks {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.saved().serialize(serializer)
    }
}

impl From<Saved> for Tasks {
    fn from(Saved { rows, pools, entered, left_to }: Saved) -> Self {
        let mut tasks = Self { entered, left_to, ..Self::new(pools) };
        let mut ready = Vec::new();
        for (task, row) in &rows {
            match (&row.phase, &row.planned) {
                (Phase::Blocked { job, .. } | Phase::Ready { job, .. }, Some(planned)) => {
                    let takes = Takes::of(*planned, job);
                    tasks.planned.insert((planned.pool, planned.start, *task), takes);
                }
                (Phase::Blocked { .. }, None) => _ = tasks.undecided.insert(*task),
                (Phase::Ready { rank, .. }, None) if row.put_off.is_some() => {
                    let until = row.put_off.map_or(Time::ZERO, |put_off| put_off.until);
                    tasks.ready.put_off(*rank, *task, until);
                }
                (Phase::Ready { job, rank }, None) if rank.urgency.0 > 0 || rank.entered < left_to => {
                    tasks.ready.insert(*rank, *task, Shape::of(&Task::new(job, &row.refused)));
                }
                (Phase::Ready { rank, .. }, None) => ready.push((*rank, *task)),
                (Phase::Staging { placed, .. }, _) => {
                    if let Some(lane) = tasks.lanes.get_mut(placed.pool).filter(|_| placed.unseen) {
                        lane.add(*task, placed);
                    }
                }
                (Phase::Placed(placed), _) => {
                    if let Some(lane) = tasks.lanes.get_mut(placed.pool).filter(|_| placed.unseen) {
                        lane.add(*task, placed);
                    }
                    if placed.arrival.is_none() {
                        tasks.held.insert(*task);
                    }
                }
            }
        }
        ready.sort_unstable();
        ready.into_iter().for_each(|(rank, task)| tasks.ready.push(rank, task));
        Self { rows, ..tasks }
    }
}

impl Tasks {
    /// Notes once more which pools cannot take each task, of which those are told that could not. There is a job of what is not placed.
    pub(crate) fn refit(&mut self, refused: impl Fn(TaskId, Option<&Job>, &[PoolId]) -> Vec<PoolId>) {
        self.revise(|task, Row { phase, refused: before, .. }| {
            let job = match phase {
                Phase::Blocked { job, .. } | Phase::Ready { job, .. } | Phase::Staging { job, .. } => {
                    Some(&**job)
                }
                Phase::Placed(_) => None,
            };
            *before = refused(task, job, before);
        });
    }

    /// Gives ready tasks another urgency: all of them one, or none, as in [`Tasks::enter_by`].
    pub(crate) fn rank(&mut self, urgency: impl Fn(&Job) -> Option<u64>) {
        self.revise(|_, row| {
            if let Phase::Ready { job, rank } = &mut row.phase {
                rank.urgency = Reverse(urgency(job).unwrap_or(0));
            }
        });
    }

    fn revise(&mut self, change: impl Fn(TaskId, &mut Row)) {
        let mut rows = std::mem::take(&mut self.rows);
        rows.iter_mut().for_each(|(task, row)| change(*task, row));
        let changed = std::mem::take(&mut self.changed);
        let Self { entered, left_to, .. } = *self;
        *self = Saved { rows, pools: self.lanes.len(), entered, left_to }.into();
        self.changed = changed;
    }
}

/// Two are equal if their snapshots are.
impl PartialEq for Tasks {
    fn eq(&self, other: &Self) -> bool {
        self.saved() == other.saved()
    }
}

impl Eq for Tasks {}
