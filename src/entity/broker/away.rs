//! Sites that leave and come back, as far as the broker knows, and what that does to the files there.
//!
//! The broker learns that a site has left from its report, from a job that returns because of it, or from the network, which tells of each copy that has
//! broken off; that it is back, from its report. A report may be old, so that the broker takes a site for back that has left: what it asks for there then
//! breaks off at once.

use super::data::place_of;
use super::{Broker, Copying, State};
use crate::broker::TaskState;
use crate::entity::{Outbox, Stamp};
use crate::model::{EventCause, EventKind, FileId, LostData, SiteId, TaskId, TransferMode, TransferOutcome};
use crate::platform::Place;

impl Broker {
    /// The places of the pools of a site.
    fn pools_of(&self, site: SiteId) -> std::ops::Range<usize> {
        let first = |site: usize| self.first_pool.get(site).copied().unwrap_or(self.state.pools.len());
        first(site.index())..first(site.index() + 1)
    }

    /// Notes that a site takes no jobs, because it has left or drains. What is planned for it is dropped.
    pub(super) fn site_closed(&mut self, site: SiteId) {
        for at in self.pools_of(site) {
            // The next report will say when it takes jobs again.
            self.state.pools[at].open = false;
            self.bounds.changed(at);
            self.lose_misfits(at);
        }
    }

    /// Notes that a site has left. What is planned for it is dropped, tasks that wait for files there are planned again, and its files are not there.
    pub(super) fn site_left(&mut self, site: SiteId, now: Stamp, outbox: &mut dyn Outbox) {
        self.site_closed(site);
        let place = place_of(site);
        let news = !self.state.data.replicas.is_away(place);
        self.state.data.replicas.left(place);
        self.missed = true;
        for task in self.state.data.waiting_at(place) {
            if !self.unstage(task, EventKind::Returned, EventCause::SiteLeft, now, outbox) {
                self.forget_files(task);
            }
        }
        if news {
            self.count_staged(self.state.data.staged().collect(), now);
        }
    }

    /// Has pools count those of these tasks as on their way whose files can come. The others wait until a site is back, and hold nobody up.
    pub(super) fn count_staged(&mut self, tasks: Vec<TaskId>, now: Stamp) {
        for task in tasks {
            let State { data, workflows, tasks, .. } = &mut self.state;
            let (Some(TaskState::Staging(pool)), Some(to)) = (tasks.state(task), data.place_of_task(task))
            else {
                continue;
            };
            let comes = |file| data.replicas.is_at(file, to) || data.away(file, to).is_empty();
            let counts = workflows.inputs(task).all(comes);
            if tasks.count_staged(task, counts) {
                self.settle(pool, now);
                (self.fresh, self.all) = (true, true);
            }
        }
    }

    /// Notes that a site is back, with the files that lay there: what waits for them is brought.
    pub(super) fn site_back(&mut self, site: SiteId, now: Stamp, outbox: &mut dyn Outbox) {
        let place = place_of(site);
        self.state.data.replicas.back(place);
        self.state.data.broken.retain(|_, left| *left != place);
        self.bring_wanted(now, outbox);
    }

    /// Has brought what is waited for and can be had.
    pub(super) fn bring_wanted(&mut self, now: Stamp, outbox: &mut dyn Outbox) {
        for (file, at, task) in self.state.data.wanted() {
            self.bring(file, at, task, now, outbox);
        }
        self.bring_planned(now, outbox);
        for (file, record) in std::mem::take(&mut self.state.data.stranded) {
            self.bring_home(file, record, now, outbox);
        }
        self.count_staged(self.state.data.staged().collect(), now);
    }

    /// Handles a copy that has broken off because a site has left.
    pub(super) fn broken(&mut self, id: u64, site: SiteId, now: Stamp, outbox: &mut dyn Outbox) {
        let Some(copy) = self.state.data.over(id, TransferOutcome::Lost, now.time, outbox) else { return };
        (self.state.last, self.missed) = (now.time, true);
        self.site_left(site, now, outbox);
        let Copying { file, from, to, home, record } = copy;
        if home {
            return self.bring_home(file, record, now, outbox);
        }
        if self.spec.workflow.lost == LostData::Wait && from == place_of(site) {
            self.state.data.broken.insert((file, to), from);
        } else if let Some(task) = self.reader_at(file, to) {
            self.bring(file, to, task, now, outbox);
        }
        self.count_staged(self.state.data.waiting_for(file, to..=to), now);
    }

    /// The first task that waits for a file at a place; else, if data is eager, the first that is planned to read it there.
    pub(super) fn reader_at(&self, file: FileId, at: Place) -> Option<TaskId> {
        let State { data, workflows, tasks, pools, .. } = &self.state;
        let place = |pool: usize| place_of(pools[pool].facts.id.site);
        let planned = |task: &TaskId| tasks.planned(*task).is_some_and(|pool| place(pool) == at);
        let eager = || self.spec.workflow.transfer == TransferMode::Eager;
        let ahead = || workflows.readers_of(file).into_iter().filter(|_| eager()).find(planned);
        data.waiting_for(file, at..=at).first().copied().or_else(ahead)
    }

    /// If data is eager, brings what there is of the files of the tasks that are planned and wait for others.
    fn bring_planned(&mut self, now: Stamp, outbox: &mut dyn Outbox) {
        if self.state.workflows.is_empty() || self.spec.workflow.transfer != TransferMode::Eager {
            return;
        }
        for at in 0..self.state.pools.len() {
            let lane: Vec<TaskId> = self.state.tasks.lane(at).map(|(task, _)| task).collect();
            for task in lane {
                if self.state.tasks.state(task) == Some(TaskState::Blocked) {
                    self.bring_ahead(task, at, now, outbox);
                }
            }
        }
    }
}
