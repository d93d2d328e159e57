//! Paul's job grouping: fine-grained tasks merge with neighbours as long as the critical path does not grow.

mod merged;
#[cfg(test)]
mod tests;

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use rustc_hash::FxHashMap;

use self::merged::Merged;
use super::{Group, GroupingInfo};
use crate::model::{Named, NamedError, ParamInfo};
use crate::units::{Bytes, Span};
use crate::workflow::{Task, TaskId, Workflow};

const FINE: ParamInfo = ParamInfo {
    key: "fine",
    values: "a span of processor time",
    default: "1 min",
    doc: "a computational task (or group) of less work is fine-grained: it looks for a neighbour to merge with. Work is run time at reference speed × processors",
};

const FINE_DATA: ParamInfo = ParamInfo {
    key: "fine-data",
    values: "an amount of data",
    default: "100 MB",
    doc: "a storage task (or group) that reads and writes less is fine-grained",
};

const STORAGE: ParamInfo = ParamInfo {
    key: "storage",
    values: "types of task, with `|` between them",
    default: "none",
    doc: "tasks of these types are storage tasks, all others computational. Only tasks of the same sort merge",
};

pub(super) fn info() -> GroupingInfo {
    GroupingInfo::new("paul", build)
        .doc("Merges each fine-grained task with the neighbour with which the longest way through both is shortest, again and again until it is not fine-grained any more, but never such that a way becomes longer than the critical path of the workflow.")
        .source("Paul 2013, algorithm 1")
        .params(&[FINE, FINE_DATA, STORAGE])
}

fn build(named: &mut Named) -> Result<Box<dyn Group>, NamedError> {
    let fine: Option<Span> = named.take(FINE.key, "a span such as `1 min`")?;
    let fine_data: Option<Bytes> = named.take(FINE_DATA.key, "an amount of data such as `100 MB`")?;
    let storage: Option<String> = named.take(STORAGE.key, "types of task, with `|` between them")?;
    Ok(Box::new(Paul {
        fine: fine.unwrap_or(Span::from_secs(60)),
        fine_data: fine_data.unwrap_or(Bytes::new(100_000_000)),
        storage: storage.iter().flat_map(|types| types.split('|')).map(str::to_owned).collect(),
    }))
}

/// The measures of size.
const WORK: usize = 0;
const DATA: usize = 1;

/// Paul's algorithm 1. Where the paper leaves it open: tasks are taken in the order of their numbers; of the neighbours whose merge gives
/// the least `crit`, that of the lowest number is taken (a group has the lowest number of its tasks); `crit(j_entry)` is that of the
/// workflow before all merges, the longest way of all if it has several entries; a merge that makes a cycle is no candidate.
#[derive(Debug)]
pub struct Paul {
    /// The least work of a computational task that is not fine-grained, in processor time.
    pub fine: Span,
    /// The same of a storage task, in bytes.
    pub fine_data: Bytes,
    /// The types of storage tasks.
    pub storage: Vec<String>,
}

/// The work of a task in processor-microseconds.
fn work(task: &Task) -> u128 {
    u128::from(task.runtime.micros()) * u128::from(task.procs)
}

/// The bytes that a task reads and writes.
fn data(workflow: &Workflow, task: &Task) -> u128 {
    task.inputs.iter().chain(&task.outputs).map(|file| u128::from(workflow.file(*file).size.count())).sum()
}

impl Group for Paul {
    fn labels(&self, workflow: &Workflow) -> Vec<u32> {
        let storage = workflow.tasks().map(|task| self.storage.contains(&task.kind));
        let measures: Vec<usize> = storage.map(|storage| if storage { DATA } else { WORK }).collect();
        let mut sizes = vec![workflow.tasks().map(work).collect()];
        if measures.contains(&DATA) {
            sizes.push(workflow.tasks().map(|task| data(workflow, task)).collect());
        }
        let mut graph = Merged::of(workflow, sizes);
        let limits = (0..=DATA).map(|measure| match measures.contains(&measure) {
            true => graph.longest(measure),
            false => 0,
        });
        let limits: Vec<u128> = limits.collect();
        let fine = [u128::from(self.fine.micros()), u128::from(self.fine_data.count())];
        let mut run = Run {
            limits,
            fine,
            lowest: (0..workflow.len() as u32).collect(),
            seen: vec![u32::MAX; workflow.len()],
            processed: vec![false; workflow.len()],
            measures,
            graph,
        };
        for task in workflow.ids() {
            // Only a task that was looked at has merged, or one that such a task took; both are processed.
            if !run.processed[task.index()] {
                run.process(task);
            }
        }
        workflow.ids().map(|task| run.graph.node(task.0)).collect()
    }
}

/// The algorithm at work. Nodes are numbers of [`Merged`].
struct Run {
    graph: Merged,
    /// By measure: `crit(j_entry)` of the workflow before all merges, and the least size that is not fine-grained.
    limits: Vec<u128>,
    fine: [u128; 2],
    /// The measure of each task.
    measures: Vec<usize>,
    /// The lowest number of a task of each node.
    lowest: Vec<u32>,
    /// The task that last looked at this neighbour.
    seen: Vec<u32>,
    processed: Vec<bool>,
}

impl Run {
    /// Lets `task` merge until it is not fine-grained any more or has no candidate.
    ///
    /// `crit` with a neighbour never falls while the group grows. So a heap of what it was when last computed gives the least: if the top is
    /// still true, it is the least; and a neighbour beyond the limit stays there. One that would close a cycle, whose `crit` means nothing,
    /// waits until the group has taken in the other node of that cycle: before, the cycle stays.
    fn process(&mut self, task: TaskId) {
        let measure = self.measures[task.index()];
        let mut node = task.0;
        let mut candidates = BinaryHeap::new();
        let mut cyclic: FxHashMap<u32, Vec<u32>> = FxHashMap::default();
        self.look(node, task, &mut candidates);
        self.processed[task.index()] = true;
        while self.graph.size(measure, node) < self.fine[measure] {
            let Some(Reverse((before, lowest, other))) = candidates.pop() else { break };
            let crit = match self.graph.crit_merged(measure, node, other) {
                Ok(crit) => crit,
                Err(between) => {
                    cyclic.entry(between).or_default().push(other);
                    continue;
                }
            };
            if crit > self.limits[measure] {
                continue;
            }
            if crit > before {
                candidates.push(Reverse((crit, lowest, other)));
                continue;
            }
            let sizes = [node, other].map(|node| self.graph.size(measure, node));
            if sizes[0] + sizes[1] < self.fine[measure] {
                self.look(other, task, &mut candidates);
            }
            let kept = self.graph.merge(node, other);
            let gone = if kept == node { other } else { node };
            self.lowest[kept as usize] = lowest.min(self.lowest[node as usize]);
            self.processed[kept as usize] = true;
            self.processed[gone as usize] = true;
            node = kept;
            for freed in cyclic.remove(&other).unwrap_or_default() {
                candidates.push(Reverse((0, self.lowest[freed as usize], freed)));
            }
        }
    }

    /// Adds the neighbours of `node` that `task` has not looked at yet.
    fn look(&mut self, node: u32, task: TaskId, candidates: &mut BinaryHeap<Reverse<(u128, u32, u32)>>) {
        self.seen[node as usize] = task.0;
        for other in self.graph.neighbours(node) {
            if self.seen[other as usize] != task.0
                && self.measures[other as usize] == self.measures[task.index()]
            {
                self.seen[other as usize] = task.0;
                candidates.push(Reverse((0, self.lowest[other as usize], other)));
            }
        }
    }
}
