//! Grouping: tasks that go to a site together, as one job.
//!
//! A [`Group`] says which tasks belong together; a [`Grouping`] is what comes of it: the groups with their tasks in an order in which they
//! can run, and the workflow that has the groups as its tasks.
//!
//! ```
//! use gridemu::workflow::grouping::{Grouping, GroupingRegistry};
//! use gridemu::workflow::shapes::ShapeSpec;
//!
//! let workflow = "fork-join[tasks=12,width=10]".parse::<ShapeSpec>().unwrap().workflow(1).unwrap();
//! let by = GroupingRegistry::standard().build(&"horizontal[size=5]".parse().unwrap()).unwrap();
//! let grouping = Grouping::of(&workflow, &*by).unwrap();
//! // The fork, two groups of five tasks, the join.
//! assert_eq!(grouping.workflow().len(), 4);
//! ```

mod contents;
mod inside;
mod registry;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::fmt;

pub use contents::GroupingContents;
pub use horizontal::{Clusters, Horizontal};
pub use inside::Inside;
use inside::peak_memory;
pub use level::Level;
pub use none::Ungrouped;
pub use paul::Paul;
pub use pilot::Pilot;
pub use registry::{GroupingInfo, GroupingRegistry, Groupings};
use rustc_hash::FxHashSet;
pub use vertical::Vertical;

use crate::model::{GroupMember, TaskGroups};
use crate::units::Span;

use super::{DataFile, FileId, Part, Task, TaskId, Workflow, WorkflowError};

crate::model::standard_policies! { GroupingRegistry:
    none
    horizontal
    vertical
    paul
    level
    pilot
}

/// The most types that the type of a group names.
const MOST_KINDS: usize = 8;

/// A way to put tasks into groups.
pub trait Group: fmt::Debug + Send + Sync {
    /// A number for each task; tasks of one number are one group. There must be no cycle of groups.
    fn labels(&self, workflow: &Workflow) -> Vec<u32>;

    /// How the tasks of a group share its processors.
    fn inside(&self) -> Inside {
        Inside::InTurn
    }
}

/// Tasks that run on the same processors.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TaskGroup {
    /// The tasks, by level, then by number: each after its predecessors.
    pub tasks: Vec<TaskId>,
    /// When each of them runs, from the start of the group on, at reference speed.
    pub runs: Vec<(Span, Span)>,
    /// The processors that they need.
    pub procs: u32,
    /// The files that one of them writes and no task of another group reads, but one of this: they never leave.
    pub internal: Vec<FileId>,
}

/// A workflow whose tasks are in groups, each in one.
#[derive(Clone, Debug)]
pub struct Grouping {
    groups: Vec<TaskGroup>,
    group_of: Vec<u32>,
    inside: Inside,
    workflow: Workflow,
}

impl Grouping {
    /// Groups the tasks of a workflow.
    ///
    /// # Errors
    /// [`WorkflowError`] if the groups wait for each other in a cycle, or if there is not a number for each task; no grouping of the library
    /// does that.
    pub fn of(workflow: &Workflow, by: &dyn Group) -> Result<Self, WorkflowError> {
        let labels = by.labels(workflow);
        let wrong = |problem, hint| WorkflowError { part: Part::Workflow, problem, hint };
        if labels.len() != workflow.len() {
            let problem = format!("the grouping has {} labels for {} tasks", labels.len(), workflow.len());
            return Err(wrong(problem, "give each task one"));
        }
        // Groups are numbered by their lowest task.
        let mut numbers = BTreeMap::new();
        let mut group_of = Vec::with_capacity(labels.len());
        for label in &labels {
            let next = numbers.len() as u32;
            group_of.push(*numbers.entry(*label).or_insert(next));
        }
        let empty = TaskGroup { tasks: Vec::new(), runs: Vec::new(), procs: 0, internal: Vec::new() };
        let mut groups = vec![empty; numbers.len()];
        // By level, then by number: predecessors are at lower levels.
        let levels = workflow.levels();
        let mut order: Vec<TaskId> = workflow.ids().collect();
        order.sort_by_key(|task| levels[task.index()]);
        for task in order {
            groups[group_of[task.index()] as usize].tasks.push(task);
        }
        let inside = by.inside();
        for group in &mut groups {
            (group.runs, group.procs) = inside.runs(workflow, &group.tasks, |task| task.runtime);
        }
        for (file, data) in (0..).map(FileId).zip(workflow.files()) {
            if let Some(producer) = data.producer
                && !data.consumers.is_empty()
                && data.consumers.iter().all(|task| group_of[task.index()] == group_of[producer.index()])
            {
                groups[group_of[producer.index()] as usize].internal.push(file);
            }
        }
        let quotient = quotient(workflow, &groups, &group_of, inside).map_err(|cycle| {
            let names: Vec<String> = cycle
                .iter()
                .map(|group| format!("`{}`", workflow.task(groups[group.index()].tasks[0]).name))
                .collect();
            let problem =
                format!("the groups of the tasks {} wait for each other in a cycle", names.join(", "));
            wrong(problem, "group tasks such that no way leads out of a group and back")
        })?;
        Ok(Self { groups, group_of, inside, workflow: quotient })
    }

    /// The groups, in the order of their lowest tasks.
    pub fn groups(&self) -> &[TaskGroup] {
        &self.groups
    }

    /// The place in [`Grouping::groups`] of the group of a task.
    ///
    /// # Panics
    /// If the number is of another workflow.
    pub fn group_of(&self, task: TaskId) -> usize {
        self.group_of[task.index()] as usize
    }

    /// How the tasks of a group share its processors.
    pub fn inside(&self) -> Inside {
        self.inside
    }

    /// The tasks of a group, with when they run.
    ///
    /// # Panics
    /// If there is no such group, or it is of another workflow.
    pub fn members(&self, workflow: &Workflow, group: usize) -> Vec<GroupMember> {
        let TaskGroup { tasks, runs, procs, .. } = &self.groups[group];
        let mut members: Vec<GroupMember> = tasks
            .iter()
            .zip(runs)
            .map(|(task, run)| GroupMember { task: task.0, run: *run, by_class: BTreeMap::new() })
            .collect();
        for class in self.workflow.task(TaskId(group as u32)).by_class.keys() {
            let (runs, _) = self.inside.on(*procs).runs(workflow, tasks, |task| task.by_class[class]);
            for (member, run) in members.iter_mut().zip(runs) {
                member.by_class.insert(class.clone(), run);
            }
        }
        members
    }

    /// The workflow whose tasks are the groups, in their order. A group of one task is that task. One of several runs as long as its tasks
    /// [need inside it](Inside), has the processors that they need there, their most memory, their types with `+` between them (the first eight of many), and a run time
    /// on those machine classes for which all of them have one. Its files are those that enter or leave groups.
    pub fn workflow(&self) -> &Workflow {
        &self.workflow
    }
}

/// `Err` with the groups of a cycle.
fn quotient(
    workflow: &Workflow,
    groups: &[TaskGroup],
    group_of: &[u32],
    inside: Inside,
) -> Result<Workflow, Vec<TaskId>> {
    let group = |task: TaskId| TaskId(group_of[task.index()]);
    let internal: FxHashSet<FileId> =
        groups.iter().flat_map(|group| group.internal.iter().copied()).collect();
    // What is read and written, without internal files, under its new number.
    let mut files = Vec::with_capacity(workflow.files().len() - internal.len());
    let (mut inputs, mut outputs) = (vec![Vec::new(); groups.len()], vec![Vec::new(); groups.len()]);
    for (_, data) in (0..).map(FileId).zip(workflow.files()).filter(|(file, _)| !internal.contains(file)) {
        let file = FileId(files.len() as u32);
        let producer = data.producer.map(group);
        let mut consumers: Vec<TaskId> = data.consumers.iter().map(|task| group(*task)).collect();
        consumers.sort_unstable();
        consumers.dedup();
        consumers.retain(|consumer| Some(*consumer) != producer);
        consumers.iter().for_each(|consumer| inputs[consumer.index()].push(file));
        if let Some(producer) = producer {
            outputs[producer.index()].push(file);
        }
        files.push(DataFile { name: data.name.clone(), size: data.size, producer, consumers });
    }
    let names: FxHashSet<&str> = workflow.tasks().map(|task| &*task.name).collect();
    let tasks = groups.iter().zip(inputs).zip(outputs);
    let tasks = tasks.map(|((group, inputs), outputs)| Task {
        inputs,
        outputs,
        ..task_of(workflow, group, inside, &names)
    });
    let edges =
        workflow.edges().map(|(from, to, _)| (group(from).0, group(to).0)).filter(|(from, to)| from != to);
    Workflow::assemble(workflow.name().to_owned(), tasks.collect(), files, edges.collect())
}

/// The types of tasks in the order of their first tasks, with `+` between them; of more than [`MOST_KINDS`] the first, and how many more there are.
fn kind_of(tasks: &[&Task]) -> String {
    let mut seen = FxHashSet::default();
    let kinds: Vec<&str> = tasks.iter().map(|task| &*task.kind).filter(|kind| seen.insert(*kind)).collect();
    let (named, others) = kinds.split_at(kinds.len().min(MOST_KINDS));
    let more = if others.is_empty() { String::new() } else { format!("+{} more", others.len()) };
    named.join("+") + &more
}

/// The group as a task, without its files.
fn task_of(workflow: &Workflow, group: &TaskGroup, inside: Inside, names: &FxHashSet<&str>) -> Task {
    let first = workflow.task(group.tasks[0]);
    if group.tasks.len() == 1 {
        return first.clone();
    }
    let tasks: Vec<&Task> = group.tasks.iter().map(|task| workflow.task(*task)).collect();
    let mut name = format!("{}+{}", first.name, tasks.len() - 1);
    while names.contains(&*name) {
        name.push('+');
    }
    let classes =
        first.by_class.keys().filter(|class| tasks.iter().all(|task| task.by_class.contains_key(*class)));
    let on = |class: &String| {
        let (runs, _) = inside.on(group.procs).runs(workflow, &group.tasks, |task| task.by_class[class]);
        (class.clone(), end_of(&runs))
    };
    Task {
        name,
        kind: kind_of(&tasks),
        runtime: end_of(&group.runs),
        by_class: classes.map(on).collect(),
        procs: group.procs,
        memory: peak_memory(&tasks, &group.runs),
        inputs: Vec::new(),
        outputs: Vec::new(),
    }
}

/// What is `believed` of the tasks of a workflow, as that of the groups in which it is `enacted`.
pub(super) fn believed(groups: &TaskGroups, enacted: &Workflow, believed: &Workflow) -> Workflow {
    let mut whole = enacted.clone();
    for (group, members) in whole.graph.node_weights_mut().zip(&groups.members) {
        let tasks: Vec<TaskId> = members.iter().map(|member| TaskId(member.task)).collect();
        let inside = if groups.side_by_side { Inside::SideBySide(group.procs) } else { Inside::InTurn };
        let time = |on: &dyn Fn(&Task) -> Span| end_of(&inside.runs(believed, &tasks, on).0);
        group.runtime = time(&|task| task.runtime);
        for (class, span) in &mut group.by_class {
            *span = time(&|task| task.by_class[class]);
        }
    }
    whole
}

/// The end of the last.
fn end_of(runs: &[(Span, Span)]) -> Span {
    runs.iter().map(|(_, end)| *end).max().unwrap_or_default()
}
