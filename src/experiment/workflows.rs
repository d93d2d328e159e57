//! Opens workflows as a user names them: a file, or a generator.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::workload::{Logs, Opened, file_name, generator, open_file};
use super::{Progress, RunError, misfits, rerun};
use crate::formats::{is_wfformat, read_workflows};
use crate::grid::Policies;
use crate::model::{GridSpec, NetworkSpec, Submission, WorkflowId, WorkflowSubmission};
use crate::output::RunFolder;
use crate::scenario::{PlannedWorkload, ResolvedScenario, WorkflowOrigin, WorkflowPlan, Workload};
use crate::units::Time;
use crate::workflow::shapes::ShapeSpec;
use crate::workflow::{Workflow, WorkflowSource};
use crate::workload::{Limited, Merged, Source};

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
            || (plain.ends_with(".json")
                && found(path)
                    .and_then(|path| open_file(&path))
                    .is_ok_and(|(file, _)| is_wfformat(Box::new(file))))
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
    let path = found(path)?;
    let (file, _) = open_file(&path)?;
    let name = file_name(&path);
    let read = read_workflows(&name, Box::new(file))
        .map_err(|error| RunError::request(&error).with_maybe_hint(error.hint()))?;
    Ok(OpenedWorkflows { name, workflows: read.workflows, notes: read.notes })
}

/// The network of the run of a folder that had workflows.
///
/// # Errors
/// `RunErrorKind::Request` if the folder does not contain its scenario.
pub fn network_of_workflows(
    folder: &RunFolder,
    policies: &Policies,
) -> Result<Option<NetworkSpec>, RunError> {
    if folder.workflows()?.is_none() {
        return Ok(None);
    }
    Ok(Some(rerun(folder, policies)?.scenario().resolved.grid.network.clone()))
}

/// The workflows that the run of a folder submitted, read once more, in the order of their numbers; none if it had none.
///
/// # Errors
/// `RunErrorKind::Request` if the folder does not contain its scenario, or the workloads cannot be read once more.
pub fn submitted_workflows(
    folder: &RunFolder,
    policies: &Policies,
) -> Result<Vec<WorkflowSubmission>, RunError> {
    if folder.workflows()?.is_none() {
        return Ok(Vec::new());
    }
    let run = rerun(folder, policies)?;
    let resolved = &run.scenario().resolved;
    let progress = Progress::default();
    let open = |planned: &PlannedWorkload| Ok(planned.open(&progress, None)?.take_source());
    let sources = resolved.portal.iter().map(open).collect::<Result<Vec<_>, RunError>>()?;
    let mut source = Merged::new(sources);
    let mut found = Vec::new();
    while let Some(submission) = source.next_submission().map_err(RunError::from_reading)? {
        if let Submission::Workflow(mut workflow) = submission {
            workflow.number = WorkflowId(found.len() as u32);
            found.push(workflow);
        }
    }
    found.retain(|workflow| resolved.until.is_none_or(|until| workflow.submit < until));
    Ok(found)
}

/// Reads the workflows that a scenario submits, and checks that each task fits some machines; of a generator, those of its first workflow.
///
/// # Errors
/// A bad request names the workload, and the file that cannot be read or the first task that fits nowhere.
pub fn check_tasks(scenario: &ResolvedScenario) -> Result<(), RunError> {
    for (at, planned) in scenario.portal.iter().enumerate() {
        // What can be read only once is left to the run.
        if matches!(planned.workload, Workload::Workflows(_)) && !planned.workload.is_once() {
            let opened = planned.open_on(Some(&scenario.grid), &Progress::default(), None);
            opened.map_err(|error| error.within(&format!("`workload[{at}]`")))?;
        }
    }
    Ok(())
}

impl PlannedWorkload {
    /// Opens the workload, of jobs or of workflows. Under feedback, jobs only name the job that they follow, and do not wait for it.
    ///
    /// # Errors
    /// As [`Workload::open`].
    pub(super) fn open(&self, progress: &Progress, logs: Option<&Logs>) -> Result<Opened, RunError> {
        self.open_on(None, progress, logs)
    }

    /// The same, to be run on this grid: a task of a workflow that none of its sites could run or hold the files of is an error. Of a generator, only the first workflow
    /// is looked at.
    ///
    /// # Errors
    /// As [`Workload::open`].
    pub(super) fn open_on(
        &self,
        grid: Option<&GridSpec>,
        progress: &Progress,
        logs: Option<&Logs>,
    ) -> Result<Opened, RunError> {
        let Workload::Workflows(plan) = &self.workload else {
            let opened = self.workload.open_with(&self.entity, &self.shaping, progress, logs)?;
            let Some(limits) = self.limits else { return Ok(opened) };
            let source = Box::new(Limited::new(opened.source, limits, self.shaping.seed, &self.entity));
            return Ok(Opened { source, ..opened });
        };
        let file = self.workload.file().map_err(RunError::request)?;
        let (source, name) = submissions(plan, file, &self.entity, self.shaping.seed)?;
        let source = source.limited(self.limits, plan.believed);
        if let Some(grid) = grid {
            misfits::check(&source, &name, grid)?;
        }
        Ok(Opened { source: Box::new(source), name, procs: 0, header: None, read: Arc::default() })
    }
}

/// The source of the workflows that the portal submits, and its name. `file` is theirs, if they come from one.
fn submissions(
    plan: &WorkflowPlan,
    file: Option<PathBuf>,
    entity: &str,
    seed: u64,
) -> Result<(WorkflowSource, String), RunError> {
    let WorkflowPlan { origin, count, every, rescaled, group, overheads, tags, failures, .. } = plan;
    let (source, name) = match (origin, file) {
        (WorkflowOrigin::Shape(shape), _) => {
            (WorkflowSource::drawn(shape.clone(), *rescaled, seed, entity), shape.to_string())
        }
        (WorkflowOrigin::File(path), file) => {
            let read = open_workflows(file.as_deref().unwrap_or(path), seed)?;
            if *count > 1 && read.workflows.len() > 1 {
                let problem = format!(
                    "`{}` has {} workflows with submissions of their own, and `count` submits it {count} times",
                    read.name,
                    read.workflows.len()
                );
                return Err(RunError::request(problem).with_hint("leave `count` and `every` out"));
            }
            let workflows = read.workflows.into_iter().map(|(at, workflow)| {
                let version = rescaled.apply(workflow).map_err(|error| {
                    RunError::request(format!("`{}`: {}", read.name, error.problem)).with_hint(error.hint)
                })?;
                Ok((at, version.spec()))
            });
            let mut workflows: Vec<_> = workflows.collect::<Result<_, RunError>>()?;
            workflows.sort_by_key(|(at, _)| *at);
            (WorkflowSource::given(&read.name, workflows, seed, entity).noting(read.notes), read.name)
        }
    };
    let source = source.repeated(*count, *every).with_overheads(*overheads);
    let source = source.requiring(tags.clone()).and_then(|source| source.failing(failures.clone()));
    let source = source.map_err(|error| RunError::request(&error).with_maybe_hint(error.hint()))?;
    let source = match group {
        Some(by) => source.grouped(by).map_err(RunError::request)?,
        None => source,
    };
    Ok((source, name))
}

/// The file of this name, searched for if it is one of an archive.
fn found(path: &Path) -> Result<PathBuf, RunError> {
    let named = Workload::File(path.to_owned()).file().map_err(RunError::request)?;
    Ok(named.unwrap_or_else(|| path.to_owned()))
}
