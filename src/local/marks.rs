//! When a job that is a group of tasks passes the beginnings and ends of these.

use super::table::LiveJob;
use crate::model::{Job, Marks, Outcome, Passed};
use crate::units::{Span, Time, Work};

fn marks(job: &Job) -> Option<&Marks> {
    job.grid.as_ref()?.task.as_ref()?.marks.as_ref()
}

fn marks_mut(job: &mut Job) -> Option<&mut Marks> {
    job.grid.as_mut()?.task.as_mut()?.marks.as_mut()
}

impl LiveJob {
    /// Notes the marks that it passes in a stretch of `span` at the present rate, which is not in the account yet.
    pub(super) fn settle_marks(&mut self, span: Span) {
        let Self { job, past: Some(past), done, rate, since, .. } = self else { return };
        let to = *done + Work::done(*rate, span);
        let when = |mark: Work| {
            let progress = mark - past.kept;
            let place = past.checkpoints.map_or(progress, |checkpoints| checkpoints.stretched(progress));
            let after = (place - *done).span_at(*rate).unwrap_or_default();
            (place <= to).then(|| *since + after.min(span))
        };
        if let Some(marks) = marks_mut(job) {
            marks.pass(when);
        }
    }

    /// Forgets the marks that it has passed beyond the work that an attempt which has failed leaves to the next one.
    pub(super) fn drop_marks(&mut self) {
        let Self { job, past: Some(past), .. } = self else { return };
        if let Some(marks) = marks_mut(job) {
            marks.lose(past.kept);
        }
    }

    /// When it has passed its marks, at its end: all of them if it has completed.
    #[inline]
    pub(super) fn passed(&self, outcome: Outcome, now: Time) -> Box<[Passed]> {
        let end = (outcome == Outcome::Completed).then_some(now);
        marks(&self.job).map_or_else(Box::default, |marks| marks.passed(end))
    }
}
