//! The task of a workflow that a job is: which others it waited for.

use serde::Serialize;

use crate::experiment::{RunError, submitted_workflows};
use crate::grid::Policies;
use crate::model::{JobId, Outcome, WorkflowSubmission, nearest};
use crate::output::{RunFolder, TaskRow};
use crate::scenario::listed;
use crate::units::{Span, Time};
use crate::workflow::{TaskId, Workflow};

/// A task of a workflow, as `gridemu explain` tells of it beside its job; times are in seconds.
#[derive(Clone, Debug, Serialize)]
pub struct ExplainedTask {
    /// Its name.
    pub task: String,
    /// Its type.
    #[serde(rename = "type")]
    pub kind: String,
    /// The number of its workflow.
    pub workflow: u32,
    /// The number of tasks that are one job with it; 1 if it is in no group.
    pub together: usize,
    /// The name of its workflow.
    pub name: String,
    /// When its workflow was submitted.
    pub submitted_s: f64,
    /// When all that it waits for had completed; `None` if that never was.
    pub ready_s: Option<f64>,
    /// The task that it waited for last; `None` if it waits for none, or was never ready.
    pub after: Option<WaitedFor>,
    /// At the given instant, the tasks that it still waits for; of a task that never was ready, those that did not complete.
    pub waits_for: Vec<WaitedFor>,
    /// The parts of the time from when it was ready to when the broker knew of its end, in seconds, with their names.
    pub parts: Vec<(&'static str, f64)>,
}

/// A task that another one waits for.
#[derive(Clone, Debug, Serialize)]
pub struct WaitedFor {
    /// Its name.
    pub task: String,
    /// The number of its job.
    pub job: u64,
    /// Where it was assigned last; `grid` for nowhere.
    pub site: String,
    /// When it ended.
    pub ended_s: f64,
    /// When the broker knew.
    pub known_s: f64,
    /// Its outcome.
    pub outcome: &'static str,
}

impl WaitedFor {
    fn of(row: &TaskRow) -> Self {
        Self {
            task: row.task.to_string(),
            job: row.job,
            site: row.site.to_string(),
            ended_s: row.ended.as_secs_f64(),
            known_s: row.known.as_secs_f64(),
            outcome: row.outcome.name(),
        }
    }
}

/// The job of the task of that name. `workflow` is its number, where several workflows have such a task.
///
/// # Errors
/// `RunErrorKind::Request` if no task or several fit, with a hint at the likely one.
pub fn job_of_task(folder: &RunFolder, task: &str, workflow: Option<u32>) -> Result<u64, RunError> {
    let Some(rows) = folder.tasks()? else {
        let said = format!("`{}` has no tasks.csv", folder.dir().display());
        return Err(
            RunError::request(said).with_hint("only a run with workflows has tasks; give a job with `--job`")
        );
    };
    let (mut found, mut names) = (Vec::new(), Vec::new());
    for row in rows {
        let row = row?;
        if workflow.is_some_and(|workflow| workflow != row.workflow) {
            continue;
        }
        if *row.task == *task {
            found.push((row.workflow, row.job));
        }
        names.push(row.task);
    }
    // A task that ran again has several rows.
    found.sort_unstable();
    found.dedup();
    let table = folder.dir().join("tasks.csv");
    let table = table.display();
    match found[..] {
        [(_, job)] => Ok(job),
        [] if names.is_empty() => {
            Err(RunError::request(format!("`{table}` has no workflow {}", workflow.unwrap_or_default())))
        }
        [] => {
            let error = RunError::request(format!("there is no task `{task}` in `{table}`"));
            Err(match nearest(task, names.iter().map(|name| &**name)) {
                Some(near) => error.with_hint(format!("did you mean `{near}`?")),
                None => error.with_hint(format!("its first task is `{}`", names[0])),
            })
        }
        _ => {
            let mut numbers: Vec<String> = found.iter().map(|(workflow, _)| workflow.to_string()).collect();
            let many = numbers.len();
            numbers.truncate(8);
            let said = format!(
                "{many} workflows in `{table}` have a task `{task}`: {}",
                listed(numbers.iter().map(|n| &**n))
            );
            Err(RunError::request(said)
                .with_hint("select one with `--workflow N`, by its number in workflows.csv"))
        }
    }
}

/// What the tables say of the task that the job is; of the task of that `name`, if the job is a group. `None` if it is no task. `waits_for` is
/// still to be found.
pub(super) fn find(
    folder: &RunFolder,
    job: u64,
    name: Option<&str>,
    policies: &Policies,
) -> Result<Option<ExplainedTask>, RunError> {
    let rows = rows_known(folder, job, None)?;
    let Some(row) = rows.iter().rfind(|row| name.is_none_or(|name| *row.task == *name)) else {
        return Ok(None);
    };
    let whole = folder
        .workflows()?
        .into_iter()
        .flatten()
        .find(|whole| whole.as_ref().is_ok_and(|whole| whole.workflow == row.workflow));
    let whole = whole.transpose()?;
    let after = match row.after {
        Some(job) => waited_for(folder, row, job, policies)?.as_ref().map(WaitedFor::of),
        None => None,
    };
    let parts = [
        ("run", row.run),
        ("data", row.data),
        ("dispatch", row.dispatch),
        ("queue", row.queue),
        ("lost", row.lost),
    ];
    let long = |(name, part): (&'static str, Option<Span>)| Some((name, part?.as_secs_f64()));
    Ok(Some(ExplainedTask {
        task: row.task.to_string(),
        kind: row.kind.to_string(),
        workflow: row.workflow,
        together: rows.iter().filter(|other| other.known == row.known).count(),
        name: whole.as_ref().map_or_else(String::new, |whole| whole.name.to_string()),
        submitted_s: whole.map_or(0.0, |whole| whole.submitted.as_secs_f64()),
        ready_s: row.ready.map(Time::as_secs_f64),
        after,
        waits_for: Vec::new(),
        parts: parts.into_iter().filter_map(long).collect(),
    }))
}

/// The rows of the tasks that a job is: all of them, or those which were known at an instant.
fn rows_known(folder: &RunFolder, job: u64, known: Option<Time>) -> Result<Vec<TaskRow>, RunError> {
    let mut found = Vec::new();
    for row in folder.tasks()?.into_iter().flatten() {
        let row = row?;
        if row.job == job && known.is_none_or(|known| row.known == known) {
            found.push(row);
        }
    }
    Ok(found)
}

/// The task of a job for which another one waited: of a group, the last to end of those that come before it in the workflow.
fn waited_for(
    folder: &RunFolder,
    row: &TaskRow,
    job: u64,
    policies: &Policies,
) -> Result<Option<TaskRow>, RunError> {
    let mut rows = rows_known(folder, job, row.ready)?;
    if rows.len() > 1 {
        let submitted = submitted_workflows(folder, policies)?;
        if let Some(workflow) = submitted.get(row.workflow as usize).map(WorkflowSubmission::ungrouped) {
            let workflow = Workflow::from_spec(workflow.clone()).map_err(RunError::request)?;
            let own = workflow.ids().find(|id| workflow.task(*id).name == *row.task);
            let before: Vec<TaskId> =
                own.into_iter().flat_map(|own| workflow.predecessors(own)).map(|(id, _)| id).collect();
            let comes_before = |row: &TaskRow| before.iter().any(|id| workflow.task(*id).name == *row.task);
            // What comes before another task of its own group may be none of these.
            if rows.iter().any(comes_before) {
                rows.retain(comes_before);
            }
        }
    }
    Ok(rows.into_iter().max_by_key(|row| row.ended))
}

impl ExplainedTask {
    /// Notes the tasks that it waits for, of these; with `failed`, those that did not complete.
    pub(super) fn waits_for(
        &mut self,
        folder: &RunFolder,
        blockers: &[JobId],
        failed: bool,
    ) -> Result<(), RunError> {
        if blockers.is_empty() {
            return Ok(());
        }
        let mut rows: Vec<TaskRow> = Vec::new();
        for row in folder.tasks()?.into_iter().flatten() {
            let row = row?;
            if blockers.contains(&JobId(row.job)) {
                rows.retain(|before| (before.job, &before.task) != (row.job, &row.task));
                rows.push(row);
            }
        }
        rows.sort_by_key(|row| row.job);
        let rows = rows.iter().filter(|row| !(failed && row.outcome == Outcome::Completed));
        self.waits_for.extend(rows.map(WaitedFor::of));
        Ok(())
    }
}
