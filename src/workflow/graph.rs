//! The graph of a workflow.

use std::collections::BTreeMap;

use petgraph::Direction;
use petgraph::graph::{DiGraph, EdgeIndex, NodeIndex};
use petgraph::visit::EdgeRef;

use super::{Draft, TaskDraft};
use crate::units::{Bytes, Span};

/// The number of a task in its workflow, from 0, in the order in which the tasks were given.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TaskId(pub u32);

/// The number of a file in its workflow, from 0, in the order in which the files were given.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FileId(pub u32);

impl TaskId {
    /// The number as an index.
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

impl FileId {
    /// The number as an index.
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

/// A task of a workflow.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Task {
    /// Its name, which no other task of the workflow has.
    pub name: String,
    /// Its type: what program it runs. Tasks of one type resemble each other.
    pub kind: String,
    /// Its run time on all its processors at the reference speed; may be zero.
    pub runtime: Span,
    /// Its run time on machines of a class, where that does not follow from their speed.
    pub by_class: BTreeMap<String, Span>,
    /// The processors that it needs, at least 1.
    pub procs: u32,
    /// The memory that it needs, if known.
    pub memory: Option<Bytes>,
    /// The files that it reads, each once.
    pub inputs: Vec<FileId>,
    /// The files that it writes, each once.
    pub outputs: Vec<FileId>,
}

/// A file of a workflow.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DataFile {
    /// Its name, which no other file of the workflow has.
    pub name: String,
    /// Its size.
    pub size: Bytes,
    /// The task that writes it; `None` for stage-in, which is there before the workflow starts.
    pub producer: Option<TaskId>,
    /// The tasks that read it, in order.
    pub consumers: Vec<TaskId>,
}

/// A valid workflow: at least one task, no cycle, no name twice, every size and run time known.
///
/// There is an edge from a task to another if the other was given it as parent, or reads what it writes. Edges that follow from others
/// are kept. What an edge carries is the size of the files that the one writes and the other reads; it may be nothing.
#[derive(Clone, Debug)]
pub struct Workflow {
    pub(super) name: String,
    pub(super) graph: DiGraph<Task, Bytes, u32>,
    pub(super) files: Vec<DataFile>,
    /// The tasks, each after its predecessors.
    pub(super) order: Vec<TaskId>,
}

impl Workflow {
    /// The workflow of tasks and files that are right by themselves, with an edge from the task that writes a file to each that reads it,
    /// and these. `Err` with the tasks of a cycle.
    pub(super) fn assemble(
        name: String,
        tasks: Vec<Task>,
        files: Vec<DataFile>,
        edges: Vec<(u32, u32)>,
    ) -> Result<Self, Vec<TaskId>> {
        let mut edges: Vec<(u32, u32, u64)> = edges.into_iter().map(|(from, to)| (from, to, 0)).collect();
        for file in &files {
            if let Some(producer) = file.producer {
                edges.extend(
                    file.consumers.iter().map(|consumer| (producer.0, consumer.0, file.size.count())),
                );
            }
        }
        edges.sort_unstable();
        edges.dedup_by(|later, kept| {
            let same = (later.0, later.1) == (kept.0, kept.1);
            if same {
                kept.2 = kept.2.saturating_add(later.2);
            }
            same
        });
        let mut graph = DiGraph::with_capacity(tasks.len(), edges.len());
        tasks.into_iter().for_each(|task| _ = graph.add_node(task));
        // In descending order, so that petgraph, which yields what was added last first, yields them in ascending order.
        for (from, to, bytes) in edges.into_iter().rev() {
            graph.add_edge(NodeIndex::new(from as usize), NodeIndex::new(to as usize), Bytes::new(bytes));
        }
        match petgraph::algo::toposort(&graph, None) {
            Ok(order) => Ok(Self { name, graph, files, order: order.into_iter().map(id).collect() }),
            Err(cycle) => Err(cycle_through(&graph, cycle.node_id()).into_iter().map(id).collect()),
        }
    }

    /// Its name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The number of tasks, at least 1.
    pub fn len(&self) -> usize {
        self.graph.node_count()
    }

    /// False: there is no workflow without a task.
    pub fn is_empty(&self) -> bool {
        false
    }

    /// The tasks, in the order of their numbers.
    pub fn tasks(&self) -> impl ExactSizeIterator<Item = &Task> {
        self.graph.raw_nodes().iter().map(|node| &node.weight)
    }

    /// The numbers of the tasks.
    pub fn ids(&self) -> impl ExactSizeIterator<Item = TaskId> + use<> {
        (0..self.len() as u32).map(TaskId)
    }

    /// The task of a number.
    ///
    /// # Panics
    /// If the number is of another workflow.
    pub fn task(&self, id: TaskId) -> &Task {
        &self.graph[NodeIndex::new(id.index())]
    }

    /// The files, in the order of their numbers.
    pub fn files(&self) -> &[DataFile] {
        &self.files
    }

    /// The file of a number.
    ///
    /// # Panics
    /// If the number is of another workflow.
    pub fn file(&self, id: FileId) -> &DataFile {
        &self.files[id.index()]
    }

    /// The tasks in an order in which each comes after its predecessors, always the same for the same workflow.
    pub fn order(&self) -> &[TaskId] {
        &self.order
    }

    /// The edges (from, to, what it carries), in ascending order.
    pub fn edges(&self) -> impl ExactSizeIterator<Item = (TaskId, TaskId, Bytes)> {
        // They were added in descending order: petgraph yields the edge of a node that was added last first.
        self.graph.raw_edges().iter().rev().map(|edge| (id(edge.source()), id(edge.target()), edge.weight))
    }

    /// The place of an edge in [`Workflow::edges`].
    fn place(&self, edge: EdgeIndex<u32>) -> usize {
        self.graph.edge_count() - 1 - edge.index()
    }

    /// The tasks that wait for `task`, in order, with what each gets from it.
    pub fn successors(&self, task: TaskId) -> impl Iterator<Item = (TaskId, Bytes)> {
        self.out_edges(task).map(|(_, to, carried)| (to, carried))
    }

    /// The tasks that `task` waits for, in order, with what it gets from each.
    pub fn predecessors(&self, task: TaskId) -> impl Iterator<Item = (TaskId, Bytes)> {
        self.in_edges(task).map(|(_, from, carried)| (from, carried))
    }

    /// The edges out of `task`, by ascending target, each with its place in [`Workflow::edges`].
    pub(super) fn out_edges(&self, task: TaskId) -> impl Iterator<Item = (usize, TaskId, Bytes)> {
        let edges = self.graph.edges(NodeIndex::new(task.index()));
        edges.map(|edge| (self.place(edge.id()), id(edge.target()), *edge.weight()))
    }

    /// The edges into `task`, by ascending source, each with its place in [`Workflow::edges`].
    pub(super) fn in_edges(&self, task: TaskId) -> impl Iterator<Item = (usize, TaskId, Bytes)> {
        let edges = self.graph.edges_directed(NodeIndex::new(task.index()), Direction::Incoming);
        edges.map(|edge| (self.place(edge.id()), id(edge.source()), *edge.weight()))
    }

    /// What would make this workflow again, with all edges written as parents. Two workflows are the same if their drafts are.
    pub fn draft(&self) -> Draft {
        let names =
            |files: &[FileId]| files.iter().map(|file| self.file(*file).name.clone()).collect::<Vec<_>>();
        let tasks = self.ids().zip(self.tasks()).map(|(id, task)| TaskDraft {
            name: task.name.clone(),
            kind: task.kind.clone(),
            runtime: task.runtime.as_secs_f64(),
            by_class: task.by_class.iter().map(|(class, span)| (class.clone(), span.as_secs_f64())).collect(),
            procs: f64::from(task.procs),
            memory: task.memory.map(|memory| memory.count() as f64),
            parents: self.predecessors(id).map(|(parent, _)| self.task(parent).name.clone()).collect(),
            children: Vec::new(),
            inputs: names(&task.inputs),
            outputs: names(&task.outputs),
        });
        let files = self.files.iter().map(|file| (file.name.clone(), file.size.count() as f64));
        Draft { name: self.name.clone(), tasks: tasks.collect(), files: files.collect() }
    }
}

/// The number of the task of a node.
pub(super) fn id(node: NodeIndex<u32>) -> TaskId {
    TaskId(node.index() as u32)
}

/// The shortest cycle through `node`, from `node` on.
fn cycle_through(graph: &DiGraph<Task, Bytes, u32>, node: NodeIndex<u32>) -> Vec<NodeIndex<u32>> {
    let mut from: Vec<Option<NodeIndex<u32>>> = vec![None; graph.node_count()];
    let mut queue = std::collections::VecDeque::from([node]);
    while let Some(at) = queue.pop_front() {
        for edge in graph.edges(at) {
            let to = edge.target();
            if to == node {
                let mut cycle = vec![at];
                while cycle[cycle.len() - 1] != node
                    && let Some(before) = from[cycle[cycle.len() - 1].index()]
                {
                    cycle.push(before);
                }
                cycle.reverse();
                return cycle;
            }
            if from[to.index()].is_none() {
                from[to.index()] = Some(at);
                queue.push_back(to);
            }
        }
    }
    vec![node]
}
