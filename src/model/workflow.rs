//! Workflows as plain data, which can be saved and sent.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::units::{Bytes, Span};

/// A workflow: its tasks, its files and what waits for what. Tasks and files are named by their places in these lists.
///
/// [`crate::workflow::Workflow`] is the checked graph of it, which is made again from it and never saved.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct WorkflowSpec {
    /// Its name.
    pub name: String,
    /// Its tasks.
    pub tasks: Vec<WorkflowTask>,
    /// Its files.
    pub files: Vec<WorkflowFile>,
    /// Tasks, and the tasks that wait for them. A task also waits for those that write what it reads, whether that is said here or not.
    pub edges: Vec<(u32, u32)>,
}

/// A task of a workflow.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct WorkflowTask {
    /// Its name.
    pub name: String,
    /// Its type.
    pub kind: String,
    /// Its run time at the reference speed.
    pub runtime: Span,
    /// Its run time on machines of a class, where that does not follow from their speed.
    pub by_class: BTreeMap<String, Span>,
    /// The processors that it needs.
    pub procs: u32,
    /// The memory that it needs, if known.
    pub memory: Option<Bytes>,
    /// The files that it reads.
    pub inputs: Vec<u32>,
    /// The files that it writes.
    pub outputs: Vec<u32>,
}

/// A file of a workflow.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct WorkflowFile {
    /// Its name.
    pub name: String,
    /// Its size.
    pub size: Bytes,
}
