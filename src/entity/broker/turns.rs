//! The order in which planned tasks go to their pools, and which of them start out of it: what the local policy of a site has overtake.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::model::TaskId;
use crate::units::Time;

/// The planned tasks that were sent, by pool.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Turns {
    next: u64,
    /// Tasks that started before one that was sent before them.
    pub(super) overtakes: u64,
    /// The pool and the turn of each task that has been sent.
    of: BTreeMap<TaskId, (usize, u64)>,
    pools: BTreeMap<usize, Lane>,
}

/// The planned tasks that were sent to a pool, by turn.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
struct Lane {
    /// Those that have not ended: when each was sent.
    open: BTreeMap<u64, Time>,
    /// Those that have, as long as one that has not can be compared with them: when each started, and whether it has been counted.
    over: BTreeMap<u64, (Time, bool)>,
}

impl Turns {
    /// Notes that a planned task goes to a pool.
    pub(super) fn send(&mut self, task: TaskId, pool: usize, now: Time) {
        self.of.insert(task, (pool, self.next));
        self.pools.entry(pool).or_default().open.insert(self.next, now);
        self.next += 1;
    }

    /// Notes that a task has returned.
    pub(super) fn back(&mut self, task: TaskId) {
        if let Some((pool, turn)) = self.of.remove(&task)
            && let Some(lane) = self.pools.get_mut(&pool)
        {
            lane.open.remove(&turn);
            lane.forget();
        }
    }

    /// Notes when a task started first and last that has ended: first since it was sent counts.
    pub(super) fn end(&mut self, task: TaskId, first: Option<Time>, last: Option<Time>) {
        let Some((pool, turn)) = self.of.remove(&task) else { return };
        let Some(lane) = self.pools.get_mut(&pool) else { return };
        let sent = lane.open.remove(&turn);
        if let Some(start) = first.filter(|first| Some(*first) >= sent).or(last) {
            for (later, counted) in lane.over.range_mut(turn..).map(|(_, over)| over) {
                self.overtakes += u64::from(*later < start && !*counted);
                *counted |= *later < start;
            }
            let overtook = lane.over.range(..turn).any(|(_, (earlier, _))| start < *earlier);
            self.overtakes += u64::from(overtook);
            lane.over.insert(turn, (start, overtook));
        }
        lane.forget();
    }
}

impl Lane {
    /// Forgets the tasks that none which has not ended can have overtaken, or been overtaken by.
    fn forget(&mut self) {
        let first = self.open.first_key_value().map(|(turn, _)| *turn);
        let sent = self.open.values().next().copied();
        let (Some(first), Some(sent)) = (first, sent) else { return self.over.clear() };
        // Turns are in the order of time, and nobody starts before it is sent.
        self.over.retain(|turn, (start, counted)| *start > sent || (*turn > first && !*counted));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// By hand: four tasks go to a pool; the third starts first, the second last.
    #[test]
    fn a_task_that_starts_before_one_sent_before_it_is_counted_once() {
        let mut turns = Turns::default();
        (1..=4).for_each(|task| turns.send(TaskId(task), 0, Time::ZERO));
        // Another pool has an order of its own.
        turns.send(TaskId(5), 1, Time::ZERO);
        let mut end = |task, secs| {
            let start = Some(Time::from_secs(secs));
            turns.end(TaskId(task), start, start);
            turns.overtakes
        };
        assert_eq!([end(5, 1), end(3, 0)], [0, 0], "nothing is known yet of those before the third");
        assert_eq!([end(1, 10), end(4, 20)], [1, 1], "the third");
        assert_eq!(end(2, 30), 2, "the fourth; the third was counted");
        assert!(turns.of.is_empty() && turns.pools[&0].over.is_empty());
    }

    #[test]
    fn what_returns_is_not_compared() {
        let at = |secs| Some(Time::from_secs(secs));
        let mut turns = Turns::default();
        (1..=2).for_each(|task| turns.send(TaskId(task), 0, Time::ZERO));
        turns.back(TaskId(1));
        turns.end(TaskId(2), at(1), at(1));
        turns.send(TaskId(1), 0, Time::from_secs(5));
        turns.end(TaskId(1), at(0), at(6));
        assert_eq!(turns.overtakes, 0);
    }
}
