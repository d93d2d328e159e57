//! Which tasks are planned, in which order, and when they are due.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::broker::mapping::Dag;

/// The tasks that are planned.
#[derive(Debug)]
pub(super) struct Order {
    /// In the order in which they get processors.
    pub(super) tasks: Vec<u32>,
    /// Whether these are all that can be planned.
    pub(super) is_whole: bool,
}

/// When tasks are due.
#[derive(Debug)]
pub(super) struct Due {
    pub(super) at: Vec<f64>,
    /// The mean time that they were given, in microseconds, at least a second.
    pub(super) slack: f64,
}

impl Due {
    pub(super) fn new(at: Vec<f64>, given: impl Iterator<Item = f64>) -> Self {
        let (sum, count) = given.fold((0.0, 0_u32), |(sum, count), given| (sum + given, count + 1));
        Self { at, slack: (sum / f64::from(count.max(1))).max(1e6) }
    }
}

impl Order {
    /// The tasks that have a pool, with all that they wait for, each behind that: by their keys, which are the instant at which they are due and their number. At most so many.
    pub(super) fn of(
        dag: &Dag,
        key: impl Fn(usize) -> (u64, u64),
        has_pool: impl Fn(usize) -> bool,
        most: usize,
    ) -> Self {
        let tasks = dag.tasks();
        let mut missing: Vec<usize> = (0..tasks).map(|task| dag.predecessors(task).count()).collect();
        let mut ready: BinaryHeap<Reverse<((u64, u64), u32)>> = (0..tasks)
            .filter(|task| missing[*task] == 0)
            .map(|task| Reverse((key(task), task as u32)))
            .collect();
        let mut order = Self { tasks: Vec::new(), is_whole: true };
        while let Some(Reverse((_, task))) = ready.pop() {
            if !has_pool(task as usize) {
                continue;
            }
            if order.tasks.len() == most {
                order.is_whole = false;
                break;
            }
            order.tasks.push(task);
            for (after, _) in dag.successors(task as usize) {
                missing[after] -= 1;
                if missing[after] == 0 {
                    ready.push(Reverse((key(after), after as u32)));
                }
            }
        }
        order
    }
}
