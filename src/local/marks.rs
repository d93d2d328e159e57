//! When a job that is a group of tasks passes the marks between them.

use super::table::LiveJob;
use crate::model::{Marks, Outcome};
use crate::units::{Span, Time, Work};

impl LiveJob {
    fn marks(&self) -> Option<&Marks> {
        self.job.grid.as_ref()?.marks.as_deref()
    }

    /// Notes the marks that it passes in a stretch of `span` at the present rate, which is not in the account yet.
    pub(super) fn settle_marks(&mut self, span: Span) {
        let Self { job, past: Some(past), done, rate, since, .. } = self else { return };
        let Some(marks) = job.grid.as_mut().and_then(|grid| grid.marks.as_mut()) else { return };
        let to = *done + Work::done(*rate, span);
        while let Some(mark) = marks.at.get(marks.passed.len()) {
            let progress = Work::of_runtime(*mark) - past.kept;
            let place = past.checkpoints.map_or(progress, |checkpoints| checkpoints.stretched(progress));
            if place > to {
                break;
            }
            let after = (place - *done).span_at(*rate).unwrap_or_default();
            marks.passed.push(*since + after.min(span));
        }
    }

    /// Forgets when it passed marks beyond the work that an attempt which has failed leaves to the next one.
    pub(super) fn drop_marks(&mut self) {
        let Self { job, past: Some(past), .. } = self else { return };
        let Some(marks) = job.grid.as_mut().and_then(|grid| grid.marks.as_mut()) else { return };
        let kept =
            marks.at.partition_point(|mark| !past.kept.is_zero() && Work::of_runtime(*mark) <= past.kept);
        marks.passed.truncate(kept);
    }

    /// When it has passed its marks, at its end: all of them if it has completed.
    pub(super) fn passed(&self, outcome: Outcome, now: Time) -> Box<[Time]> {
        let Some(Marks { at, passed }) = self.marks() else { return Box::default() };
        let all = if outcome == Outcome::Completed { at.len() } else { passed.len() };
        passed.iter().copied().chain(std::iter::repeat(now)).take(all).collect()
    }
}
