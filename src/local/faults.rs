//! Attempts of tasks that fail by themselves.

use super::table::LiveJob;
use crate::model::{Faults, Job};
use crate::units::Work;
use crate::workflow::faults;

fn faults_mut(job: &mut Job) -> Option<&mut Faults> {
    job.grid.as_mut()?.task.as_mut()?.faults.as_mut()
}

impl LiveJob {
    /// Work after which the attempt ends, in whatever way.
    pub(super) fn stops_at(&self) -> Work {
        let fails_at = self.past.as_ref().and_then(|past| past.fails_at);
        fails_at.map_or(self.target, |fails_at| fails_at.min(self.target))
    }

    /// Draws where the attempt that begins, and has been planned, fails by itself: of a group where the first of its tasks does that runs in this
    /// attempt.
    pub(super) fn draw_fault(&mut self) {
        let Self { job, past: Some(past), attempts, .. } = self else { return };
        past.fails_at = None;
        let Some(task) = job.grid.as_ref().and_then(|grid| grid.task.as_ref()) else { return };
        let Some(of) = &task.faults else { return };
        let whole = (Work::ZERO, job.works().0);
        let failing = faults::points(of, *attempts).enumerate().filter_map(|(at, point)| {
            let (from, to) = task.marks.as_ref().map_or(whole, |marks| marks.work(at));
            // What checkpoints have kept does not run again.
            let from = from.max(past.kept);
            let progress = from + Work::from_units(point?((to - from).units())) - past.kept;
            let place = past.checkpoints.map_or(progress, |checkpoints| checkpoints.stretched(progress));
            (to > from).then(|| place.max(Work::from_units(1)))
        });
        past.fails_at = failing.min();
    }

    /// Counts an attempt that has failed by itself. True if it was the last that may.
    pub(super) fn fail_by_itself(&mut self) -> bool {
        faults_mut(&mut self.job).is_none_or(|faults| {
            faults.failed += 1;
            faults.failed >= faults.most
        })
    }
}
