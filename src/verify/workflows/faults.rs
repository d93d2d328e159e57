//! The check of attempts that failed by themselves: against the draws of their workflow, which are made again.

use super::{Submitted, Workflows};
use crate::model::{EventKind, Outcome};
use crate::output::{EventRow, TaskRow};
use crate::workflow::faults;

impl Workflows {
    /// Notes an event of a job.
    pub(crate) fn event(&mut self, event: &EventRow) {
        if let (true, Some(job)) = (&*event.event == EventKind::Repeated.name(), event.job) {
            self.repeated.entry(job).or_default().push(event.time);
        }
        if let (true, Some(job), Some(attempt)) = (&*event.cause == "task-failed", event.job, event.attempt) {
            self.failed.entry(job).or_default().push(attempt);
        }
    }
}

impl Submitted {
    /// What is wrong with the attempts of a task, of which these failed by themselves.
    pub(super) fn misdrawn(&self, task: &TaskRow, failed: &[u32]) -> Option<String> {
        let at = usize::try_from(task.job.checked_sub(self.workflow.first_job.0)?).ok()?;
        let faults = self.workflow.faults(at);
        let fails = |attempt: u32| {
            faults.as_ref().is_some_and(|faults| faults::points(faults, attempt).any(|point| point.is_some()))
        };
        if let Some(attempt) = failed.iter().find(|attempt| !fails(**attempt)) {
            return Some(format!("failed by itself in attempt {attempt}, which by its draw does not"));
        }
        let most = faults.as_ref().map_or(0, |faults| faults.most as usize);
        if failed.len() > most || failed.len() == most && most > 0 && task.outcome != Outcome::Failed {
            return Some(format!(
                "is {}, failed by itself {} times, and {most} times are the most",
                task.outcome,
                failed.len()
            ));
        }
        // A task of a group, or one whose time is another elsewhere, may have had nothing to do.
        let spec = self.workflow.spec.tasks.get(at)?;
        let plain = self.group.is_none() && !spec.runtime.is_zero() && spec.by_class.is_empty();
        let completed = task.outcome == Outcome::Completed;
        (plain && completed && fails(task.attempts))
            .then(|| format!("completed in attempt {}, which by its draw fails", task.attempts))
    }
}
