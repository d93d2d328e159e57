//! WfFormat, the JSON of WfCommons: versions 1.0 to 1.6 are read, 1.5 is written.
//!
//! Up to 1.4 a task says its files, run time and parents in one place, and tasks refer to each other by name; since 1.5 a specification and
//! an execution are apart and refer to tasks by id. What old versions mean follows WfCommons' own migration script.

mod new;
mod old;
#[cfg(test)]
mod tests;
mod write;

use std::io::Read;

use serde::Deserialize;

use super::input;
use super::workflow_file::{ReadWorkflow, WorkflowFileError, whole};

pub use write::{ExecutedTask, Execution, Machine, write, write_execution};

/// The versions that are read.
const VERSIONS: [&str; 7] = ["1.0", "1.1", "1.2", "1.3", "1.4", "1.5", "1.6"];

/// A file of any version; what it does not name is not read.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Written {
    name: Option<String>,
    schema_version: Option<String>,
    workflow: WrittenWorkflow,
}

#[derive(Deserialize)]
struct WrittenWorkflow {
    /// Up to 1.2.
    jobs: Option<Vec<old::Task>>,
    /// 1.3 and 1.4.
    tasks: Option<Vec<old::Task>>,
    /// Since 1.5.
    specification: Option<new::Specification>,
    execution: Option<new::Execution>,
}

/// Reads a workflow, plain or compressed with gzip; `name` is its name in messages.
///
/// The whole file is held in memory. Times are rounded to the microsecond, a fraction of a core up to a whole one. In this crate a task
/// has the name that WfFormat calls its id since 1.5.
///
/// # Errors
/// [`WorkflowFileError`] names the file and the place in it.
pub fn read(name: &str, input: Box<dyn Read + Send>) -> Result<ReadWorkflow, WorkflowFileError> {
    read_text(name, &whole(name, input)?)
}

/// As [`read`], of the bytes of the plain file.
pub(super) fn read_text(name: &str, text: &[u8]) -> Result<ReadWorkflow, WorkflowFileError> {
    let wrong = |place: Option<&str>, problem: String, hint| {
        Err(WorkflowFileError::new(name, place.map(str::to_owned), problem, hint))
    };
    if let Some(problem) = input::too_many_in_json(text) {
        return wrong(None, problem, "");
    }
    let written: Written = match serde_json::from_slice(text) {
        Ok(written) => written,
        Err(error) => {
            let (place, problem) = input::not_json(&error).map_or_else(
                || (None, format!("not WfFormat: {error}")),
                |(place, problem)| (Some(place), problem),
            );
            return wrong(place.as_deref(), problem, "");
        }
    };
    let version = written.schema_version.unwrap_or_default();
    let Some(number) = VERSIONS.iter().position(|known| *known == version) else {
        let problem = match version.as_str() {
            "" => "the version of the schema is missing".to_owned(),
            version => format!("version {version} of the schema is not known"),
        };
        return wrong(Some("schemaVersion"), problem, "versions 1.0 to 1.6 of WfFormat are read");
    };
    let title = written.name.filter(|title| !title.is_empty()).unwrap_or_else(|| name.to_owned());
    let workflow = written.workflow;
    let (key, tasks) = match number {
        0..=2 => ("jobs", workflow.jobs),
        3..=4 => ("tasks", workflow.tasks),
        _ => {
            return match (workflow.specification, workflow.execution) {
                (None, _) => wrong(
                    Some("workflow.specification"),
                    format!("it is missing, which version {version} needs"),
                    "",
                ),
                (_, None) => wrong(
                    Some("workflow.execution"),
                    "it is missing, so the tasks have no run times".to_owned(),
                    "give the tasks their `runtimeInSeconds` in `workflow.execution.tasks`",
                ),
                (Some(specification), Some(execution)) => {
                    new::workflow(name, title, specification, execution)
                }
            };
        }
    };
    match tasks {
        Some(tasks) => old::workflow(name, title, key, tasks),
        None => wrong(
            Some(&format!("workflow.{key}")),
            format!("it is missing, which version {version} needs"),
            "",
        ),
    }
}
