//! Ends of jobs, from any cause.

use std::cmp::Reverse;

use super::Partition;
use crate::local::{Action, Change, LiveJob, Phase, Step};
use crate::model::{EventCause, JobId, JobKey, Outcome};
use crate::units::Time;

impl Partition {
    /// Ends the next job whose end is due, or its transition. False if there is none left at this instant.
    pub fn end_next(&mut self, step: &mut Step<'_>) -> bool {
        if self.state.next_end_time().is_none_or(|end| end > step.now) {
            return false;
        }
        let Some(Reverse((_, _, key))) = self.state.ends.pop() else { return false };
        self.end_as_due(key, step);
        true
    }

    /// Ends a job whose end is due, or its attempt, if that fails here, or its transition.
    pub(super) fn end_as_due(&mut self, key: JobKey, step: &mut Step<'_>) {
        if self.state.table.get(key).is_some_and(|job| job.phase.is_transition()) {
            return self.end_transition(key, step);
        }
        if self.state.table.get(key).is_some_and(|job| job.stops_at() < job.target) {
            self.uncount_ending(key, step.now);
            return self.handle_failure(key, EventCause::TaskFailed, step, &mut Vec::new());
        }
        self.end_job(key, self.outcome_at_end(key), step);
    }

    /// Notes that a job which ends at this instant no longer counts as free, since it frees its processors now.
    fn uncount_ending(&mut self, key: JobKey, now: Time) {
        if let Some(job) = self.state.table.get(key).filter(|job| self.state.counts_as_free(job, now)) {
            self.state.ending -= job.held().min(self.state.ending);
        }
    }

    /// The outcome of a job that has done all the work that it may.
    fn outcome_at_end(&self, key: JobKey) -> Outcome {
        let killed = |job: &LiveJob| {
            let (work, estimated) = job.job.works();
            !self.state.settings.overrun && !job.job.may_overrun() && estimated < work
        };
        if self.state.table.get(key).is_some_and(killed) { Outcome::Killed } else { Outcome::Completed }
    }

    /// Ends a job now, in any phase.
    pub(super) fn end_job(&mut self, key: JobKey, outcome: Outcome, step: &mut Step<'_>) {
        self.uncount_ending(key, step.now);
        let Some(job) = self.state.table.get_mut(key) else { return };
        let change = match job.phase {
            Phase::Waiting => Some(Change::Withdrawn(key)),
            Phase::Starting
            | Phase::Running
            | Phase::Suspending
            | Phase::Suspended
            | Phase::Resuming
            | Phase::Reconfiguring => Some(Change::Ended(key)),
            // The policy was notified before, or was never notified of it.
            Phase::Stalled | Phase::Ineligible => None,
        };
        match job.phase {
            Phase::Running | Phase::Suspending | Phase::Resuming | Phase::Reconfiguring => {
                let placement = std::mem::take(&mut job.allocation.procs);
                let (held, share) = (job.held, job.allocation.share);
                self.state.running -= 1;
                self.state.vacate(&placement, held, share, step);
                self.state.settle_on(key, placement, step);
                if self.state.forget_begin(key, step.now) {
                    self.state.forget_attempt(key);
                }
            }
            Phase::Starting => self.forget_start(key),
            Phase::Ineligible => self.state.forget_ineligible(key),
            Phase::Stalled => return self.end_stalled(key, outcome, step),
            Phase::Waiting | Phase::Suspended => {}
        }
        if let Some(change) = change {
            self.notify(change, step.now);
        }
        self.leave_reservation(key, step);
        self.state.finish(key, outcome, step);
    }

    /// Removes a decided start, which will not take effect.
    pub(super) fn forget_start(&mut self, key: JobKey) {
        self.state.deferred -= self.state.table.get(key).map_or(0, |job| job.held);
        // Its key may be reused before the instant is over.
        self.late.retain(|start| !matches!(start, Action::Start { job, .. } if *job == key));
    }

    /// Ends a stalled job, and frees the processors that it kept.
    fn end_stalled(&mut self, key: JobKey, outcome: Outcome, step: &mut Step<'_>) {
        let Some(job) = self.state.table.get_mut(key) else { return };
        let placement = std::mem::take(&mut job.allocation.procs);
        self.state.abandon(&placement, step.now);
        let before = self.state.capacity;
        self.state.finish(key, outcome, step);
        self.state.recount();
        self.state.fill_bookings(step);
        // On shared processors it frees a place.
        if self.state.capacity != before || self.state.multiprogramming_level > 1 {
            self.notify(Change::Joined, step.now);
        }
        self.requeue_fitting(step.now);
    }

    /// Cancels a job by its number: from the queue, or from its processors. If several have the number, the one that
    /// came first. False if there is none.
    pub fn cancel(&mut self, id: JobId, step: &mut Step<'_>) -> bool {
        let named = self.named(id);
        if let Some(key) = named {
            self.end_job(key, Outcome::Cancelled, step);
        }
        named.is_some()
    }

    /// Ends all jobs that are still here, because the run is over.
    pub fn close(&mut self, step: &mut Step<'_>) {
        for key in self.state.keys(|_| true) {
            self.end_job(key, Outcome::Unfinished, step);
        }
    }
}
