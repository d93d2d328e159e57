//! Writing version 1.5.

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::time::{Duration, UNIX_EPOCH};

use humantime::{format_rfc3339_micros, format_rfc3339_seconds};
use serde::Serialize;

use crate::units::{Energy, Power, Span, Time};
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
    execution: Executions<'a>,
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
struct Executions<'a> {
    makespan_in_seconds: f64,
    executed_at: String,
    tasks: Vec<Executed<'a>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    machines: Vec<Node<'a>>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Node<'a> {
    node_name: &'a str,
    cpu: Cpu,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Cpu {
    core_count: u32,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Executed<'a> {
    id: &'a str,
    runtime_in_seconds: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    executed_at: Option<String>,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    runtime_in_seconds_by_class: BTreeMap<&'a str, f64>,
    core_count: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    memory_in_bytes: Option<u64>,
    #[serde(rename = "energyInKWh", skip_serializing_if = "Option::is_none")]
    energy_in_kwh: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    avg_power_in_w: Option<f64>,
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    machines: &'a [String],
    command: Command<'a>,
}

#[derive(Serialize)]
struct Command<'a> {
    program: &'a str,
    arguments: [&'a str; 0],
}

/// How a workflow was executed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Execution {
    /// When it was submitted.
    pub began: Time,
    /// The time from its submission to its end.
    pub makespan: Span,
    /// How each task was executed, in the order of tasks.
    pub tasks: Vec<ExecutedTask>,
    /// The machines that tasks name.
    pub machines: Vec<Machine>,
}

/// How a task was executed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExecutedTask {
    /// When it started.
    pub began: Time,
    /// How long it ran.
    pub runtime: Span,
    /// The names of its machines.
    pub machines: Vec<String>,
    /// The energy that it drew, with that of overheads; nothing if that is not known.
    pub energy: Energy,
    /// The mean power of its processors, overheads included; nothing if that is not known.
    pub power: Power,
}

/// A machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Machine {
    /// Its name.
    pub name: String,
    /// Its processors.
    pub cores: u32,
}

/// An instant of a run as WfFormat has it: the run begins with the Unix epoch.
fn instant(time: Time) -> String {
    // Years of five digits cannot be written.
    let most = Duration::from_secs(253_402_300_799);
    let instant = UNIX_EPOCH + Duration::from_micros(time.micros()).min(most);
    match time.micros() % 1_000_000 {
        0 => format_rfc3339_seconds(instant).to_string(),
        _ => format_rfc3339_micros(instant).to_string(),
    }
}

/// Writes a workflow as WfFormat 1.5; [`read`](super::read) gives the same workflow again.
///
/// The type of a task is its `name` and its `program`, its name its `id`. Run times by machine class, which WfFormat does not know, are in
/// `runtimeInSecondsByClass`. The schema requires an execution: it is the bound that needs no machine, the critical path without data, at the
/// Unix epoch.
///
/// # Errors
/// Those of writing.
pub fn write(workflow: &Workflow, out: impl Write) -> io::Result<()> {
    write_both(workflow, None, out)
}

/// Writes a workflow as WfFormat 1.5, as [`write()`] does, with its execution: the run times are those of the execution, without any by machine
/// class, and instants count from the Unix epoch. [`read`](super::read) takes these run times for those of the tasks.
///
/// # Errors
/// Those of writing.
pub fn write_execution(workflow: &Workflow, execution: &Execution, out: impl Write) -> io::Result<()> {
    write_both(workflow, Some(execution), out)
}

fn write_both(workflow: &Workflow, execution: Option<&Execution>, mut out: impl Write) -> io::Result<()> {
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
    let executed = workflow.tasks().enumerate().map(|(at, task)| {
        let ran = execution.and_then(|execution| execution.tasks.get(at));
        let runtime = ran.map_or(task.runtime, |ran| ran.runtime).as_secs_f64();
        let joules = ran.map(|ran| ran.energy.as_kwh_f64() * 3.6e6).filter(|joules| *joules > 0.0);
        let watts = ran.map(|ran| ran.power.milliwatts() as f64 / 1e3).filter(|watts| *watts > 0.0);
        Executed {
            id: &task.name,
            runtime_in_seconds: runtime,
            executed_at: ran.map(|ran| instant(ran.began)),
            energy_in_kwh: joules.map(|joules| joules / 3.6e6),
            avg_power_in_w: watts,
            machines: ran.map_or(&[][..], |ran| &ran.machines),
            // What was executed took the time that it took, on whatever machine.
            runtime_in_seconds_by_class: task
                .by_class
                .iter()
                .filter(|_| execution.is_none())
                .map(|(class, span)| (class.as_str(), span.as_secs_f64()))
                .collect(),
            core_count: task.procs,
            memory_in_bytes: task.memory.map(|memory| memory.count()),
            command: Command { program: &task.kind, arguments: [] },
        }
    });
    let machines = execution.iter().flat_map(|execution| &execution.machines);
    let makespan = match execution {
        Some(execution) => execution.makespan.as_secs_f64(),
        None => workflow.critical_path(&crate::workflow::Costs::at_reference(workflow, None)).0,
    };
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
            execution: Executions {
                makespan_in_seconds: makespan,
                executed_at: instant(execution.map_or(Time::ZERO, |execution| execution.began)),
                tasks: executed.collect(),
                machines: machines
                    .map(|machine| Node { node_name: &machine.name, cpu: Cpu { core_count: machine.cores } })
                    .collect(),
            },
        },
    };
    serde_json::to_writer_pretty(&mut out, &written).map_err(io::Error::from)?;
    out.write_all(b"\n")
}
