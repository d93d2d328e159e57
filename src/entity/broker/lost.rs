//! Jobs that return, and plans that no longer hold: what they said of tasks that have not been sent is dropped, and the policy decides anew.

use super::data::place_of;
use super::pending::Pending;
use super::{Broker, State, is_recalled, rest, task};
use crate::broker::{BrokerEvent, Pool, PoolFacts, Task, TaskState};
use crate::entity::{Outbox, Stamp};
use crate::model::{EventCause, Job, PlanRepair, TaskId};

impl Broker {
    /// Notes that a job moves.
    pub(super) fn moved(&mut self, job: &Job, now: Stamp) {
        if !is_recalled(job) {
            self.state.last = now.time;
        }
    }

    /// Handles a job that has returned.
    pub(super) fn back(&mut self, job: Box<Job>, why: EventCause, now: Stamp, outbox: &mut dyn Outbox) {
        if self.state.coallocations.has(task(&job)) {
            return self.part_returned(&job, why, now, outbox);
        }
        self.moved(&job, now);
        self.state.turns.back(task(&job));
        let mut refused = Vec::new();
        self.note_arrival(task(&job), job.grid.as_ref().is_some_and(|grid| grid.first_start.is_some()));
        let turned_away = matches!(why, EventCause::Refused(_) | EventCause::Fault);
        self.ask_again(task(&job), turned_away);
        if let Some((at, earlier)) = self.state.tasks.remove(task(&job)) {
            refused = earlier;
            let pool = self.settle(at, now);
            match why {
                EventCause::Refused(_) => refused.push(pool),
                EventCause::Fault => {
                    // It is tried elsewhere first, and everywhere anew once all have turned it away: the fault may be over.
                    refused.push(pool);
                    let seen = Task::new(&job, &refused);
                    let is_open = |pool: &Pool| pool.could_run(&seen) && !refused.contains(&pool.facts.id);
                    if !self.state.pools.iter().any(is_open) {
                        refused.clear();
                    }
                }
                EventCause::SiteLeft => {
                    self.state.tally.landed_nowhere += 1;
                    if self.is_news(at, &job, now) {
                        self.site_left(pool.site, now, outbox);
                    }
                }
                EventCause::SiteDrains if self.is_news(at, &job, now) => self.site_closed(pool.site),
                _ => {}
            }
            self.policy.on(&BrokerEvent::Returned { task: task(&job), job: job.id, pool, why });
        }
        self.lose(task(&job));
        self.wait_returned(job, refused, now, outbox);
    }

    /// Whether what a job tells that has returned, that its site has left, is newer than the last report: it has rested with the dispatcher, and the site may
    /// be back since. That matters for the files there.
    fn is_news(&self, at: usize, job: &Job, now: Stamp) -> bool {
        if self.state.workflows.is_empty() {
            // If every change is reported, the broker knows by now whether the site is back.
            return !(self.spec.monitoring_interval.is_zero() && self.state.pools[at].open);
        }
        let PoolFacts { latency, .. } = self.state.pools[at].facts;
        let tries = job.grid.as_ref().map_or(0, |grid| grid.tries());
        let age = rest(&self.spec, tries) + latency;
        self.state.pools[at].measured.micros() < now.time.micros().saturating_sub(age.micros())
    }

    /// Drops what is planned for a task that was lost, and for all that wait for it, directly or not: it was planned with the end of the
    /// lost task in mind.
    /// If all that has not been sent shall then be planned anew, drops all.
    pub(super) fn lose(&mut self, task: TaskId) {
        let lost = self.withdraw(task);
        if self.spec.workflow.replan == PlanRepair::Rest {
            self.fresh |= lost;
            return self.lose_all();
        }
        let State { workflows, tasks, pending, .. } = &self.state;
        let pending = pending.as_ref().map(Pending::planned).unwrap_or_default();
        let follow = |task: TaskId| tasks.planned(task).is_some() || pending.contains(&task);
        let after = workflows.after(task, follow);
        for after in &after {
            self.fresh |= self.withdraw(*after);
        }
        self.lose_pending(|lost| lost == task || after.binary_search(&lost).is_ok());
    }

    /// Drops all that is planned.
    pub(super) fn lose_all(&mut self) {
        for task in self.state.tasks.all_planned() {
            self.fresh |= self.withdraw(task);
        }
        self.lose_pending(|_| true);
    }

    /// Drops what is planned for a task. False if nothing was.
    fn withdraw(&mut self, task: TaskId) -> bool {
        let State { workflows, tasks, withdrawn, .. } = &mut self.state;
        if workflows.course(task).is_some_and(|course| course.waits_for_files()) {
            withdrawn.insert(task);
        }
        let planned = tasks.planned(task);
        let dropped = tasks.drop_plan(task);
        if let Some(at) = planned {
            // What it waits for when it is ready, it may wait for there again.
            self.give_up_copies(task, place_of(self.state.pools[at].facts.id.site));
        }
        dropped
    }

    /// Once what was to be planned is planned: who waited for files of an assignment or a plan that was dropped, and waits for files again, has done so all the
    /// time; the others wait for a decision.
    pub(super) fn go_on(&mut self) {
        let State { workflows, tasks, withdrawn, again, pending, .. } = &mut self.state;
        if again.is_some() || pending.is_some() {
            return;
        }
        for task in std::mem::take(withdrawn) {
            let turn = |at| tasks.next_planned(at).is_some_and(|(next, _)| next == task);
            if tasks.state(task) == Some(TaskState::Ready)
                && !tasks.planned(task).is_some_and(turn)
                && let Some(course) = workflows.course(task)
            {
                course.undecide();
            }
        }
    }

    /// Drops what is planned for a pool that, by its last report, cannot take it.
    pub(super) fn lose_misfits(&mut self, at: usize) {
        let State { pools, tasks, .. } = &self.state;
        let pool = &pools[at];
        let fits = |task: &TaskId| {
            let procs = tasks.unplaced(*task).map_or(0, |task| pool.procs_for(&task));
            pool.open && procs <= pool.report.present
        };
        let lost: Vec<TaskId> = tasks.lane(at).map(|(task, _)| task).filter(|task| !fits(task)).collect();
        lost.into_iter().for_each(|task| self.lose(task));
    }
}
