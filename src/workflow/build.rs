//! Checks a draft.

use rustc_hash::FxHashMap;

use super::{DataFile, Draft, FileId, Part, Task, TaskDraft, TaskId, Workflow, WorkflowError};
use crate::model::MAX_PROCESSORS;
use crate::units::{Bytes, Span, exponential};

/// The longest run time in seconds, three centuries.
const MAX_SECS: f64 = 1e10;
/// The largest file and the largest memory: a petabyte, which a floating-point number still counts byte by byte.
const MAX_BYTES: f64 = 1e15;
/// The most tasks of a cycle that a message names.
const NAMED: usize = 20;

impl Draft {
    /// The workflow that this says.
    ///
    /// # Errors
    /// [`WorkflowError`] with the first part that is wrong: no tasks; a name that is missing, given twice or has a control character; a run time, size, memory or
    /// number of processors that is negative, absurd or not a number; a parent, child or file that does not exist; a file that two tasks
    /// write, or that a task both reads and writes; a cycle.
    pub fn build(self) -> Result<Workflow, WorkflowError> {
        if self.tasks.is_empty() {
            return wrong(Part::Workflow, "the workflow has no tasks", "a workflow needs at least one task");
        }
        self.check_names()?;
        let mut files = files(&self.files)?;
        let by_name = by_name(self.tasks.iter().map(|task| &task.name), Part::Task, "tasks")?;
        let file_ids = by_name_of_files(&self.files)?;
        let mut nodes = Vec::with_capacity(self.tasks.len());
        for (at, task) in self.tasks.iter().enumerate() {
            let outputs = links(task, at, &task.outputs, Part::Output, &file_ids)?;
            for (nth, file) in &outputs {
                let data = &mut files[file.index()];
                if let Some(other) = data.producer.replace(TaskId(at as u32)) {
                    let other = &self.tasks[other.index()].name;
                    let problem =
                        format!("`{other}` and `{}` both write the file `{}`", task.name, data.name);
                    return wrong(Part::Output(at, *nth), problem, "give each file one task that writes it");
                }
            }
            let inputs = links(task, at, &task.inputs, Part::Input, &file_ids)?;
            for (nth, file) in &inputs {
                let data = &mut files[file.index()];
                if data.producer == Some(TaskId(at as u32)) {
                    let problem = format!("`{}` both reads and writes the file `{}`", task.name, data.name);
                    return wrong(Part::Input(at, *nth), problem, "give what it writes another name");
                }
                data.consumers.push(TaskId(at as u32));
            }
            let ids = |links: Vec<(usize, FileId)>| links.into_iter().map(|(_, file)| file).collect();
            nodes.push(task_of(task, at, ids(inputs), ids(outputs))?);
        }
        let edges = named_edges(&self.tasks, &by_name)?;
        Workflow::assemble(self.name, nodes, files, edges).or_else(|tasks| {
            let name = |task: &TaskId| format!("`{}`", self.tasks[task.index()].name);
            let mut names: Vec<String> = tasks.iter().take(NAMED).map(name).collect();
            if tasks.len() > NAMED {
                names.push("...".to_owned());
            }
            names.push(names[0].clone());
            let problem = match tasks.len() {
                1 => format!("the task {} waits for itself", names[0]),
                many => format!("{many} tasks wait for each other in a cycle: {}", names.join(" -> ")),
            };
            let hint = "remove a dependency, or a file that makes one, from the cycle";
            wrong(Part::Task(tasks[0].index()), problem, hint)
        })
    }
}

impl Draft {
    /// Refuses control characters (tabs and ends of lines among them) in names: no table of results could hold them.
    fn check_names(&self) -> Result<(), WorkflowError> {
        printable(Part::Name, "the workflow", &self.name)?;
        for (at, task) in self.tasks.iter().enumerate() {
            printable(Part::Task(at), "a task", &task.name)?;
            printable(Part::Task(at), "the type of a task", &task.kind)?;
        }
        let named = |names: fn(&TaskDraft) -> &[String], part: fn(usize, usize) -> Part| {
            let tasks = self.tasks.iter().enumerate();
            tasks
                .flat_map(move |(at, task)| {
                    (0..).zip(names(task)).map(move |(nth, name)| (part(at, nth), name))
                })
                .try_for_each(|(part, name)| printable(part, "a file", name))
        };
        named(|task| &task.outputs, Part::Output)?;
        named(|task| &task.inputs, Part::Input)?;
        self.files
            .iter()
            .enumerate()
            .try_for_each(|(at, (name, _))| printable(Part::File(at), "a file", name))
    }
}

fn printable(part: Part, of: &str, name: &str) -> Result<(), WorkflowError> {
    match name.contains(char::is_control) {
        false => Ok(()),
        true => wrong(
            part,
            format!("the name of {of} has a control character: {name:?}"),
            "remove it from the name",
        ),
    }
}

pub(super) fn wrong<T>(
    part: Part,
    problem: impl Into<String>,
    hint: &'static str,
) -> Result<T, WorkflowError> {
    Err(WorkflowError { part, problem: problem.into(), hint })
}

/// `value` as a whole number of `what` up to `most`.
fn checked(part: Part, of: &str, value: f64, most: f64, unit: &str) -> Result<f64, WorkflowError> {
    match (0.0..=most).contains(&value) {
        true => Ok(value),
        false => wrong(part, format!("{of} is {}{unit}, not from 0 to {most}{unit}", exponential(value)), ""),
    }
}

fn span(part: Part, of: &str, secs: f64) -> Result<Span, WorkflowError> {
    let secs = checked(part, of, secs, MAX_SECS, " s")?;
    Ok(Span::from_micros(libm::round(secs * 1e6) as u64))
}

fn bytes(part: Part, of: &str, count: f64) -> Result<Bytes, WorkflowError> {
    checked(part, of, count, MAX_BYTES, " bytes").map(|count| Bytes::new(libm::round(count) as u64))
}

/// The processors of the task at a place, rounded up.
pub(super) fn checked_procs(task: &str, at: usize, written: f64) -> Result<u32, WorkflowError> {
    let procs = libm::ceil(written);
    if !(1.0..=f64::from(MAX_PROCESSORS)).contains(&procs) {
        let problem = format!(
            "the task `{task}` has {} processors, not from 1 to {MAX_PROCESSORS}",
            exponential(written)
        );
        return wrong(Part::Procs(at), problem, "");
    }
    Ok(procs as u32)
}

fn task_of(
    task: &TaskDraft,
    at: usize,
    inputs: Vec<FileId>,
    outputs: Vec<FileId>,
) -> Result<Task, WorkflowError> {
    let name = &task.name;
    let procs = checked_procs(name, at, task.procs)?;
    let mut by_class = std::collections::BTreeMap::new();
    for (class, secs) in &task.by_class {
        let of = format!("the run time of the task `{name}` on `{class}`");
        by_class.insert(class.clone(), span(Part::Runtime(at), &of, *secs)?);
    }
    let memory = task
        .memory
        .map(|memory| bytes(Part::Memory(at), &format!("the memory of the task `{name}`"), memory));
    Ok(Task {
        name: name.clone(),
        kind: task.kind.clone(),
        runtime: span(Part::Runtime(at), &format!("the run time of the task `{name}`"), task.runtime)?,
        by_class,
        procs,
        memory: memory.transpose()?,
        inputs,
        outputs,
    })
}

fn files(written: &[(String, f64)]) -> Result<Vec<DataFile>, WorkflowError> {
    let file = |(at, (name, size)): (usize, &(String, f64))| {
        let size = bytes(Part::File(at), &format!("the size of the file `{name}`"), *size)?;
        Ok(DataFile { name: name.clone(), size, producer: None, consumers: Vec::new() })
    };
    written.iter().enumerate().map(file).collect()
}

/// The positions by name.
fn by_name<'a>(
    names: impl Iterator<Item = &'a String>,
    part: fn(usize) -> Part,
    what: &str,
) -> Result<FxHashMap<&'a str, u32>, WorkflowError> {
    let mut by_name = FxHashMap::default();
    for (at, name) in names.enumerate() {
        if name.is_empty() {
            return wrong(part(at), format!("one of the {what} has an empty name"), "give it a name");
        }
        if by_name.insert(name.as_str(), at as u32).is_some() {
            return wrong(part(at), format!("two {what} have the name `{name}`"), "give one another name");
        }
    }
    Ok(by_name)
}

fn by_name_of_files(files: &[(String, f64)]) -> Result<FxHashMap<&str, u32>, WorkflowError> {
    by_name(files.iter().map(|(name, _)| name), Part::File, "files")
}

/// The files that `names` name, each once, with its position there.
fn links(
    task: &TaskDraft,
    at: usize,
    names: &[String],
    part: fn(usize, usize) -> Part,
    by_name: &FxHashMap<&str, u32>,
) -> Result<Vec<(usize, FileId)>, WorkflowError> {
    let mut seen = rustc_hash::FxHashSet::default();
    let mut found = Vec::with_capacity(names.len());
    for (nth, name) in names.iter().enumerate() {
        let Some(file) = by_name.get(name.as_str()) else {
            let problem = format!("the file `{name}` of the task `{}` has no size", task.name);
            return wrong(part(at, nth), problem, "give the file with its size");
        };
        if seen.insert(*file) {
            found.push((nth, FileId(*file)));
        }
    }
    Ok(found)
}

/// The edges (from, to) that tasks name.
fn named_edges(
    tasks: &[TaskDraft],
    by_name: &FxHashMap<&str, u32>,
) -> Result<Vec<(u32, u32)>, WorkflowError> {
    let known = |at: usize, name: &String, part: Part, needs: &str| {
        by_name.get(name.as_str()).copied().map_or_else(
            || {
                let problem = format!(
                    "the task `{}` {needs} `{name}`, which is no task of the workflow",
                    tasks[at].name
                );
                wrong(part, problem, "name a task of the workflow, or remove it")
            },
            Ok,
        )
    };
    let mut edges = Vec::new();
    for (at, task) in tasks.iter().enumerate() {
        for (nth, parent) in task.parents.iter().enumerate() {
            edges.push((known(at, parent, Part::Parent(at, nth), "has the parent")?, at as u32));
        }
        for (nth, child) in task.children.iter().enumerate() {
            edges.push((at as u32, known(at, child, Part::Child(at, nth), "has the child")?));
        }
    }
    Ok(edges)
}
