//! Facts of a workflow that follow from its graph: levels, ranks, critical path, communication-to-computation ratio.
//!
//! All are linear in tasks and edges. Ranks are those of Topcuoglu, Hariri and Wu (IEEE TPDS 13(3), 2002).

use super::{TaskId, Workflow};
use crate::units::Bandwidth;

/// How long each task runs and each edge takes, in seconds.
#[derive(Clone, Debug, PartialEq)]
pub struct Costs {
    tasks: Vec<f64>,
    /// In the order of [`Workflow::edges`].
    edges: Vec<f64>,
}

impl Costs {
    /// Run times at reference speed. An edge takes what it carries at `bandwidth`, without a latency; nothing if there is no bandwidth.
    pub fn at_reference(workflow: &Workflow, bandwidth: Option<Bandwidth>) -> Self {
        let tasks = workflow.tasks().map(|task| task.runtime.as_secs_f64()).collect();
        Self { tasks, edges: edges(workflow, bandwidth) }
    }

    /// The mean of each task's run times over its machine classes, as HEFT has it; at reference speed where it has no classes.
    pub fn mean_over_classes(workflow: &Workflow, bandwidth: Option<Bandwidth>) -> Self {
        let mean = |task: &super::Task| {
            let secs = task.by_class.values().map(|span| span.as_secs_f64());
            match task.by_class.len() {
                0 => task.runtime.as_secs_f64(),
                classes => secs.sum::<f64>() / classes as f64,
            }
        };
        Self { tasks: workflow.tasks().map(mean).collect(), edges: edges(workflow, bandwidth) }
    }
}

fn edges(workflow: &Workflow, bandwidth: Option<Bandwidth>) -> Vec<f64> {
    let secs = |bytes: u64| match (bytes, bandwidth) {
        (0, _) | (_, None) => 0.0,
        (_, Some(bandwidth)) => bytes as f64 * 8.0 / bandwidth.bits() as f64,
    };
    workflow.edges().map(|(_, _, carried)| secs(carried.count())).collect()
}

impl Workflow {
    /// The level of each task: 0 for those without predecessors, else one more than the highest of its predecessors.
    pub fn levels(&self) -> Vec<u32> {
        let mut levels = vec![0; self.len()];
        for task in self.order() {
            let above = self.predecessors(*task).map(|(from, _)| levels[from.index()] + 1);
            levels[task.index()] = above.max().unwrap_or(0);
        }
        levels
    }

    /// The number of tasks at each level.
    pub fn level_sizes(&self) -> Vec<u64> {
        let levels = self.levels();
        let mut sizes = vec![0; levels.iter().max().map_or(0, |highest| *highest as usize + 1)];
        levels.iter().for_each(|level| sizes[*level as usize] += 1);
        sizes
    }

    /// The most tasks at one level. More tasks may be able to run at once, where tasks of different levels do not wait for each other.
    pub fn width(&self) -> u64 {
        self.level_sizes().into_iter().max().unwrap_or(0)
    }

    /// The upward rank of each task: the longest way from its start to the end of the workflow, its own run time included.
    pub fn upward_ranks(&self, costs: &Costs) -> Vec<f64> {
        let mut ranks = vec![0.0; self.len()];
        for task in self.order().iter().rev() {
            let ways = self.out_edges(*task).map(|(edge, to, _)| costs.edges[edge] + ranks[to.index()]);
            ranks[task.index()] = costs.tasks[task.index()] + ways.fold(0.0, f64::max);
        }
        ranks
    }

    /// The downward rank of each task: the longest way from the start of the workflow to its start, its own run time not included.
    pub fn downward_ranks(&self, costs: &Costs) -> Vec<f64> {
        let mut ranks = vec![0.0; self.len()];
        for task in self.order() {
            let ways = self
                .in_edges(*task)
                .map(|(edge, from, _)| ranks[from.index()] + costs.tasks[from.index()] + costs.edges[edge]);
            ranks[task.index()] = ways.fold(0.0, f64::max);
        }
        ranks
    }

    /// The length of the critical path, in seconds, and the tasks on it: the longest way through the workflow, the least that it can take
    /// at these costs. Of equally long ones, that of the lowest numbers.
    pub fn critical_path(&self, costs: &Costs) -> (f64, Vec<TaskId>) {
        let ranks = self.upward_ranks(costs);
        let highest = |ways: &mut dyn Iterator<Item = (f64, TaskId)>| {
            // In whole microseconds, so that the rounding of sums does not decide between equal ones.
            let micros = |way: &(f64, TaskId)| libm::round(way.0 * 1e6);
            ways.reduce(|best, way| if micros(&way) > micros(&best) { way } else { best })
        };
        let mut path = Vec::new();
        let length = ranks.iter().copied().fold(0.0, f64::max);
        let entries = self.ids().filter(|task| self.in_edges(*task).next().is_none());
        let mut next = highest(&mut entries.map(|task| (ranks[task.index()], task)));
        while let Some((_, task)) = next {
            path.push(task);
            let mut ways =
                self.out_edges(task).map(|(edge, to, _)| (costs.edges[edge] + ranks[to.index()], to));
            next = highest(&mut ways);
        }
        (length, path)
    }

    /// The communication-to-computation ratio: the mean cost of an edge over the mean cost of a task (Topcuoglu et al., section 5).
    /// Stage-in is no edge. `None` if no task takes time; 0 if there are no edges.
    pub fn ccr(&self, costs: &Costs) -> Option<f64> {
        let mean =
            |all: &[f64]| if all.is_empty() { 0.0 } else { all.iter().sum::<f64>() / all.len() as f64 };
        let computation = mean(&costs.tasks);
        (computation > 0.0).then(|| mean(&costs.edges) / computation)
    }
}
