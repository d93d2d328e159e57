//! Versions 1.5 and 1.6.

use std::collections::BTreeMap;

use rustc_hash::FxHashMap;
use serde::Deserialize;

use crate::formats::workflow_file::{ReadWorkflow, WorkflowFileError, built};
use crate::workflow::{Draft, Part, TaskDraft};

#[derive(Deserialize)]
pub(super) struct Specification {
    tasks: Vec<Task>,
    #[serde(default)]
    files: Vec<File>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Task {
    name: String,
    id: String,
    #[serde(default)]
    parents: Vec<String>,
    #[serde(default)]
    children: Vec<String>,
    #[serde(default)]
    input_files: Vec<String>,
    #[serde(default)]
    output_files: Vec<String>,
}

#[derive(Deserialize)]
struct File {
    id: String,
    #[serde(rename = "sizeInBytes")]
    bytes: Option<f64>,
}

#[derive(Deserialize)]
pub(super) struct Execution {
    tasks: Vec<Executed>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Executed {
    id: String,
    runtime_in_seconds: Option<f64>,
    /// Ours: run times on machines of a class.
    #[serde(default)]
    runtime_in_seconds_by_class: BTreeMap<String, f64>,
    core_count: Option<f64>,
    memory_in_bytes: Option<f64>,
    command: Option<Command>,
}

#[derive(Deserialize)]
struct Command {
    program: Option<String>,
}

/// Makes the workflow `title` of what the file `name` says.
pub(super) fn workflow(
    name: &str,
    title: String,
    specification: Specification,
    execution: Execution,
) -> Result<ReadWorkflow, WorkflowFileError> {
    const SPECIFIED: &str = "workflow.specification";
    const EXECUTED: &str = "workflow.execution.tasks";
    let wrong =
        |place: String, problem: String, hint| Err(WorkflowFileError::new(name, Some(place), problem, hint));
    let mut ids = FxHashMap::default();
    for (at, task) in specification.tasks.iter().enumerate() {
        if ids.insert(task.id.as_str(), at).is_some() {
            let problem = format!("two tasks have the id `{}`", task.id);
            return wrong(format!("{SPECIFIED}.tasks[{at}].id"), problem, "give one another id");
        }
    }
    let mut executed: Vec<Option<usize>> = vec![None; specification.tasks.len()];
    for (at, run) in execution.tasks.iter().enumerate() {
        let Some(task) = ids.get(run.id.as_str()) else {
            let problem = format!("`{}` is no task of `{SPECIFIED}`", run.id);
            return wrong(
                format!("{EXECUTED}[{at}].id"),
                problem,
                "use the id of a task, or remove the entry",
            );
        };
        if executed[*task].replace(at).is_some() {
            let problem = format!("the task `{}` was executed before", run.id);
            return wrong(format!("{EXECUTED}[{at}].id"), problem, "leave one entry for each task");
        }
    }
    let mut draft = Draft::named(title);
    for (at, file) in specification.files.into_iter().enumerate() {
        let Some(bytes) = file.bytes else {
            let problem = format!("the file `{}` has no size", file.id);
            return wrong(format!("{SPECIFIED}.files[{at}]"), problem, "give it `sizeInBytes`");
        };
        draft.file(file.id, bytes);
    }
    for (at, task) in specification.tasks.iter().enumerate() {
        let run = executed[at].map(|at| &execution.tasks[at]);
        let Some((run, runtime)) = run.and_then(|run| Some((run, run.runtime_in_seconds?))) else {
            let problem = format!("the task `{}` has no run time", task.id);
            let place = executed[at]
                .map_or_else(|| format!("{SPECIFIED}.tasks[{at}]"), |at| format!("{EXECUTED}[{at}]"));
            return wrong(place, problem, "give it `runtimeInSeconds` in `workflow.execution.tasks`");
        };
        draft.task(TaskDraft {
            name: task.id.clone(),
            kind: kind(task, run),
            runtime,
            by_class: run.runtime_in_seconds_by_class.clone(),
            procs: run.core_count.unwrap_or(1.0),
            memory: run.memory_in_bytes,
            parents: task.parents.clone(),
            children: task.children.clone(),
            inputs: task.input_files.clone(),
            outputs: task.output_files.clone(),
        });
    }
    let run = |at: usize, key: &str| executed[at].map(|at| format!("{EXECUTED}[{at}].{key}"));
    let task = |at: usize, key: String| Some(format!("{SPECIFIED}.tasks[{at}]{key}"));
    let workflow = built(name, draft, |part| match part {
        Part::Task(at) => task(at, String::new()),
        Part::Runtime(at) => run(at, "runtimeInSeconds"),
        Part::Procs(at) => run(at, "coreCount"),
        Part::Memory(at) => run(at, "memoryInBytes"),
        Part::Parent(at, nth) => task(at, format!(".parents[{nth}]")),
        Part::Child(at, nth) => task(at, format!(".children[{nth}]")),
        Part::Input(at, nth) => task(at, format!(".inputFiles[{nth}]")),
        Part::Output(at, nth) => task(at, format!(".outputFiles[{nth}]")),
        Part::File(at) => Some(format!("{SPECIFIED}.files[{at}]")),
        Part::Name => Some("name".to_owned()),
        _ => Some(format!("{SPECIFIED}.tasks")),
    })?;
    Ok(ReadWorkflow { workflow, notes: Vec::new() })
}

/// The type of a task. Files of newer tools name it, apart from the id; in those that were migrated from older versions the name is the id,
/// and the program, where it is one word, is what older versions call the category.
fn kind(task: &Task, run: &Executed) -> String {
    if task.name != task.id {
        return task.name.clone();
    }
    let program = run.command.as_ref().and_then(|command| command.program.as_deref());
    let word = program.filter(|program| {
        *program == task.name || !(program.is_empty() || program.contains(char::is_whitespace))
    });
    word.unwrap_or_else(|| TaskDraft::type_of(&task.name)).to_owned()
}
