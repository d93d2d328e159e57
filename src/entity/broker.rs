//! The broker: decides which grid job goes to which pool.

mod adopt;
mod again;
mod awaited;
mod away;
mod beliefs;
mod coallocation;
mod course;
mod data;
mod engine;
mod expected;
mod limits;
mod lost;
mod measured;
mod pending;
mod planning;
mod put_off;
mod records;
mod reports;
mod staging;
mod tally;
mod told;
mod traced;
mod turns;
mod unplaced;
mod waiting;
mod workflows;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use serde::{Deserialize, Serialize};

pub use self::awaited::AwaitedFile;
use self::coallocation::Coallocations;
pub use self::coallocation::Reserving;
use self::data::{Copying, Data, place_of};
use self::engine::Engine;
use self::limits::Expiring;
use self::measured::PORTAL;
use self::pending::Pending;
pub use self::tally::BrokerTally;
use self::turns::Turns;
pub(super) use self::unplaced::{is_recalled, of_job, record_given_up, rest, task, unplaced};
use self::workflows::Workflows;
use super::mailbox::{Mailbox, Moments};
use super::{Address, EntityError, Outbox, Quiescence, Stamp, ToBroker};
use crate::broker::mapping::Links;
use crate::broker::{
    Applications, Beliefs, Bounds, BrokerAbilities, BrokerEvent, BrokerPolicy, BrokerRegistry, Choice, Pool,
    PoolFacts, Tasks,
};
use crate::model::{
    BrokerSpec, Job, JobId, NetworkSpec, Outcome, PoolId, Record, RecordSink, Replan, StorageSpec, TaskId,
};
use crate::platform::SiteFaults;
use crate::units::Time;

/// Plans with its policy over the grid view that the directory sent last, whenever jobs wait and something has changed.
///
/// In a moment it first takes everything that arrives (jobs, grid views, requests for work, notifications of the dispatcher),
/// then plans once. If its view is never stale (sites report at every change, messages take no time), it assigns one job and
/// plans the next when that has been reported, so that jobs of one instant see each other.
pub struct Broker {
    spec: BrokerSpec,
    policy: Box<dyn BrokerPolicy>,
    abilities: BrokerAbilities,
    /// For each site, the place of its first partition among the pools.
    first_pool: Vec<usize>,
    /// The pools without jobs and with all their machines, whatever a power cap leaves of them.
    machines: Vec<Pool>,
    /// Whether the portal must be notified of ends.
    feedback: bool,
    network: NetworkSpec,
    /// The faults between it and each site.
    faults: Vec<Option<Arc<SiteFaults>>>,
    /// What data takes between the pools, for a policy that plans workflows.
    links: Links,
    /// Pools for which something was planned since what is planned there was last compared with a report.
    unchecked: BTreeSet<usize>,
    state: State,
    /// Bounds of the pools.
    bounds: Bounds,
    /// Whether something has changed since the last planning.
    fresh: bool,
    /// Whether anything but an arrival has happened since, so that tasks which a plan has left are planned again.
    all: bool,
    /// Whether a file may have become one that cannot be had.
    missed: bool,
    /// Whether it goes on under another description than before, and has not handled any moment since.
    adopted: bool,
    /// The job whose assignments are traced, and what was compared for its last one.
    traced: Option<JobId>,
    traced_task: Option<TaskId>,
    choice: Option<Choice>,
    /// What was compared for it in the plan that has not arrived.
    coming_choice: Option<Choice>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
struct State {
    mail: Mailbox<ToBroker>,
    pools: Vec<Pool>,
    tasks: Tasks,
    workflows: Workflows,
    data: Data,
    engine: Engine,
    expiring: Expiring,
    turns: Turns,
    coallocations: Coallocations,
    /// Tasks that waited for their files where they go no more, until it is decided anew where they go.
    withdrawn: BTreeSet<TaskId>,
    /// When the report of what has just been assigned arrives, if it comes at this very instant.
    again: Option<Stamp>,
    done: u64,
    /// Tasks that had completed and run again.
    repeated: u64,
    last: Time,
    tally: BrokerTally,
    /// What was measured, if the broker believes forecasts.
    beliefs: Option<Beliefs>,
    /// What was measured of applications, if it plans by their records.
    applications: Option<Applications>,
    /// What is being planned, if planning takes time.
    pending: Option<Pending>,
    /// When the last plan that took time can have brought its jobs to their sites.
    landing: Time,
    /// When the policy wants to be asked again, whatever happens until then.
    wake: Option<Time>,
    /// When the last request for work of each pool was made.
    asked: BTreeMap<PoolId, Stamp>,
}

/// The state of a broker in a snapshot.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BrokerSave {
    spec: BrokerSpec,
    storages: Vec<StorageSpec>,
    state: State,
    /// Whether anything but an arrival has happened since the last planning.
    all: bool,
    policy: Vec<u8>,
}

impl std::fmt::Debug for Broker {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Broker").field("spec", &self.spec).field("state", &self.state).finish_non_exhaustive()
    }
}

impl Broker {
    /// A broker that has no reports yet, only the pools' descriptions. `pools` are in order of sites and partitions, with the processors of
    /// each, whatever a power cap leaves of them; `seed` is for the policy's random draws.
    ///
    /// # Errors
    /// [`EntityError::Broker`] if the policy does not exist or its parameters are wrong.
    pub fn new(
        spec: BrokerSpec,
        (pools, usable): (Vec<Pool>, Vec<u32>),
        seed: u64,
        feedback: bool,
        network: &NetworkSpec,
        registry: &BrokerRegistry,
    ) -> Result<Self, EntityError> {
        let (policy, abilities) = registry.build(&spec.policy, seed).map_err(EntityError::Broker)?;
        let mut first_pool = Vec::new();
        for (at, pool) in pools.iter().enumerate() {
            if first_pool.len() <= pool.facts.id.site.index() {
                first_pool.push(at);
            }
        }
        let whole = |(pool, processors): (&Pool, u32)| {
            Pool::unreported(PoolFacts { processors, ..pool.facts.clone() })
        };
        let machines = pools.iter().zip(usable).map(whole).collect();
        let shown = if abilities.workflows { &pools[..] } else { &[] };
        let (links, unchecked) = (planning::links(shown, network, |_, _| None), (0..pools.len()).collect());
        let mut tasks = Tasks::new(pools.len());
        if policy.follows() {
            tasks.follow();
        }
        let bounds = Bounds::new(pools.len());
        let beliefs = measured::wanted(&spec).then(|| Beliefs::new(pools.len()));
        let applications = measured::plans_by_applications(&spec).then(Applications::default);
        let state = State { pools, tasks, beliefs, applications, ..State::default() };
        Ok(Self {
            spec,
            policy,
            abilities,
            first_pool,
            machines,
            feedback,
            network: network.clone(),
            faults: Vec::new(),
            links,
            unchecked,
            state,
            bounds,
            fresh: false,
            all: false,
            missed: false,
            adopted: false,
            traced: None,
            traced_task: None,
            choice: None,
            coming_choice: None,
        })
    }

    /// Has messages to sites meet these faults.
    pub fn meet(&mut self, faults: Vec<Option<Arc<SiteFaults>>>) {
        self.faults = faults;
    }

    /// The abilities of its policy.
    pub fn abilities(&self) -> BrokerAbilities {
        self.abilities
    }

    /// Counts so far.
    pub fn tally(&self) -> BrokerTally {
        self.state.tally
    }

    /// The pools in its view.
    pub fn pools(&self) -> &[Pool] {
        &self.state.pools
    }

    /// Jobs that wait with the broker.
    pub fn waiting(&self) -> impl Iterator<Item = &Job> {
        self.state.tasks.waiting()
    }

    /// Ends the run: jobs that wait here end as unfinished.
    pub fn close(&mut self, now: Time, sink: &mut dyn RecordSink) {
        self.state.data.close(now, sink);
        let State { workflows, tasks, pools, data, .. } = &mut self.state;
        workflows.close(tasks, pools, data, now, sink);
        self.state.done += self.state.coallocations.close(now, sink);
        let waiting = self.state.tasks.take_waiting();
        for job in waiting.chain(self.state.mail.jobs()) {
            self.state.done += 1;
            sink.record(Record::Job(unplaced(&job, Outcome::Unfinished, now)));
        }
    }

    /// The state, between two moments.
    pub fn save(&self) -> BrokerSave {
        let (spec, storages) = (self.spec.clone(), self.network.storages.clone());
        BrokerSave { spec, storages, state: self.state.clone(), all: self.all, policy: self.policy.save() }
    }

    /// Restores a state. With `adopt`, settings, prices and latencies may change from that moment on, and waiting jobs are then
    /// planned anew; another policy begins with the jobs and the view that it finds.
    ///
    /// # Errors
    /// [`EntityError::BadSave`] if the state does not fit.
    pub fn restore(&mut self, saved: BrokerSave, adopt: Option<Stamp>) -> Result<(), EntityError> {
        let facts: Vec<PoolFacts> = self.state.pools.iter().map(|pool| pool.facts.clone()).collect();
        let ids = |pools: &[Pool]| -> Vec<PoolId> { pools.iter().map(|pool| pool.facts.id).collect() };
        if ids(&saved.state.pools) != ids(&self.state.pools) {
            return Err(self.bad_save("it was saved with other pools"));
        }
        let changed = self.spec != saved.spec || !saved.state.pools.iter().map(|pool| &pool.facts).eq(&facts);
        if changed && adopt.is_none() {
            return Err(self.bad_save("it was saved with other settings, prices or latencies"));
        }
        (self.state, self.fresh, self.all) = (saved.state, false, saved.all || adopt.is_some());
        if self.policy.follows() {
            self.state.tasks.follow();
        }
        self.unchecked = (0..self.state.pools.len()).collect();
        self.bounds = Bounds::new(self.state.pools.len());
        self.state.workflows.rebuild(&self.spec.workflow).map_err(|problem| self.bad_save(&problem))?;
        if let Some(now) = adopt {
            self.adopt(&saved.spec, &saved.storages, facts, now)?;
        }
        if self.spec.policy == saved.spec.policy {
            self.policy.restore(&saved.policy).map_err(|problem| self.bad_save(&problem))
        } else {
            self.state.wake = None;
            Ok(())
        }
    }

    fn pool_at(&self, id: PoolId) -> Option<usize> {
        let at = self.first_pool.get(id.site.index())? + id.partition.index();
        self.state.pools.get(at).filter(|pool| pool.facts.id == id).map(|_| at)
    }

    fn handle_one(
        &mut self,
        letter: ToBroker,
        now: Stamp,
        outbox: &mut dyn Outbox,
    ) -> Result<(), EntityError> {
        if let ToBroker::Ask { pool, measured, .. } = letter
            && self.is_overtaken(pool, measured, now, outbox)
        {
            return Ok(());
        }
        self.all |= !matches!(
            letter,
            ToBroker::Submit(_)
                | ToBroker::Workflow(_)
                | ToBroker::Coallocated(_)
                | ToBroker::Offers { .. }
                | ToBroker::Answered { .. }
                | ToBroker::Sent { .. }
                | ToBroker::Moved { .. }
                | ToBroker::Transferred { .. }
        );
        match letter {
            ToBroker::Submit(job) => {
                self.state.last = now.time;
                self.trace(&job);
                self.policy.on(&BrokerEvent::Arrived { task: task(&job), job: job.id });
                self.wait(job, Vec::new(), now, outbox);
            }
            ToBroker::Workflow(workflow) => {
                self.state.last = now.time;
                self.begin(*workflow, now, outbox)?;
            }
            ToBroker::Coallocated(together) => {
                self.state.last = now.time;
                self.coallocate(*together, now, outbox);
            }
            letter @ ToBroker::Offers { .. } => self.offered(letter, now, outbox),
            ToBroker::Answered { id, answer } => self.answered(id, answer, now, outbox)?,
            ToBroker::View(reports) => {
                let mut churned = false;
                for report in reports {
                    churned |= self.learn(report, now, outbox);
                }
                self.policy.on(&BrokerEvent::ViewUpdated);
                self.fresh = true;
                if self.spec.replan == Replan::EveryReport || (churned && self.spec.replan == Replan::OnChurn)
                {
                    self.recall(now, outbox);
                }
            }
            ToBroker::Ask { pool, procs, measured } => {
                if let Some(at) = self.pool_at(pool) {
                    self.policy.on(&BrokerEvent::Asked(pool));
                    self.asked(at, procs, measured);
                }
            }
            ToBroker::Sent { task, arrival } => self.state.tasks.sent(task, arrival),
            ToBroker::Transferred { id } => self.transferred(id, now, outbox),
            ToBroker::Broken { id, site } => self.broken(id, site, now, outbox),
            ToBroker::Ended(ended) => {
                self.state.last = now.time;
                self.note_arrival(ended.task, ended.start.is_some());
                self.state.turns.end(ended.task, ended.start, ended.last_start);
                let placed = self.take_ended(&ended, now);
                self.over(ended, placed, now, outbox);
            }
            ToBroker::Returned { job, why } => self.back(job, why, now, outbox),
            ToBroker::Moved { site, data, took } => {
                self.measure_transfer((PORTAL, place_of(site)), data, took, now.time);
            }
            ToBroker::Unheard(site) => self.unheard(site, now, outbox),
        }
        Ok(())
    }
}

impl Moments for Broker {
    type Letter = ToBroker;

    fn address(&self) -> Address {
        Address::Broker
    }

    fn mail(&mut self) -> &mut Mailbox<ToBroker> {
        &mut self.state.mail
    }

    fn next(&self) -> Option<Stamp> {
        let own = self.state.again.into_iter().chain(self.next_prepared()).chain(self.next_plan());
        let due = self.state.coallocations.next().map(|due| self.state.mail.own(due));
        let own = own.chain(due).chain(self.next_expiry()).chain(self.next_due()).chain(self.next_wake());
        self.state.mail.due().into_iter().chain(own).min()
    }

    fn handle(&mut self, now: Stamp, outbox: &mut dyn Outbox) -> Result<(), EntityError> {
        let waited = self.state.wake.is_some();
        let handled = self.handle_all(now, outbox);
        self.tell_changes();
        // What the policy waited for has come to nothing: who still waits, waits in vain from now on.
        if waited && self.state.wake.is_none() {
            self.state.last = now.time;
        }
        handled
    }

    fn quiescence(&self) -> Quiescence {
        let State { done, last, again, repeated, landing, ref data, .. } = self.state;
        // A result on its way home counts as a job, so that the run does not end before it is there.
        let admitted = repeated + data.homing();
        let timed = self.next_due().is_some()
            || !self.state.expiring.is_empty()
            || self.state.coallocations.next().is_some();
        let self_active = again.is_some() || !self.state.engine.is_empty() || timed;
        // A policy that wakes and does nothing must not keep the run from ending.
        let churn_pending = self.state.wake.is_some();
        let stranded = data.stranded.len() as u64;
        Quiescence {
            admitted,
            done,
            last,
            landing,
            self_active,
            churn_pending,
            stranded,
            ..Quiescence::default()
        }
    }
}

impl Broker {
    /// Handles a moment.
    fn handle_all(&mut self, now: Stamp, outbox: &mut dyn Outbox) -> Result<(), EntityError> {
        self.begin_adopted(now, outbox);
        self.take_prepared(now, outbox);
        while let Some(message) = self.state.mail.take(now) {
            self.handle_one(message.body, now, outbox)?;
        }
        self.follow_agreements(now, outbox)?;
        self.expire_those_due(now, outbox);
        self.wake_those_due(now);
        self.wake_policy(now);
        self.run_again(now, outbox);
        if let Some(again) = self.state.again {
            if now < again {
                return Ok(());
            }
            (self.state.again, self.fresh, self.all) = (None, true, true);
        }
        let planning = self.take_plan(now, outbox)?;
        let undecided = if self.abilities.workflows { self.state.tasks.count_undecided() } else { 0 };
        if !planning && std::mem::take(&mut self.fresh) && self.state.tasks.count_ready() + undecided > 0 {
            self.plan(now, outbox)?;
        }
        self.go_on();
        self.send_planned(now, outbox)?;
        self.begin_granted(now, outbox);
        Ok(())
    }
}
