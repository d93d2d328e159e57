//! What a file or a generator says of a workflow, before it is checked.

use std::collections::BTreeMap;

/// A workflow as it is said to be. [`Draft::build`] checks it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Draft {
    /// Its name.
    pub name: String,
    /// Its tasks; their order gives them their numbers.
    pub tasks: Vec<TaskDraft>,
    /// Its files, each with its size in bytes.
    pub files: Vec<(String, f64)>,
}

/// A task as it is said to be.
#[derive(Clone, Debug, PartialEq)]
pub struct TaskDraft {
    /// Its name.
    pub name: String,
    /// Its type.
    pub kind: String,
    /// Its run time at reference speed, in seconds.
    pub runtime: f64,
    /// Its run time on machines of a class, in seconds.
    pub by_class: BTreeMap<String, f64>,
    /// Its processors; a fraction is rounded up.
    pub procs: f64,
    /// The memory that it needs, in bytes.
    pub memory: Option<f64>,
    /// Names of tasks that it waits for.
    pub parents: Vec<String>,
    /// Names of tasks that wait for it. An edge may be written on one of its ends or on both.
    pub children: Vec<String>,
    /// Names of files that it reads. It waits for the tasks that write them, also if these are no `parents`.
    pub inputs: Vec<String>,
    /// Names of files that it writes.
    pub outputs: Vec<String>,
}

impl Draft {
    /// A workflow of no tasks yet.
    pub fn named(name: impl Into<String>) -> Self {
        Self { name: name.into(), ..Self::default() }
    }

    /// Adds a task.
    pub fn task(&mut self, task: TaskDraft) {
        self.tasks.push(task);
    }

    /// Adds a file of so many bytes.
    pub fn file(&mut self, name: impl Into<String>, bytes: f64) {
        self.files.push((name.into(), bytes));
    }
}

impl TaskDraft {
    /// A task on one processor, whose type is its name without a number at its end ([`TaskDraft::type_of`]).
    pub fn new(name: impl Into<String>, runtime: f64) -> Self {
        let name = name.into();
        Self {
            kind: Self::type_of(&name).to_owned(),
            name,
            runtime,
            by_class: BTreeMap::new(),
            procs: 1.0,
            memory: None,
            parents: Vec::new(),
            children: Vec::new(),
            inputs: Vec::new(),
            outputs: Vec::new(),
        }
    }

    /// The same task, after `parent`.
    #[must_use]
    pub fn after(mut self, parent: impl Into<String>) -> Self {
        self.parents.push(parent.into());
        self
    }

    /// The same task, which reads `file`.
    #[must_use]
    pub fn reads(mut self, file: impl Into<String>) -> Self {
        self.inputs.push(file.into());
        self
    }

    /// The same task, which writes `file`.
    #[must_use]
    pub fn writes(mut self, file: impl Into<String>) -> Self {
        self.outputs.push(file.into());
        self
    }

    /// The type of a task by its name, as WfCommons and Pegasus name tasks: `mProject` of `mProject_ID0000001` and of `mProject_12`.
    pub fn type_of(name: &str) -> &str {
        let bare = name.trim_end_matches(|c: char| c.is_ascii_digit());
        let number = bare.len() < name.len();
        let kind = bare.strip_suffix("_ID").or_else(|| bare.strip_suffix('_'));
        kind.filter(|kind| number && !kind.is_empty()).unwrap_or(name)
    }
}
