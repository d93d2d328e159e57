//! A workflow as a figure.

use std::collections::{BTreeMap, BTreeSet};

use super::charts::{DagChart, DagEdge, DagNode, Ink};
use super::figures::{count, duration, noun};
use crate::units::Span;
use crate::workflow::{Costs, Task, TaskId, Workflow};

/// The most tasks that are drawn one by one; of more, all of a type are one node.
const TASKS: usize = 300;
/// The most types that are drawn, and that have a colour of their own.
const TYPES: usize = 300;

/// The path that determined the end of a workflow that has run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EndPath {
    /// Its tasks, in order.
    pub tasks: Vec<TaskId>,
    /// The makespan of the workflow.
    pub makespan: Span,
    /// The longest way through it, each task on the fastest processors that fit it.
    pub fastest_path: Span,
}

/// The graph of a workflow with its critical path, where data takes no time: its tasks, or, if there are more than 300, its types of task,
/// each at the lowest level of its tasks; `ended` is the path that determined its end, if it has run. `None` if there are more than 300
/// types, too.
pub fn workflow_figure(workflow: &Workflow, ended: Option<&EndPath>) -> Option<DagChart> {
    let (length, path) = workflow.critical_path(&Costs::at_reference(workflow, None));
    let levels = workflow.levels();
    let kinds = kinds(workflow);
    let (nodes, node_of) = if workflow.len() <= TASKS {
        let node = |(id, task): (TaskId, &Task)| DagNode {
            name: task.name.clone(),
            title: format!("{}: {}", task.name, duration(task.runtime.as_secs_f64())),
            ink: ink(kinds[&*task.kind].0),
            row: levels[id.index()],
            tasks: 1,
            marked: false,
            ended: false,
        };
        (workflow.ids().zip(workflow.tasks()).map(node).collect(), (0..workflow.len()).collect())
    } else if kinds.len() <= TYPES {
        by_type(workflow, &kinds, &levels)
    } else {
        return None;
    };
    let (mut nodes, node_of): (Vec<DagNode>, Vec<usize>) = (nodes, node_of);
    path.iter().for_each(|task| nodes[node_of[task.index()]].marked = true);
    let end = ended.map_or(&[][..], |ended| &ended.tasks);
    end.iter().for_each(|task| nodes[node_of[task.index()]].ended = true);
    let place = |task: TaskId| node_of[task.index()];
    let steps = |path: &[TaskId]| -> BTreeSet<(usize, usize)> {
        path.windows(2).map(|pair| (place(pair[0]), place(pair[1]))).collect()
    };
    let (marked, end) = (steps(&path), steps(end));
    let mut numbers: BTreeMap<(usize, usize), u64> = BTreeMap::new();
    workflow.edges().for_each(|(from, to, _)| *numbers.entry((place(from), place(to))).or_default() += 1);
    let edge = |((from, to), edges)| {
        let (marked, ended) = (marked.contains(&(from, to)), end.contains(&(from, to)));
        DagEdge { from, to, edges, marked, ended }
    };
    let mut legend: Vec<(String, usize)> =
        kinds.iter().map(|(kind, (rank, _))| ((*kind).to_owned(), *rank)).collect();
    legend.sort_by_key(|(_, rank)| *rank);
    let others = legend.len().saturating_sub(usize::from(Ink::SERIES));
    legend.truncate(usize::from(Ink::SERIES));
    let mut legend: Vec<(String, Ink)> = legend.into_iter().map(|(kind, rank)| (kind, ink(rank))).collect();
    if others > 0 {
        legend.push((format!("{} other types", count(others as u64)), Ink::Muted));
    }
    Some(DagChart {
        title: format!("{}: {}", workflow.name(), noun(workflow.len() as u64, "task")),
        nodes,
        edges: numbers.into_iter().map(edge).collect(),
        kinds: legend,
        path: match ended {
            None => format!("critical path, {}", duration(length)),
            Some(ended) => {
                format!(
                    "critical path, {} on the fastest processors",
                    duration(ended.fastest_path.as_secs_f64())
                )
            }
        },
        end_path: ended
            .map(|ended| format!("path that determined the end, {}", duration(ended.makespan.as_secs_f64()))),
    })
}

/// A colour for each of the most common types.
fn ink(rank: usize) -> Ink {
    u8::try_from(rank).ok().filter(|rank| *rank < Ink::SERIES).map_or(Ink::Muted, Ink::Series)
}

/// Each type with its rank by number of tasks, and that number.
pub(super) fn kinds(workflow: &Workflow) -> BTreeMap<&str, (usize, u64)> {
    let mut numbers: BTreeMap<&str, u64> = BTreeMap::new();
    workflow.tasks().for_each(|task| *numbers.entry(&task.kind).or_default() += 1);
    let mut ranked: Vec<(&str, u64)> = numbers.into_iter().collect();
    ranked.sort_by_key(|(_, number)| std::cmp::Reverse(*number));
    ranked.into_iter().enumerate().map(|(rank, (kind, number))| (kind, (rank, number))).collect()
}

/// A node for each type, and the place of the node of each task.
fn by_type(
    workflow: &Workflow,
    kinds: &BTreeMap<&str, (usize, u64)>,
    levels: &[u32],
) -> (Vec<DagNode>, Vec<usize>) {
    let mut lowest = vec![u32::MAX; kinds.len()];
    let mut sums = vec![Span::ZERO; kinds.len()];
    let mut node_of = Vec::with_capacity(workflow.len());
    for (task, level) in workflow.tasks().zip(levels) {
        let rank = kinds[&*task.kind].0;
        lowest[rank] = lowest[rank].min(*level);
        sums[rank] += task.runtime;
        node_of.push(rank);
    }
    // Without the levels at which no type begins.
    let rows: BTreeSet<u32> = lowest.iter().copied().collect();
    let mut nodes: Vec<(usize, DagNode)> = Vec::with_capacity(kinds.len());
    for (kind, (rank, number)) in kinds {
        let mean = duration(sums[*rank].as_secs_f64() / *number as f64);
        let name = format!("{kind} × {}", count(*number));
        nodes.push((
            *rank,
            DagNode {
                title: format!("{name}: {mean} on average"),
                name,
                ink: ink(*rank),
                row: rows.range(..lowest[*rank]).count() as u32,
                tasks: *number,
                marked: false,
                ended: false,
            },
        ));
    }
    nodes.sort_by_key(|(rank, _)| *rank);
    (nodes.into_iter().map(|(_, node)| node).collect(), node_of)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workflow::shapes::ShapeSpec;

    fn figure(written: &str) -> DagChart {
        workflow_figure(&written.parse::<ShapeSpec>().unwrap().workflow(3).unwrap(), None).unwrap()
    }

    #[test]
    fn few_tasks_are_drawn_one_by_one_and_many_by_type() {
        let small = figure("montage[tasks=58]");
        assert_eq!((small.nodes.len(), small.edges.len()), (58, 114));
        assert_eq!(small.nodes.iter().filter(|node| node.marked).count(), 8);
        assert_eq!(small.edges.iter().filter(|edge| edge.marked).count(), 7);
        let large = figure("montage[tasks=1000]");
        assert_eq!(
            (large.nodes.len(), large.nodes.iter().map(|node| u64::from(node.row)).max()),
            (8, Some(7))
        );
        assert!(large.nodes[0].name.starts_with("mDiffFit × "), "{}", large.nodes[0].name);
        let workflow = "montage[tasks=1000]".parse::<ShapeSpec>().unwrap().workflow(3).unwrap();
        assert_eq!(large.nodes.iter().map(|node| node.tasks).sum::<u64>(), workflow.len() as u64);
        assert_eq!(large.edges.iter().map(|edge| edge.edges).sum::<u64>(), workflow.edges().len() as u64);
        // A type that follows itself.
        let chain = figure("pipeline[tasks=301]");
        assert_eq!((chain.nodes.len(), chain.edges.len()), (1, 1));
        assert!(chain.edges[0].marked && chain.edges[0].edges == 300);
    }

    #[test]
    fn too_many_types_are_not_drawn() {
        let workflow = |kinds: usize| {
            let mut draft = crate::workflow::Draft::named("types");
            for at in 0..400 {
                let mut task = crate::workflow::TaskDraft::new(format!("t{at}"), 1.0);
                task.kind = (at % kinds).to_string();
                draft.task(task);
            }
            draft.build().unwrap()
        };
        assert_eq!(workflow_figure(&workflow(301), None), None);
        let chart = workflow_figure(&workflow(300), None).unwrap();
        // Twelve with a colour of their own, and the rest together.
        assert_eq!((chart.nodes.len(), chart.kinds.len()), (300, 13));
        assert_eq!(chart.kinds[12], ("288 other types".to_owned(), Ink::Muted));
    }
}
