//! GWF, the text format of the Grid Workloads Archive: many workflows in one file, without data.
//!
//! Two dialects go by this name, told apart by the first line that is not empty:
//!
//! - seven columns between commas under a header, `WorkflowID, JobID, SubmitTime, RunTime, NProcs, ReqNProcs, Dependencies`, the last
//!   separated by blanks: the workflow traces of OpenDC;
//! - the 29 columns of the archive between blanks, comments behind `#`. Column 19 is the structure that a job belongs to: `UNITARY` (or −1)
//!   is a workflow of one task, otherwise the first word of column 20 names the workflow, and the words after it the jobs that the job
//!   waits for. Words end at `,`, `;` or `:`. No trace of this dialect with dependencies is public, so this is our reading of its
//!   description.
//!
//! A workflow is submitted when the first of its jobs was. When a job was submitted after that is not read: it follows from its dependencies.

use std::io::Read;

use rustc_hash::FxHashMap;

use super::input::{self, Lines};
use super::workflow_file::{WorkflowFileError, built};
use crate::units::{Span, Time};
use crate::workflow::{Draft, Part, TaskDraft, Workflow};

/// The workflows of a file.
#[derive(Clone, Debug)]
pub struct ReadWorkflows {
    /// Each with its submission, counted from the first of all, in the order of submission and then of the file.
    pub workflows: Vec<(Time, Workflow)>,
    /// What was not taken as it is written, a sentence each.
    pub notes: Vec<String>,
}

#[derive(Copy, Clone, PartialEq, Eq)]
enum Dialect {
    Seven,
    TwentyNine,
}

/// A workflow while it is read, with the line of each task.
struct Group {
    submit: f64,
    draft: Draft,
    lines: Vec<u64>,
}

/// A job of either dialect.
struct Row<'a> {
    workflow: String,
    job: &'a str,
    kind: &'a str,
    submit: f64,
    runtime: f64,
    procs: f64,
    parents: Vec<&'a str>,
}

/// Reads the workflows of a file, plain or compressed with gzip; `name` is its name in messages.
///
/// Jobs that never ran (a run time of −1) are left out, with a note; another job that waits for one is an error.
///
/// # Errors
/// [`WorkflowFileError`] names the file and the line.
pub fn read(name: &str, input: Box<dyn Read + Send>) -> Result<ReadWorkflows, WorkflowFileError> {
    let failed = |line: u64, error: std::io::Error| {
        let place = (line > 0).then(|| format!("line {line}"));
        WorkflowFileError::new(name, place, error.to_string(), input::hint(&error))
    };
    let mut lines = Lines::new(input::unpacked(input).map_err(|error| failed(0, error))?);
    let (mut dialect, mut groups, mut left_out) = (None, Vec::<Group>::new(), 0_usize);
    let mut by_id: FxHashMap<String, usize> = FxHashMap::default();
    loop {
        let number = lines.number() + 1;
        let Some(line) = lines.next().map_err(|error| failed(number, error))? else { break };
        let wrong = |problem: String, hint| {
            WorkflowFileError::new(name, Some(format!("line {number}")), problem, hint)
        };
        let text = str::from_utf8(line.bytes).ok().filter(|_| !line.cut);
        let text =
            text.ok_or_else(|| wrong("the line is not text of at most 65536 bytes".to_owned(), ""))?.trim();
        if text.is_empty() || text.starts_with('#') {
            continue;
        }
        let row = match dialect {
            None if is_header(text) => {
                dialect = Some(Dialect::Seven);
                continue;
            }
            None if text.contains(',') && text.split_whitespace().count() < 21 => {
                return Err(wrong(
                    "it does not begin with the header of a workflow trace".to_owned(),
                    "begin with `WorkflowID, JobID, SubmitTime, RunTime, NProcs, ReqNProcs, Dependencies`, or use the 29 columns \
                     of the archive",
                ));
            }
            Some(Dialect::Seven) => seven(text),
            None | Some(Dialect::TwentyNine) => {
                dialect = Some(Dialect::TwentyNine);
                twenty_nine(text)
            }
        };
        let row = row.map_err(|problem| wrong(problem, ""))?;
        if row.runtime == -1.0 {
            left_out += 1;
            continue;
        }
        let at = *by_id.entry(row.workflow.clone()).or_insert(groups.len());
        if at == groups.len() {
            groups.push(Group { submit: row.submit, draft: Draft::named(row.workflow), lines: Vec::new() });
        }
        let group = &mut groups[at];
        group.submit = group.submit.min(row.submit);
        group.lines.push(number);
        group.draft.task(TaskDraft {
            kind: row.kind.to_owned(),
            procs: row.procs,
            parents: row.parents.into_iter().map(str::to_owned).collect(),
            ..TaskDraft::new(row.job, row.runtime)
        });
    }
    if groups.is_empty() {
        return Err(WorkflowFileError::new(name, None, "it has no workflows", "a line a job is expected"));
    }
    let first = groups.iter().map(|group| group.submit).fold(f64::INFINITY, f64::min);
    let mut workflows = Vec::with_capacity(groups.len());
    for Group { submit, draft, lines } in groups {
        let submit = Span::from_secs_f64(submit - first).unwrap_or(Span::MAX);
        let workflow = built(name, draft, |part| {
            let at = match part {
                Part::Task(at) | Part::Runtime(at) | Part::Procs(at) | Part::Parent(at, _) => at,
                Part::Name => 0,
                _ => return None,
            };
            lines.get(at).map(|line| format!("line {line}"))
        })?;
        workflows.push((Time::ZERO + submit, workflow));
    }
    workflows.sort_by_key(|(submit, _)| *submit);
    let mut notes = Vec::new();
    if left_out > 0 {
        notes.push(format!("{} without a run time: left out", crate::units::counted(left_out, "job")));
    }
    Ok(ReadWorkflows { workflows, notes })
}

/// Whether a line is the header of the dialect of seven columns.
pub(super) fn is_header(line: &str) -> bool {
    line.split(',').next().is_some_and(|first| first.trim().eq_ignore_ascii_case("WorkflowID"))
}

fn seven(line: &str) -> Result<Row<'_>, String> {
    let cells: Vec<&str> = line.split(',').map(str::trim).collect();
    let [workflow, job, submit, runtime, procs, requested, parents] = cells[..] else {
        return Err(format!("the line has {} columns, not 7", cells.len()));
    };
    Ok(Row {
        workflow: workflow.to_owned(),
        job,
        kind: "task",
        submit: number("SubmitTime", submit)?,
        runtime: number("RunTime", runtime)?,
        procs: processors(number("NProcs", procs)?, number("ReqNProcs", requested)?),
        parents: parents.split_whitespace().collect(),
    })
}

fn twenty_nine(line: &str) -> Result<Row<'_>, String> {
    let cells: Vec<&str> = line.split_whitespace().collect();
    if cells.len() < 21 {
        return Err(format!("the line has {} columns, not 29", cells.len()));
    }
    let (job, structure, params) = (cells[0], cells[18], cells[19]);
    let mut words = params.split([',', ';', ':']).filter(|word| !word.is_empty());
    let alone = structure == "-1" || structure.eq_ignore_ascii_case("unitary");
    // A workflow of one task has a name that no group has: a group's contains no blank.
    let workflow = match words.next().filter(|group| !alone && *group != "-1") {
        Some(group) => group.to_owned(),
        None if alone => format!("job {job}"),
        None => {
            return Err(format!("the job `{job}` is part of a {structure}, but column 20 does not name it"));
        }
    };
    Ok(Row {
        workflow,
        job,
        kind: if cells[13] == "-1" { "task" } else { cells[13] },
        submit: number("SubmitTime", cells[1])?,
        runtime: number("RunTime", cells[3])?,
        procs: processors(number("NProcs", cells[4])?, number("ReqNProcs", cells[7])?),
        parents: if alone { Vec::new() } else { words.collect() },
    })
}

fn number(column: &str, written: &str) -> Result<f64, String> {
    let number = written.parse::<f64>().ok().filter(|number| number.abs() <= 1e11);
    number.ok_or_else(|| format!("`{column}` is `{written}`, not a number of at most 100000000000"))
}

/// The processors of a job: those that it was given, else those that it asked for, else one.
fn processors(given: f64, requested: f64) -> f64 {
    [given, requested].into_iter().find(|procs| *procs > 0.0).unwrap_or(1.0)
}

#[cfg(test)]
mod tests;
