//! Deadlines and budgets of jobs that arrive.

use super::State;
use crate::local::LiveJob;
use crate::model::{JobKey, RejectReason};
use crate::units::{Money, Time};

impl State {
    /// Why a job of the site's own users is refused that could not keep its limits here if it started now. Of a grid job the broker has decided.
    pub(in crate::local) fn refused_for_limits(&self, live: &LiveJob, now: Time) -> Option<RejectReason> {
        let limits = live.job.limits.as_ref().filter(|_| live.job.grid.is_none())?;
        limits.refuse(now, live.procs, live.estimate, self.tariff.price_at(now))
    }

    /// Notes when a running job costs more than its budget, if it is ended there: the first instant of its stretch at which it does, all attempts together,
    /// before its end. Its segment must have been settled.
    pub(in crate::local) fn plan_spent(&mut self, key: JobKey) {
        let Some(job) = self.table.get(key) else { return };
        let Some(budget) = job.job.killed_over() else { return };
        let held = self.tariff.held(&job.allocation.procs, job.held);
        let past = job.past.as_ref();
        let before = past
            .map_or(Money::ZERO, |past| past.cost + past.charged.map_or(Money::ZERO, |charged| charged.cost));
        let cost_by = |time: Time| {
            let charge =
                job.charge + self.tariff.charge(&held, job.allocation.share, job.since, time.max(job.since));
            before + self.tariff.cost(charge)
        };
        let spent = |micros: u64| cost_by(Time::from_micros(micros)) > budget;
        let (mut first, mut last) = (job.since.micros() + 1, job.end.micros());
        // Where it costs nothing it cannot cost too much. Prices of processors are not negative, so that the cost does not fall.
        let free = cost_by(job.end) == cost_by(job.since);
        let mut at = None;
        if !free && first < last && spent(last - 1) {
            while first < last {
                let middle = first + (last - first) / 2;
                if spent(middle) { last = middle } else { first = middle + 1 }
            }
            at = Some(Time::from_micros(first));
        }
        let id = job.job.id;
        self.agenda.spend_at(at, id, key);
    }

    /// Takes out the next running job that has cost more than its budget and is ended there.
    pub(in crate::local) fn take_spent(&mut self, now: Time) -> Option<JobKey> {
        // What no longer runs is noted again when it goes on.
        loop {
            let key = self.agenda.take_spent(now)?;
            if self.table.get(key).is_some_and(|job| job.phase.is_active()) {
                return Some(key);
            }
        }
    }
}
