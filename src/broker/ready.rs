//! Tasks that are ready to be assigned, in their order.

use std::cmp::Reverse;
use std::collections::btree_map::{self, Entry};
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::ops::Bound::{Excluded, Unbounded};

use serde::{Deserialize, Serialize};

use super::Task;
use crate::model::{PoolId, TaskId};
use crate::units::Time;

/// The place of a ready task in the order in which a policy sees them: by urgency, and then that in which they arrived or returned.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Rank {
    /// The most urgent come first.
    pub(super) urgency: Reverse<u64>,
    pub(super) entered: u64,
}

/// What decides of a task where it fits: what is true of one task of a shape is true of all.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Shape {
    /// The fewest processors that it can use. It comes first in the order of shapes.
    pub(super) least: u32,
    preferred: u32,
    refused: Vec<PoolId>,
}

impl Shape {
    pub(super) fn of(task: &Task<'_>) -> Self {
        let size = task.size();
        Self { least: size.min(), preferred: size.preferred(), refused: task.refused().to_vec() }
    }
}

/// The ready tasks by rank.
#[derive(Clone, Debug, Default)]
pub(super) struct Ready {
    /// What no plan has left yet; `None` once it is assigned. What the first plan that sees it assigns is never indexed.
    new: VecDeque<(Rank, Option<TaskId>)>,
    /// What a plan has left.
    left: BTreeMap<Rank, TaskId>,
    /// The same by shape.
    shapes: BTreeMap<Shape, BTreeMap<Rank, TaskId>>,
    count: usize,
    /// What is put off, and until when. It does not count.
    put_off: BTreeMap<Rank, (Time, TaskId)>,
    /// The same by that time.
    due: BTreeSet<(Time, Rank)>,
}

impl Ready {
    /// How many there are.
    pub(super) fn count(&self) -> usize {
        self.count
    }

    /// Adds a task of a higher rank than all others.
    pub(super) fn push(&mut self, rank: Rank, task: TaskId) {
        self.new.push_back((rank, Some(task)));
        self.count += 1;
    }

    /// Takes out the task of that rank, which has this shape.
    pub(super) fn remove(&mut self, rank: Rank, shape: impl FnOnce() -> Shape) {
        if let Some((until, _)) = self.put_off.remove(&rank) {
            self.due.remove(&(until, rank));
            return;
        }
        self.count -= 1;
        if self.new.pop_front_if(|(first, _)| *first == rank).is_none() {
            match self.new.binary_search_by_key(&rank, |(rank, _)| *rank) {
                Ok(at) => self.new[at].1 = None,
                Err(_) => {
                    self.left.remove(&rank);
                    if let Entry::Occupied(mut alike) = self.shapes.entry(shape()) {
                        alike.get_mut().remove(&rank);
                        if alike.get().is_empty() {
                            alike.remove();
                        }
                    }
                }
            }
        }
        while self.new.pop_front_if(|(_, task)| task.is_none()).is_some() {}
    }

    /// Adds a task of that rank that is put off.
    pub(super) fn put_off(&mut self, rank: Rank, task: TaskId, until: Time) {
        self.put_off.insert(rank, (until, task));
        self.due.insert((until, rank));
    }

    /// When the first task that is put off is due.
    pub(super) fn next_due(&self) -> Option<Time> {
        self.due.first().map(|(until, _)| *until)
    }

    /// Takes out the first task that is put off until then at the latest.
    pub(super) fn take_due(&mut self, now: Time) -> Option<(Rank, TaskId)> {
        let rank = self.due.first().filter(|(until, _)| *until <= now)?.1;
        self.due.pop_first();
        self.put_off.remove(&rank).map(|(_, task)| (rank, task))
    }

    /// The tasks that are put off, in order.
    pub(super) fn all_put_off(&self) -> impl ExactSizeIterator<Item = TaskId> + '_ {
        self.put_off.values().map(|(_, task)| *task)
    }

    /// Whether a plan has left any.
    pub(super) fn has_left(&self) -> bool {
        !self.left.is_empty()
    }

    /// Takes out what no plan has left yet, so that it can be kept as left.
    pub(super) fn take_new(&mut self) -> VecDeque<(Rank, Option<TaskId>)> {
        std::mem::take(&mut self.new)
    }

    /// Adds a task of this shape, of any rank, as if a plan had left it.
    pub(super) fn insert(&mut self, rank: Rank, task: TaskId, shape: Shape) {
        self.leave(rank, task, shape);
        self.count += 1;
    }

    /// Keeps a task of this shape as left by a plan.
    pub(super) fn leave(&mut self, rank: Rank, task: TaskId, shape: Shape) {
        self.left.insert(rank, task);
        self.shapes.entry(shape).or_default().insert(rank, task);
    }

    /// What a plan has left of tasks that can do with so many processors: for each shape its tasks, in order.
    pub(super) fn left(&self, bound: u32) -> impl Iterator<Item = (u32, btree_map::Iter<'_, Rank, TaskId>)> {
        let shapes = self.shapes.iter().take_while(move |(shape, _)| shape.least <= bound);
        shapes.map(|(shape, alike)| (shape.least, alike.iter()))
    }

    /// Those that no plan has left yet, in order.
    pub(super) fn fresh(&self) -> impl Iterator<Item = TaskId> + '_ {
        self.new.iter().filter_map(|(_, task)| *task)
    }

    /// All of them, in order.
    pub(super) fn all(&self) -> impl Iterator<Item = TaskId> + '_ {
        self.left.values().copied().chain(self.fresh())
    }

    /// The first one after a rank, or of all; with `new` among those that no plan has left yet.
    pub(super) fn next(&self, after: Option<Rank>, new: bool) -> Option<TaskId> {
        let left = self.left.range((after.map_or(Unbounded, Excluded), Unbounded)).next();
        let left = left.filter(|_| !new).map(|(_, task)| *task);
        left.or_else(|| {
            let from = after.map_or(0, |after| self.new.partition_point(|(rank, _)| *rank <= after));
            self.new.range(from..).find_map(|(_, task)| *task)
        })
    }
}
