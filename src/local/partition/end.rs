//! Ends of jobs, from any cause.

use std::cmp::Reverse;

use super::Partition;
use crate::local::{Action, Change, Exit, LiveJob, Phase};
use crate::model::{JobId, JobKey, Outcome, RecordSink};
use crate::units::Time;

impl Partition {
    /// Ends the next job whose end is due; `None` if there is none left at `now`.
    pub fn end_next(&mut self, now: Time, sink: &mut dyn RecordSink) -> Option<Exit> {
        if self.state.next_end_time()? > now {
            return None;
        }
        let Reverse((_, _, key)) = self.state.ends.pop()?;
        let outcome = self.own_end(key);
        self.end_job(key, outcome, now, sink)
    }

    /// The outcome of a job that has done all the work that it may.
    pub(super) fn own_end(&self, key: JobKey) -> Outcome {
        let killed = |job: &LiveJob| !self.state.settings.overrun && job.job.estimate < job.job.runtime;
        if self.state.table.get(key).is_some_and(killed) { Outcome::Killed } else { Outcome::Completed }
    }

    /// Ends a job now, in any phase.
    pub(super) fn end_job(
        &mut self,
        key: JobKey,
        outcome: Outcome,
        now: Time,
        sink: &mut dyn RecordSink,
    ) -> Option<Exit> {
        if let Some(job) = self.state.table.get(key).filter(|job| self.state.counts_as_free(job, now)) {
            self.state.ending -= job.held.min(self.state.ending);
        }
        let job = self.state.table.get_mut(key)?;
        let change = match job.phase {
            Phase::Waiting => Some(Change::Withdrawn(key)),
            Phase::Starting | Phase::Running | Phase::Suspended => Some(Change::Ended(key)),
            // The policy was notified before, or was never notified of it.
            Phase::Stalled | Phase::Ineligible => None,
        };
        match job.phase {
            Phase::Running => {
                let place = std::mem::take(&mut job.place);
                let (held, share) = (job.held, job.share);
                self.state.running -= 1;
                self.state.vacate(&place, held, share, sink, now);
                self.state.settle_on(key, place, now, sink);
            }
            Phase::Starting => self.forget_start(key),
            Phase::Ineligible => self.state.stand_by(key),
            Phase::Stalled => return self.end_halted(key, outcome, now, sink),
            Phase::Waiting | Phase::Suspended => {}
        }
        if let Some(change) = change {
            self.tell(change, now);
        }
        self.state.finish(key, outcome, now, sink)
    }

    /// Removes a decided start, which will not take effect.
    pub(super) fn forget_start(&mut self, key: JobKey) {
        self.state.deferred -= self.state.table.get(key).map_or(0, |job| job.held);
        // Its key may be reused before the instant is over.
        self.late.retain(|start| !matches!(start, Action::Start { job, .. } if *job == key));
    }

    /// Ends a stalled job, and frees the processors that it kept.
    fn end_halted(
        &mut self,
        key: JobKey,
        outcome: Outcome,
        now: Time,
        sink: &mut dyn RecordSink,
    ) -> Option<Exit> {
        let place = std::mem::take(&mut self.state.table.get_mut(key)?.place);
        self.state.abandon(&place);
        let before = self.state.capacity;
        let gone = self.state.finish(key, outcome, now, sink);
        self.state.recount();
        self.state.fill_bookings(sink, now);
        // On shared processors it frees a place.
        if self.state.capacity != before || self.state.multiprogramming_level > 1 {
            self.tell(Change::Joined, now);
        }
        self.step_back(now);
        gone
    }

    /// Cancels a job by its number: from the queue, or from its processors. If several have the number, the one that
    /// came first. `None` if there is none.
    pub fn cancel(&mut self, id: JobId, now: Time, sink: &mut dyn RecordSink) -> Option<Exit> {
        let key = self.named(id)?;
        self.end_job(key, Outcome::Cancelled, now, sink)
    }

    /// Ends all jobs that are still here, because the run is over.
    pub fn close(&mut self, now: Time, sink: &mut dyn RecordSink) {
        let mut left: Vec<_> = self.state.table.iter().map(|(key, job)| (job.seq, key)).collect();
        left.sort_unstable();
        for (_, key) in left {
            self.end_job(key, Outcome::Unfinished, now, sink);
        }
    }
}
