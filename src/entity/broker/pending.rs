//! Planning that takes time: a plan is made of what is known when the policy is asked, and carried out later, as far as it still holds.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use super::{Broker, State};
use crate::broker::{Act, BrokerEvent, Choice, Decision, Plan};
use crate::entity::{EntityError, Outbox, Stamp};
use crate::model::TaskId;
use crate::units::{Span, Time};

/// A plan that has not arrived. Until then nothing else is planned.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Pending {
    arrives: Time,
    plan: Plan,
    /// Requests for work that have come meanwhile: the place of the pool, its processors, and when they were counted.
    pub(super) asks: Vec<(usize, u32, Stamp)>,
}

impl Pending {
    /// The tasks that it plans.
    pub(super) fn planned(&self) -> BTreeSet<TaskId> {
        let plans = self.plan.iter().filter(|decision| matches!(decision.act, Act::Plan(_)));
        plans.map(|decision| decision.task).collect()
    }
}

impl Broker {
    /// When the plan arrives that is being made.
    pub(super) fn next_plan(&self) -> Option<Stamp> {
        self.state.pending.as_ref().map(|pending| self.state.mail.own(pending.arrives))
    }

    /// Has a plan arrive after so long.
    pub(super) fn begin_plan(&mut self, plan: Plan, takes: Span, now: Stamp) -> Result<(), EntityError> {
        for decision in &plan {
            self.check(decision)?;
        }
        let arrives = now.time + takes;
        let farthest = self.state.pools.iter().map(|pool| pool.facts.latency).max().unwrap_or_default();
        self.state.landing = arrives + farthest;
        let tally = &mut self.state.tally;
        tally.awaited += 1;
        tally.planning += u128::from(takes.micros());
        self.state.pending = Some(Pending { arrives, plan, asks: Vec::new() });
        Ok(())
    }

    /// Refuses a decision that cannot be carried out where it is made.
    fn check(&self, decision: &Decision) -> Result<(), EntityError> {
        let at = decision.act.pool();
        if at >= self.state.pools.len() {
            Err(self.bad_plan(decision.task, format!("to pool {at} of {}", self.state.pools.len())))
        } else if !self.waits(decision) {
            Err(self.bad_plan(decision.task, "which does not wait with the broker".to_owned()))
        } else {
            Ok(())
        }
    }

    /// Whether the task waits as the decision needs it.
    fn waits(&self, decision: &Decision) -> bool {
        match decision.act {
            Act::Assign(_) | Act::PutOff { .. } => self.state.tasks.ready(decision.task).is_some(),
            Act::Plan(_) => self.state.tasks.unplaced(decision.task).is_some(),
        }
    }

    /// Whether the task of a decision still waits, and its pool can still take it, as far as the broker knows. A pool whose processors were
    /// not there when the policy was asked need not have them now.
    fn holds(&self, decision: &Decision) -> bool {
        let at = decision.act.pool();
        let pool = &self.state.pools[at];
        let takes = self.state.tasks.unplaced(decision.task).is_some_and(|task| {
            let has = decision.start == Time::NEVER || pool.procs_for(&task) <= pool.report.present;
            pool.open && has && !task.refused().contains(&pool.facts.id)
        });
        takes && self.waits(decision)
    }

    /// The tasks about which a plan no longer holds: with a task that was planned, all that waits for it.
    fn stale(&mut self, plan: &Plan) -> BTreeSet<TaskId> {
        let mut stale = BTreeSet::new();
        for decision in plan {
            if !self.holds(decision) && stale.insert(decision.task) && matches!(decision.act, Act::Plan(_)) {
                stale.extend(self.state.workflows.after(decision.task, |_| true));
            }
        }
        stale
    }

    /// Carries out the plan that arrives now, as far as it holds. True if nothing can be planned at this moment.
    pub(super) fn take_plan(&mut self, now: Stamp, outbox: &mut dyn Outbox) -> Result<bool, EntityError> {
        let Some(Pending { plan, asks, .. }) =
            self.state.pending.take_if(|pending| pending.arrives <= now.time)
        else {
            return Ok(self.state.pending.is_some());
        };
        self.policy.on(&BrokerEvent::Planned);
        let stale = self.stale(&plan);
        let told = self.coming_choice.take();
        let holds = |task| !stale.contains(&task) && plan.iter().any(|decision| decision.task == task);
        if let Some(told) = told.filter(|_| self.traced_task.is_some_and(holds)) {
            self.choice = Some(Choice { at: now.time, ..told });
        }
        let mut latency = None;
        for decision in plan {
            if stale.contains(&decision.task) {
                self.drop_decision(&decision);
            } else {
                latency = self.carry_out(decision, now, outbox)?;
            }
        }
        for task in stale {
            if self.state.tasks.unplaced(task).is_some() {
                self.lose(task);
            }
        }
        for at in 0..self.state.pools.len() {
            self.settle(at, now);
        }
        asks.into_iter().for_each(|(at, procs, measured)| self.asked(at, procs, measured));
        self.fresh = true;
        if self.is_one_by_one() {
            self.all = true;
            return Ok(self.waits_for_report(latency, now));
        }
        Ok(false)
    }

    /// Drops a decision that no longer holds. What a pool has asked for is open again.
    fn drop_decision(&mut self, decision: &Decision) {
        let State { tasks, pools, tally, .. } = &mut self.state;
        tally.stale += 1;
        tasks.dropped(decision.task);
        if let (Act::Assign(at), Some(task)) = (decision.act, tasks.unplaced(decision.task))
            && self.abilities.pulls
        {
            pools[at].asked += pools[at].procs_for(&task);
        }
    }

    /// Drops what is being planned for tasks that wait for what is lost.
    pub(super) fn lose_pending(&mut self, lost: impl Fn(TaskId) -> bool) {
        let State { pending: Some(pending), tasks, tally, .. } = &mut self.state else { return };
        pending.plan.retain(|decision| {
            let stays = !matches!(decision.act, Act::Plan(_)) || !lost(decision.task);
            if !stays {
                tally.stale += 1;
                tasks.dropped(decision.task);
            }
            stays
        });
    }
}
