//! The check of precedence: a task is ready when all that it waits for has completed.

use super::{Submitted, violation};
use crate::model::Outcome;
use crate::output::TaskRow;
use crate::units::Time;
use crate::verify::findings::{Row, Rule, Verdict};

/// What the rows say of the tasks that one waits for.
pub(super) struct Awaited<'a> {
    any: bool,
    /// The first that did not complete.
    failed: Option<&'a TaskRow>,
    /// When the end of the last was known.
    due: Time,
    /// When the end of each was known, and its job, in order.
    known: Vec<(Time, u64)>,
}

impl Submitted {
    /// What the rows that count at an instant say of these tasks: those before a task, or before its group, that must have completed before it
    /// becomes ready then.
    pub(super) fn awaited(&self, before: &[u32], ready: Option<Time>) -> Awaited<'_> {
        let rows = || before.iter().filter_map(|before| self.row_by(*before as usize, ready));
        let mut known: Vec<(Time, u64)> = rows().map(|row| (row.known, row.job)).collect();
        known.sort_unstable();
        Awaited {
            any: !before.is_empty(),
            failed: rows().find(|row| row.outcome != Outcome::Completed),
            due: known.last().map_or(self.workflow.submit, |(known, _)| *known),
            known,
        }
    }

    /// Checks that a task was ready when the last one before it had completed, and not before; and that one which never was waits for one that
    /// did not complete.
    pub(super) fn precedence(&self, at: usize, task: &TaskRow, awaited: &Awaited<'_>, verdict: &mut Verdict) {
        let row = Row { file: "tasks.csv", line: task.line };
        let text = format!("task `{}` of workflow {}", task.task, task.workflow);
        let mut fault = |rule, time, message| verdict.report(violation(rule, time, task.job, message, row));
        let before = || self.before[at].iter().filter_map(|before| self.rows_at(*before as usize).next());
        let Awaited { any, failed, due, ref known } = *awaited;
        for before in before() {
            let ended = before.ended;
            let Some(start) = task.started.filter(|start| *start < ended) else { continue };
            let message = format!(
                "{text} starts at {start} s, and `{}`, which it waits for, ends at {ended} s",
                before.task
            );
            fault(Rule::Precedence, start, message);
        }
        if let (Some(ready), Some(failed)) = (task.ready, failed) {
            let message =
                format!("{text} is ready, and `{}`, which it waits for, is {}", failed.task, failed.outcome);
            fault(Rule::Precedence, ready, message);
        }
        if let Some(ready) = task.ready.filter(|ready| *ready != due && failed.is_none()) {
            let message =
                format!("{text} is ready at {ready} s, and all that it waits for has completed at {due} s");
            fault(Rule::Precedence, ready, message);
        }
        let assigned = [task.decided, task.sent, task.queued, task.started].into_iter().flatten().next();
        let made = task.ready.map(|ready| ready + self.workflow.overheads.engine_delay);
        if let Some((assigned, made)) = assigned.zip(made).filter(|(assigned, made)| assigned < made) {
            let message = format!(
                "{text} is assigned at {assigned} s, and the engine makes a job of it until {made} s"
            );
            fault(Rule::Precedence, assigned, message);
        }
        let last = |job: u64| task.ready.is_some_and(|ready| known.binary_search(&(ready, job)).is_ok());
        let wrong = match task.after {
            Some(job) => !last(job),
            None => task.ready.is_some() && any,
        };
        if wrong {
            let message = format!("{text} did not wait last for the task in its column `after`");
            fault(Rule::Rows, task.known, message);
        }
        let waits = task.ready.is_none() && task.outcome != Outcome::Unfinished;
        if waits && (failed.is_none() || task.outcome != Outcome::Cancelled) {
            let message = format!(
                "{text} is {} and never was ready, and all that it waits for completed",
                task.outcome
            );
            fault(Rule::Outcome, task.known, message);
        }
        verdict.count_check(Rule::Precedence);
        verdict.count_check(Rule::Outcome);
    }
}
