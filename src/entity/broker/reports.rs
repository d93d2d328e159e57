//! What sites say of themselves: their reports, and their requests for work.

use super::Broker;
use super::data::place_of;
use crate::entity::{EndedJob, Outbox, SiteReport, Stamp};
use crate::model::{EventCause, EventKind, EventRecord, PoolId, Record, Replan, SiteId, TaskId};

impl Broker {
    /// Takes a report into the view. Returns true if the site has gained or lost processors since the last one.
    pub(super) fn learn(&mut self, report: SiteReport, now: Stamp, outbox: &mut dyn Outbox) -> bool {
        let Some(&first) = self.first_pool.get(report.site.index()) else { return false };
        let (mut churned, was_there) = (false, !self.state.data.replicas.is_away(place_of(report.site)));
        for (at, new) in (first..).zip(report.pools) {
            let Some(pool) = self.state.pools.get_mut(at) else { break };
            churned |= pool.report.present != new.present || pool.open != report.open;
            let check = new.present < pool.report.present || !report.open;
            pool.report = match &mut self.state.beliefs {
                Some(beliefs) => beliefs.reported(at, new),
                None => new,
            };
            pool.measured = report.measured.time;
            pool.open = report.open;
            self.bounds.changed(at);
            self.state.tasks.measured(at, report.measured);
            if self.spec.count_in_flight {
                pool.in_flight = self.state.tasks.expected(at, now.time, pool.report.present);
            }
            if self.unchecked.remove(&at) || check {
                self.lose_misfits(at);
            }
        }
        match (was_there, report.there) {
            (true, false) => self.site_left(report.site, now, outbox),
            (false, true) => self.site_back(report.site, now, outbox),
            _ => {}
        }
        churned
    }

    /// Updates the sum of the jobs on their way to a pool.
    pub(super) fn settle(&mut self, at: usize, now: Stamp) -> PoolId {
        let pool = &mut self.state.pools[at];
        if self.spec.count_in_flight {
            self.bounds.changed(at);
            pool.settle(self.state.tasks.in_flight(at), now.time);
        }
        pool.facts.id
    }

    /// Takes out a job that has ended. Returns its pool.
    pub(super) fn take_ended(&mut self, ended: &EndedJob, now: Stamp) -> Option<PoolId> {
        let placed = self.state.tasks.placed(ended.task).copied();
        let run = self.state.tasks.believed_run(ended.task);
        let (at, _) = self.state.tasks.remove(ended.task)?;
        if let Some(placed) = &placed {
            self.measure(placed, ended, now.time);
            self.measure_run(placed, run, ended);
        }
        if let Some(placed) = placed.filter(|placed| self.spec.count_in_flight && placed.unseen) {
            let ran = ended.last_start.map(|start| (start, ended.end));
            self.state.pools[at].over(&placed, ran);
        }
        Some(self.settle(at, now))
    }

    /// Whether a request for work has come before, or a newer one has overtaken it: then it is ignored.
    pub(super) fn is_overtaken(
        &mut self,
        pool: PoolId,
        measured: Stamp,
        now: Stamp,
        outbox: &mut dyn Outbox,
    ) -> bool {
        if self.state.asked.get(&pool).is_none_or(|last| *last < measured) {
            self.state.asked.insert(pool, measured);
            return false;
        }
        let (kind, cause) = (EventKind::Stale, EventCause::None);
        outbox.record(Record::Event(EventRecord::new(now.time, kind, cause, pool.site)));
        true
    }

    /// Plans nothing more for a site that has not been heard of for too long, until it reports.
    pub(super) fn unheard(&mut self, site: SiteId, now: Stamp, outbox: &mut dyn Outbox) {
        self.site_left(site, now, outbox);
        self.fresh = true;
        if self.spec.replan != Replan::Never {
            self.recall(now, outbox);
        }
    }

    /// Takes a request for work: what is on its way to the pool answers a part of it.
    pub(super) fn asked(&mut self, at: usize, procs: u32, measured: Stamp) {
        if let Some(pending) = &mut self.state.pending {
            // What is being planned for the pool would not count.
            return pending.asks.push((at, procs, measured));
        }
        let coming = self.state.tasks.coming(at, measured);
        self.state.pools[at].asked = procs.saturating_sub(coming);
        self.fresh = true;
    }

    /// What a pool has asked for is open again where a task that was to answer it comes back from elsewhere, or was turned away there: its site has
    /// as many free processors as before, and so does not ask again.
    pub(super) fn ask_again(&mut self, task: TaskId, turned_away: bool) {
        if let Some(placed) = self.state.tasks.placed(task).filter(|_| self.abilities.pulls)
            && (turned_away || placed.arrival.is_none())
        {
            self.state.pools[placed.pool].asked += placed.procs;
        }
    }
}
