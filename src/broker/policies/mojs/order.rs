//! Which tasks are planned, in which order, and when they are due.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::broker::mapping::Dag;
use crate::broker::{GridView, Task};
use crate::model::TaskId;
use crate::units::Time;

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

/// All tasks, each behind what it waits for: by their keys, which are the instant at which they are due and their number.
pub(super) fn by_due(dag: &Dag, key: impl Fn(usize) -> (u64, u64)) -> Vec<u32> {
    let tasks = dag.tasks();
    let mut missing: Vec<usize> = (0..tasks).map(|task| dag.predecessors(task).count()).collect();
    let mut ready: BinaryHeap<Reverse<((u64, u64), u32)>> =
        (0..tasks).filter(|task| missing[*task] == 0).map(|task| Reverse((key(task), task as u32))).collect();
    let mut order = Vec::with_capacity(tasks);
    while let Some(Reverse((_, task))) = ready.pop() {
        order.push(task);
        for (after, _) in dag.successors(task as usize) {
            missing[after] -= 1;
            if missing[after] == 0 {
                ready.push(Reverse((key(after), after as u32)));
            }
        }
    }
    order
}

/// The tasks that are planned, by number: of the undecided ones that have a pool, with all that they wait for, the first ones in the order of [`by_due`]. And
/// whether these are all. Whether a task has a pool is asked only of those that are next.
pub(super) fn due_first(
    view: &GridView<'_>,
    has_pool: impl Fn(&Task<'_>) -> bool,
    most: usize,
) -> (Vec<TaskId>, bool) {
    let undecided = view.tasks().undecided();
    // Where the tasks of each workflow are in that list.
    let until = |task: TaskId| undecided.partition_point(|undecided| *undecided < task);
    let ranges = view.workflows().iter().map(|workflow| {
        let (from, to) = (workflow.id(0), workflow.id(workflow.tasks()));
        (workflow, until(from)..until(to))
    });
    let of_workflows: Vec<_> = ranges.filter(|(_, range)| !range.is_empty()).collect();
    let mut missing = vec![0_u32; undecided.len()];
    for (workflow, range) in &of_workflows {
        let tasks = &undecided[range.clone()];
        for (task, missing) in tasks.iter().zip(&mut missing[range.clone()]) {
            let Some(place) = workflow.place(*task) else { continue };
            let before = workflow.dag().predecessors(place).map(|(before, _)| workflow.id(before));
            *missing = before.filter(|before| tasks.binary_search(before).is_ok()).count() as u32;
        }
    }
    let key = |at: usize| {
        // They wait with the broker.
        let task = view.task(undecided[at])?;
        Some(Reverse((task.deadline().unwrap_or(Time::NEVER), undecided[at], at)))
    };
    let mut ready: BinaryHeap<_> = missing
        .iter()
        .enumerate()
        .filter(|(_, missing)| **missing == 0)
        .filter_map(|(at, _)| key(at))
        .collect();
    let (mut first, mut is_whole) = (Vec::new(), true);
    while let Some(Reverse((_, id, at))) = ready.pop() {
        if !view.task(id).is_some_and(|task| has_pool(&task)) {
            continue;
        }
        if first.len() == most {
            is_whole = false;
            break;
        }
        first.push(id);
        let of = of_workflows.partition_point(|(_, range)| range.end <= at);
        let Some((workflow, range)) = of_workflows.get(of).filter(|(_, range)| range.contains(&at)) else {
            continue;
        };
        let Some(place) = workflow.place(id) else { continue };
        for (after, _) in workflow.dag().successors(place) {
            if let Ok(after) = undecided[range.clone()].binary_search(&workflow.id(after)) {
                let after = range.start + after;
                missing[after] -= 1;
                if missing[after] == 0 {
                    ready.extend(key(after));
                }
            }
        }
    }
    first.sort_unstable();
    (first, is_whole)
}
