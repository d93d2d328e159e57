//! Writing version 1.5.

use std::collections::BTreeMap;
use std::io::{self, Write};

use serde::Serialize;

use crate::workflow::{FileId, TaskId, Workflow};

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Written<'a> {
    name: &'a str,
    description: &'static str,
    schema_version: &'static str,
    workflow: Parts<'a>,
}

#[derive(Serialize)]
struct Parts<'a> {
    specification: Specification<'a>,
    execution: Execution<'a>,
}

#[derive(Serialize)]
struct Specification<'a> {
    tasks: Vec<Task<'a>>,
    files: Vec<File<'a>>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Task<'a> {
    name: &'a str,
    id: &'a str,
    parents: Vec<&'a str>,
    children: Vec<&'a str>,
    input_files: Vec<&'a str>,
    output_files: Vec<&'a str>,
}

#[derive(Serialize)]
struct File<'a> {
    id: &'a str,
    #[serde(rename = "sizeInBytes")]
    bytes: u64,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Execution<'a> {
    makespan_in_seconds: f64,
    executed_at: &'static str,
    tasks: Vec<Executed<'a>>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Executed<'a> {
    id: &'a str,
    runtime_in_seconds: f64,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    runtime_in_seconds_by_class: BTreeMap<&'a str, f64>,
    core_count: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    memory_in_bytes: Option<u64>,
    command: Command<'a>,
}

#[derive(Serialize)]
struct Command<'a> {
    program: &'a str,
    arguments: [&'a str; 0],
}

/// Writes a workflow as WfFormat 1.5; [`read`](super::read) gives the same workflow again.
///
/// The type of a task is its `name` and its `program`, its name its `id`. Run times by machine class, which WfFormat does not know, are in
/// `runtimeInSecondsByClass`. The schema requires an execution: it is the bound that needs no machine, the critical path without data, at the
/// Unix epoch.
///
/// # Errors
/// Those of writing.
pub fn write(workflow: &Workflow, mut out: impl Write) -> io::Result<()> {
    let names = |tasks: &mut dyn Iterator<Item = (TaskId, crate::units::Bytes)>| {
        tasks.map(|(task, _)| workflow.task(task).name.as_str()).collect::<Vec<_>>()
    };
    let files =
        |files: &[FileId]| files.iter().map(|file| workflow.file(*file).name.as_str()).collect::<Vec<_>>();
    let tasks = workflow.ids().zip(workflow.tasks()).map(|(id, task)| Task {
        name: &task.kind,
        id: &task.name,
        parents: names(&mut workflow.predecessors(id)),
        children: names(&mut workflow.successors(id)),
        input_files: files(&task.inputs),
        output_files: files(&task.outputs),
    });
    let executed = workflow.tasks().map(|task| Executed {
        id: &task.name,
        runtime_in_seconds: task.runtime.as_secs_f64(),
        runtime_in_seconds_by_class: task
            .by_class
            .iter()
            .map(|(class, span)| (class.as_str(), span.as_secs_f64()))
            .collect(),
        core_count: task.procs,
        memory_in_bytes: task.memory.map(|memory| memory.count()),
        command: Command { program: &task.kind, arguments: [] },
    });
    let costs = crate::workflow::Costs::at_reference(workflow, None);
    let written = Written {
        name: workflow.name(),
        description: "Written by gridemu",
        schema_version: "1.5",
        workflow: Parts {
            specification: Specification {
                tasks: tasks.collect(),
                files: workflow
                    .files()
                    .iter()
                    .map(|file| File { id: &file.name, bytes: file.size.count() })
                    .collect(),
            },
            execution: Execution {
                makespan_in_seconds: workflow.critical_path(&costs).0,
                executed_at: "1970-01-01T00:00:00Z",
                tasks: executed.collect(),
            },
        },
    };
    serde_json::to_writer_pretty(&mut out, &written).map_err(io::Error::from)?;
    out.write_all(b"\n")
}
