//! What can be wrong with a workflow.

use thiserror::Error;

/// A part of a [`Draft`](super::Draft), by positions from 0, so that who read it from a file can say where it was written.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Part {
    /// The workflow as a whole.
    Workflow,
    /// The name of the workflow.
    Name,
    /// A task.
    Task(usize),
    /// The run time of a task.
    Runtime(usize),
    /// The processors of a task.
    Procs(usize),
    /// The memory of a task.
    Memory(usize),
    /// The `.1`-th parent of a task.
    Parent(usize, usize),
    /// The `.1`-th child of a task.
    Child(usize, usize),
    /// The `.1`-th file that a task reads.
    Input(usize, usize),
    /// The `.1`-th file that a task writes.
    Output(usize, usize),
    /// A file.
    File(usize),
}

/// Why a [`Draft`](super::Draft) is no workflow.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{problem}")]
pub struct WorkflowError {
    /// Where.
    pub part: Part,
    /// What is wrong, as a sentence without a full stop.
    pub problem: String,
    /// What the user can do; may be empty.
    pub hint: &'static str,
}
