//! What tasks wait for each other.

use crate::units::Bytes;
use crate::workflow::Workflow;

/// The tasks to be planned, with what each sends to which. There is no cycle.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Dag {
    after: Vec<Vec<(u32, Bytes)>>,
    before: Vec<Vec<(u32, Bytes)>>,
    /// Each task after those that it waits for.
    order: Vec<u32>,
}

impl Dag {
    /// So many tasks with these edges: from, to, what it carries. `None` if there is a cycle.
    ///
    /// # Panics
    /// If an edge names a task that does not exist.
    pub fn new(tasks: usize, edges: impl IntoIterator<Item = (usize, usize, Bytes)>) -> Option<Self> {
        let (mut after, mut before) = (vec![Vec::new(); tasks], vec![Vec::new(); tasks]);
        for (from, to, data) in edges {
            after[from].push((to as u32, data));
            before[to].push((from as u32, data));
        }
        let mut missing: Vec<usize> = before.iter().map(Vec::len).collect();
        let mut order: Vec<u32> = (0..tasks as u32).filter(|task| missing[*task as usize] == 0).collect();
        let mut at = 0;
        while let Some(task) = order.get(at) {
            at += 1;
            for (next, _) in &after[*task as usize] {
                missing[*next as usize] -= 1;
                if missing[*next as usize] == 0 {
                    order.push(*next);
                }
            }
        }
        (order.len() == tasks).then_some(Self { after, before, order })
    }

    /// The tasks of a workflow under their numbers.
    pub fn of(workflow: &Workflow) -> Self {
        let numbers = |edges: &mut dyn Iterator<Item = (crate::workflow::TaskId, Bytes)>| {
            edges.map(|(task, data)| (task.0, data)).collect()
        };
        Self {
            after: workflow.ids().map(|task| numbers(&mut workflow.successors(task))).collect(),
            before: workflow.ids().map(|task| numbers(&mut workflow.predecessors(task))).collect(),
            order: workflow.order().iter().map(|task| task.0).collect(),
        }
    }

    /// The number of tasks.
    pub fn tasks(&self) -> usize {
        self.order.len()
    }

    /// The tasks, each after those that it waits for.
    pub fn order(&self) -> impl DoubleEndedIterator<Item = usize> {
        self.order.iter().map(|task| *task as usize)
    }

    /// The tasks that wait for a task, with what it sends to each.
    pub fn successors(&self, task: usize) -> impl Iterator<Item = (usize, Bytes)> {
        self.after[task].iter().map(|(next, data)| (*next as usize, *data))
    }

    /// The tasks that a task waits for, with what each sends to it.
    pub fn predecessors(&self, task: usize) -> impl Iterator<Item = (usize, Bytes)> {
        self.before[task].iter().map(|(before, data)| (*before as usize, *data))
    }
}
