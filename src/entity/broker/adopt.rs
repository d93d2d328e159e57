//! A run that goes on under another description: what changes at that moment for what waits with the broker.

use super::data::place_of;
use super::staging::too_small;
use super::workflows::Workflows;
use super::{Broker, State, task};
use crate::broker::{InFlight, Pool, PoolFacts, Task};
use crate::entity::{EntityError, Outbox, Stamp};
use crate::model::{
    BrokerSpec, EventCause, EventKind, Job, LostData, PoolId, StorageSpec, TaskId, TaskOrder,
};
use crate::platform::Place;
use crate::units::Time;

/// How urgent a ready job is, if that decides of the order.
pub(super) fn urgency(spec: &BrokerSpec, workflows: &Workflows, job: &Job) -> Option<u64> {
    match spec.workflow.order {
        TaskOrder::Policy => None,
        // A job that is of no workflow is one of one task.
        TaskOrder::CriticalPath => Some(workflows.urgency(task(job)).unwrap_or(job.estimate.micros()).max(1)),
    }
}

impl Broker {
    /// Goes on as it is described itself with a state that was saved under these settings and storages. The rest is done at once when
    /// [the moment](Self::begin_adopted) is handled.
    pub(super) fn adopt(
        &mut self,
        spec: &BrokerSpec,
        storages: &[StorageSpec],
        facts: Vec<PoolFacts>,
        now: Stamp,
    ) -> Result<(), EntityError> {
        // Prices change nothing of what has been decided, but when what is put off is best sent.
        let other_rates =
            !self.state.pools.iter().map(|pool| &pool.facts.rates).eq(facts.iter().map(|own| &own.rates));
        for (pool, own) in self.state.pools.iter_mut().zip(&facts) {
            pool.facts.rates.clone_from(&own.rates);
        }
        self.adopt_information();
        let changed = self.spec != *spec || !self.state.pools.iter().map(|pool| &pool.facts).eq(&facts);
        let other_storages = self.network.storages != storages;
        if changed {
            for (at, own) in facts.into_iter().enumerate() {
                let pool = &mut self.state.pools[at];
                (pool.facts, pool.in_flight) = (own, InFlight::default());
                self.settle(at, now);
            }
            self.lose_all();
            self.missed = true;
        }
        if self.spec.workflow != spec.workflow {
            let State { workflows, tasks, .. } = &mut self.state;
            tasks.rank(|job| urgency(&self.spec, workflows, job));
        }
        if other_storages {
            self.adopt_storages(storages, now)?;
        }
        let woken = (changed || other_rates || other_storages) && self.state.tasks.wake(Time::NEVER);
        if changed || other_storages || woken {
            self.state.again = Some(self.state.again.map_or(now, |again| again.min(now)));
            self.adopted = true;
        }
        Ok(())
    }

    /// Notes that storages have other capacities than these.
    fn adopt_storages(&mut self, before: &[StorageSpec], now: Stamp) -> Result<(), EntityError> {
        self.state.workflows.each().try_for_each(|enacted| self.check_sizes(&enacted.submitted))?;
        let State { workflows, tasks, pools, data, .. } = &mut self.state;
        let after = &self.network.storages;
        tasks.refit(|task, job, refused| {
            let space = workflows.space(task);
            let small: Vec<PoolId> = too_small(before, pools, space).collect();
            let unfit: Vec<PoolId> = job.map_or_else(Vec::new, |job| Pool::unfit(pools, job));
            let unfit = || unfit.iter().copied().chain(too_small(after, pools, space));
            let sorted = |mut pools: Vec<PoolId>| {
                pools.sort_unstable();
                pools.dedup();
                pools
            };
            let said = refused.iter().copied().filter(|pool| !small.contains(pool));
            let all = sorted(said.chain(unfit()).collect());
            // If none is left, one that has refused it may do so once more.
            let left = |job: &Job| {
                let task = Task::new(job, &all);
                pools.iter().any(|pool| pool.could_run(&task) && !all.contains(&pool.facts.id))
            };
            if job.is_none_or(left) { all } else { sorted(unfit().collect()) }
        });
        data.change(&self.network, now.time);
        Ok(())
    }

    /// At the first moment under another description: what is to go where it does not fit any more is planned anew, and what has been waited for
    /// until its site is back is copied from elsewhere, if it may be now.
    pub(super) fn begin_adopted(&mut self, now: Stamp, outbox: &mut dyn Outbox) {
        if !std::mem::take(&mut self.adopted) {
            return;
        }
        let State { workflows, tasks, pools, data, .. } = &self.state;
        let beyond = |task: TaskId, place: Place| {
            let capacity = self.network.storage(place as usize).capacity;
            capacity.is_some_and(|capacity| workflows.space(task) > capacity)
        };
        let place = |at: usize| place_of(pools[at].facts.id.site);
        let all = (0..pools.len()).flat_map(|at| tasks.lane(at).map(move |(task, _)| (task, place(at))));
        let planned: Vec<TaskId> =
            all.filter(|(task, place)| beyond(*task, *place)).map(|(task, _)| task).collect();
        let at = |task: &TaskId| data.place_of_task(*task).is_some_and(|place| beyond(*task, place));
        let staged: Vec<TaskId> = data.staged().filter(at).collect();
        planned.into_iter().for_each(|task| self.lose(task));
        for task in staged {
            if self.unstage(task, EventKind::Recalled, EventCause::Replanned, now, outbox) {
                self.state.tally.recalled += 1;
            } else {
                let inputs = self.inputs(task);
                self.state.data.forget(task, &inputs);
            }
        }
        if self.spec.workflow.lost != LostData::Wait && !self.state.data.broken.is_empty() {
            self.state.data.broken.clear();
            self.bring_wanted(now, outbox);
        }
    }
}
