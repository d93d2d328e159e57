//! Tasks that are ready to be assigned, in their order.

use std::collections::{BTreeMap, VecDeque};
use std::ops::Bound::{Excluded, Unbounded};

use serde::{Deserialize, Serialize};

use crate::model::TaskId;

/// The place of a ready task in the order in which a policy sees them: that in which they arrived or returned.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Rank(pub(super) u64);

/// The ready tasks by rank.
#[derive(Clone, Debug, Default)]
pub(super) struct Ready {
    /// What no plan has left yet; `None` once it is assigned. What the first plan that sees it assigns is never indexed.
    new: VecDeque<(Rank, Option<TaskId>)>,
    /// What a plan has left.
    left: BTreeMap<Rank, TaskId>,
    count: usize,
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

    /// Takes out the task of that rank.
    pub(super) fn remove(&mut self, rank: Rank) {
        self.count -= 1;
        if self.new.pop_front_if(|(first, _)| *first == rank).is_none() {
            match self.new.binary_search_by_key(&rank, |(rank, _)| *rank) {
                Ok(at) => self.new[at].1 = None,
                Err(_) => drop(self.left.remove(&rank)),
            }
        }
        while self.new.pop_front_if(|(_, task)| task.is_none()).is_some() {}
    }

    /// Notes that a plan has left all of them.
    pub(super) fn leave(&mut self) {
        self.left.extend(self.new.drain(..).filter_map(|(rank, task)| Some((rank, task?))));
    }

    /// Those that no plan has left yet, in order.
    pub(super) fn new(&self) -> impl Iterator<Item = TaskId> + '_ {
        self.new.iter().filter_map(|(_, task)| *task)
    }

    /// All of them, in order.
    pub(super) fn all(&self) -> impl Iterator<Item = TaskId> + '_ {
        self.left.values().copied().chain(self.new())
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
