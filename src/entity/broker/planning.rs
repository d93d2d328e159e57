//! Planning: the policy is asked about the waiting jobs, and its plan is carried out.

use super::expected::Expected;
use super::{Broker, State, of_job};
use crate::broker::mapping::Links;
use crate::broker::{Act, Answer, Asked, Decision, GridView, Plan, Planned, Pool, PutOff};
use crate::entity::mailbox::{MOST_ROUNDS, Moments};
use crate::entity::{Address, EntityError, Outbox, Stamp, ToDispatcher};
use crate::model::{EventKind, EventRecord, NetworkSpec, Record, TaskId, TaskOrder};
use crate::units::{Bandwidth, Span};

/// Rounds from an assignment to the report of it: dispatcher, site, directory, broker.
const THERE_AND_BACK: u32 = 4;
/// Beyond this round of an instant the broker plans the remaining jobs without waiting for reports, before the instant is
/// given up as stalled.
const MOST_LOOKS: u32 = MOST_ROUNDS / 2;

/// What data takes between these pools: over the bandwidth that was measured between two places, or else as they are connected.
pub(super) fn links(
    pools: &[Pool],
    network: &NetworkSpec,
    measured: impl Fn(usize, usize) -> Option<Bandwidth>,
) -> Links {
    let of = |pool: usize| pools[pool].facts.id.site.index() + 1;
    Links::of(pools.len(), |from, to| match (of(from), of(to)) {
        (from, to) if from == to => (Span::ZERO, None),
        (from, to) => {
            let bandwidth = measured(from, to).or_else(|| network.bandwidth(from, to));
            (network.link(from, to).latency, bandwidth)
        }
    })
}

impl Broker {
    /// Recalls jobs whose files are on their way, jobs that have not left the dispatcher, or do not run yet.
    pub(super) fn recall(&mut self, now: Stamp, outbox: &mut dyn Outbox) {
        self.recall_staged(now, outbox);
        let queued = self.spec.recall_queued;
        let recallable = self.state.tasks.recallable(queued);
        // What is reserved for a part would be lost.
        let free = recallable.into_iter().filter(|task| !self.state.coallocations.has(*task));
        for task in free.collect::<Vec<_>>() {
            self.send(Address::Dispatcher, now, Span::ZERO, ToDispatcher::Recall { task, queued }, outbox);
            self.state.tally.recalled += 1;
        }
    }

    /// Asks the policy about tasks that are ready, and records its front, if it has one. Returns its plan, and how long that takes. A plan without decisions takes no time.
    fn ask(
        &mut self,
        asked: Asked,
        now: Stamp,
        outbox: &mut dyn Outbox,
    ) -> Result<(Plan, Span), EntityError> {
        self.tell_changes();
        self.believe_links(now.time);
        let Self { bounds, state: State { tasks, pools, workflows, data, wake, .. }, .. } = self;
        let files = Expected::new(workflows, data, &self.network, now.time);
        let mut view =
            GridView::new(now.time, pools, tasks, asked, self.spec.count_in_flight).with_bounds(bounds);
        if self.abilities.workflows {
            let shown = workflows.live(tasks.undecided());
            view = view.showing(shown, &self.links, self.spec.workflow.together);
        }
        if !workflows.is_empty() {
            view = view.with_data(&files);
        }
        if let Some(job) = self.traced {
            view = view.traced(job);
        }
        let (own, plan, later) = match self.policy.plan(&mut view) {
            Answer::Done(plan) => (Span::ZERO, plan, None),
            Answer::After(own, plan) => (own, plan, None),
            Answer::Later { at, takes, plan } => (takes, plan, Some(at)),
            Answer::Failed(error) => return Err(error.into()),
        };
        let (told, front) = (view.take_choice(), view.take_front());
        if let Some(front) = front {
            outbox.record(Record::Front(front));
        }
        let takes = if plan.is_empty() { Span::ZERO } else { own + self.spec.planning.of(plan.len()) };
        if takes.is_zero() {
            self.choice = told.or(self.choice.take());
        } else {
            self.coming_choice = told;
        }
        if let Some(at) = later {
            *wake = Some(wake.map_or(at, |wake| wake.min(at)));
        }
        Ok((plan, takes))
    }

    /// Whether the policy is asked about one task at a time. Sites report at every change: each assignment sees those before it, as far as
    /// reports take no time.
    pub(super) fn is_one_by_one(&self) -> bool {
        self.spec.monitoring_interval.is_zero() && !self.abilities.batch
    }

    /// Plans once over the tasks that are ready.
    pub(super) fn plan(&mut self, now: Stamp, outbox: &mut dyn Outbox) -> Result<(), EntityError> {
        self.state.tally.plans += 1;
        let all = self.all || !self.abilities.steady || self.spec.workflow.order == TaskOrder::CriticalPath;
        if self.is_one_by_one() {
            return self.plan_one_by_one(all, now, outbox);
        }
        let (plan, takes) = self.ask(if all { Asked::All } else { Asked::New }, now, outbox)?;
        if takes.is_zero() {
            for decision in plan {
                self.carry_out(decision, now, outbox)?;
            }
        } else {
            self.begin_plan(plan, takes, now)?;
        }
        self.leave();
        Ok(())
    }

    /// Notes that the policy has left all tasks that are ready now.
    fn leave(&mut self) {
        self.state.tasks.leave();
        self.all = false;
    }

    /// Plans one task at a time.
    fn plan_one_by_one(&mut self, all: bool, now: Stamp, outbox: &mut dyn Outbox) -> Result<(), EntityError> {
        let mut after = None;
        while let Some(next) = self.state.tasks.next_ready(after, !all) {
            after = Some(next.rank());
            let asked = Asked::One(next.id());
            let (plan, takes) = self.ask(asked, now, outbox)?;
            if !takes.is_zero() {
                return self.begin_plan(plan, takes, now);
            }
            let Some(decision) = plan.first().copied() else { continue };
            self.state.last = now.time;
            let latency = self.carry_out(decision, now, outbox)?;
            if self.waits_for_report(latency, now) {
                return Ok(());
            }
        }
        self.leave();
        Ok(())
    }

    /// Whether others are planned only after the report of an assignment, which takes so long to its site and comes at this very instant.
    pub(super) fn waits_for_report(&mut self, latency: Option<Span>, now: Stamp) -> bool {
        let waits = latency.is_some_and(Span::is_zero)
            && now.round < MOST_LOOKS
            && self.state.tasks.count_ready() > 0;
        if waits {
            self.state.again = Some(Stamp { round: now.round + THERE_AND_BACK, ..now });
        }
        waits
    }

    /// The error of a decision that cannot be carried out.
    pub(super) fn bad_plan(&self, task: TaskId, problem: String) -> EntityError {
        EntityError::BadPlan { policy: self.spec.policy.to_string(), task, problem }
    }

    /// Sends what is planned and ready, in each pool's lane up to the first task that is not ready or whose files are on their way. Files that cannot
    /// come now are waited for aside: what would free their space, or has nothing to do with them, may be behind.
    pub(super) fn send_planned(&mut self, now: Stamp, outbox: &mut dyn Outbox) -> Result<(), EntityError> {
        let mut next = 0;
        while let Some(at) = self.state.tasks.next_lane(next) {
            next = at + 1;
            while let Some((task, Planned { start, end, reason, .. })) = self.state.tasks.next_planned(at) {
                if let Some(course) = self.state.workflows.course(task) {
                    course.decide(now.time);
                }
                if self.has_files(task, at, now, outbox) {
                    self.state.last = now.time;
                } else if !self.is_held_up(task, at) {
                    break;
                }
                self.carry_out(Decision { task, act: Act::Assign(at), reason, start, end }, now, outbox)?;
            }
        }
        Ok(())
    }

    /// Carries out a decision. Returns how long the task takes to its site; `None` if it waits here for its files.
    pub(super) fn carry_out(
        &mut self,
        decision: Decision,
        now: Stamp,
        outbox: &mut dyn Outbox,
    ) -> Result<Option<Span>, EntityError> {
        let Decision { task, act, reason, start, end } = decision;
        let at = act.pool();
        let Some(pool) = self.state.pools.get(at) else {
            return Err(self.bad_plan(task, format!("to pool {at} of {}", self.state.pools.len())));
        };
        if let Act::PutOff { until, .. } = act {
            return self.put_off(task, PutOff { until, reason }, now).map(|()| None);
        }
        if act == Act::Plan(at) {
            if self.state.tasks.plan(task, Planned { pool: at, start, end, reason }) {
                self.unchecked.insert(at);
                self.bring_ahead(task, at, now, outbox);
                return Ok(Some(Span::ZERO));
            }
            return Err(self.bad_plan(task, "which does not wait with the broker".to_owned()));
        }
        let (id, latency, age) = (pool.facts.id, pool.facts.latency, now.time.since(pool.measured));
        // The dispatcher does this unless it reports otherwise.
        let lacking = !self.state.workflows.is_empty() && self.lacks_files(task, id.site);
        let planned = self.state.tasks.planned(task).is_some();
        let arrival = (!lacking).then(|| now.next_round().after(latency));
        let Some((mut job, procs)) = self.state.tasks.place(task, at, pool, arrival) else {
            return Err(self.bad_plan(task, "which does not wait with the broker".to_owned()));
        };
        self.state.tasks.believe(task, start);
        self.moved(&job, now);
        if planned && !lacking {
            self.state.turns.send(task, at, now.time);
        }
        if let Some(course) = self.state.workflows.course(task) {
            course.decide(now.time);
            if !lacking {
                course.send(now.time);
            }
        }
        let grid = job.grid.get_or_insert_default();
        grid.assignment += 1;
        let again = grid.assignment > 1;
        let tally = &mut self.state.tally;
        tally.assigned += 1;
        tally.age_sum += u128::from(age.micros());
        tally.age_max = tally.age_max.max(age);
        if again {
            tally.reassigned += 1;
            outbox.record(Record::Event(EventRecord {
                kind: EventKind::Reassigned,
                site: id.site,
                partition: Some(id.partition),
                procs,
                ..of_job(&job, now.time)
            }));
        }
        job.partition = Some(id.partition);
        job.assigned_to(&self.state.pools[at].facts.partition, self.state.pools[at].facts.speed);
        if lacking {
            self.stage(job, id.site, now, outbox);
            return Ok(None);
        }
        self.send(Address::Dispatcher, now, Span::ZERO, ToDispatcher::Assign { job, pool: id }, outbox);
        Ok(Some(latency))
    }
}
