//! Opens workflows as a user names them: a file, or a generator.

use std::fs::File;
use std::path::Path;

use super::RunError;
use super::workload::{file_name, open_file};
use crate::formats::{is_wfformat, read_workflows};
use crate::units::Time;
use crate::workflow::Workflow;
use crate::workflow::shapes::ShapeSpec;

/// The workflows of a file, or of a generator.
#[derive(Debug)]
pub struct OpenedWorkflows {
    /// The name of the file, or the generator with its parameters.
    pub name: String,
    /// At least one, each with its submission, counted from the first.
    pub workflows: Vec<(Time, Workflow)>,
    /// What was not taken as it is written, a sentence each.
    pub notes: Vec<String>,
}

/// Whether this names workflows rather than jobs: a generator of workflows, a file that ends in `.xml`, `.dax` or `.gwf` (perhaps followed by
/// `.gz`), or one in JSON that says that it is WfFormat.
pub fn is_workflow(path: &Path) -> bool {
    generator(path).is_some() || {
        let name = file_name(path).to_ascii_lowercase();
        let plain = name.strip_suffix(".gz").unwrap_or(&name);
        [".xml", ".dax", ".gwf"].iter().any(|ending| plain.ends_with(ending))
            || (plain.ends_with(".json") && File::open(path).is_ok_and(|file| is_wfformat(Box::new(file))))
    }
}

/// Opens what [`is_workflow`] says to be workflows; a generator without a seed of its own draws from `seed`.
///
/// # Errors
/// A bad request if the file cannot be opened or read, or the generator has wrong parameters.
pub fn open_workflows(path: &Path, seed: u64) -> Result<OpenedWorkflows, RunError> {
    if let Some(written) = generator(path) {
        let spec: ShapeSpec = written.parse().map_err(RunError::request)?;
        let workflow = spec.workflow(seed).map_err(|error| {
            RunError::request(format!("`{written}`: {error}"))
                .with_hint("ask for shorter run times or less data")
        })?;
        let name = workflow.name().to_owned();
        return Ok(OpenedWorkflows { name, workflows: vec![(Time::ZERO, workflow)], notes: Vec::new() });
    }
    let (file, _) = open_file(path)?;
    let name = file_name(path);
    let read = read_workflows(&name, Box::new(file))
        .map_err(|error| RunError::request(&error).with_maybe_hint(error.hint()))?;
    Ok(OpenedWorkflows { name, workflows: read.workflows, notes: read.notes })
}

/// The path as a generator, if it begins like one.
fn generator(path: &Path) -> Option<&str> {
    let written = path.to_str()?;
    let name = written.split('[').next().unwrap_or_default();
    (ShapeSpec::names(name) && !path.exists()).then_some(written)
}
