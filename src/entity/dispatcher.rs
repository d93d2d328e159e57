//! The dispatcher: carries out the broker's plan.

mod held;
mod lost;
mod transfers;
mod waits;

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use self::held::Held;
use self::transfers::Staging;
use self::waits::Waits;
use super::broker::{is_recalled, of_job, record_given_up, rest, task, unplaced};
use super::faults::AllFaults;
use super::mailbox::{Mailbox, Moments};
use super::{Address, EndedJob, EntityError, Outbox, Quiescence, Stamp, ToBroker, ToDispatcher};
use crate::model::{
    BrokerSpec, EventCause, EventKind, EventRecord, Job, Outcome, PartitionId, PoolId, Record, RecordSink,
    RejectReason, SiteId, TaskId,
};
use crate::platform::{FaultTurn, SiteFaults};
use crate::units::{Bytes, Span, Time};

/// Stages input, submits jobs, stages output, holds back jobs that a site may not have yet, and retries jobs that came back.
///
/// A job assigned to a site goes through these stages: it is held until the site may have it (if the number of its grid jobs is
/// limited); its input is transferred; it is dispatched, one after the other if each dispatch takes time; then it is at the site
/// until the site sends a notification.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Dispatcher {
    spec: BrokerSpec,
    /// How long a message to each site takes.
    latency: Vec<Span>,
    mail: Mailbox<ToDispatcher>,
    /// Grid jobs that each site has: from their admission until the site reports that they have ended or returned.
    at_site: Vec<u32>,
    /// Jobs that are assigned, but held back until the site may have more.
    held: Held,
    /// Transfers in progress, by number.
    staging: BTreeMap<u64, Staging>,
    next_transfer: u64,
    /// Jobs to be dispatched, in order, with the instant at which the dispatch of each is done.
    outgoing: VecDeque<(Time, Box<Job>, PoolId)>,
    busy_until: Time,
    /// The present assignments of jobs that were sent to a site which has not notified the dispatcher of them since.
    sent: BTreeMap<TaskId, Sent>,
    /// Jobs that came back and rest before they are planned again.
    resting: Waits,
    /// When to check again which held jobs may go, because the limit allows more.
    again: Option<Stamp>,
    /// The faults between it and each site.
    #[serde(skip)]
    faults: AllFaults,
    /// How many of their turns have been carried out.
    turned: usize,
    /// When the last message of those that faults hold up arrives.
    landing: Time,
    done: u64,
    last: Time,
    tally: DispatchTally,
}

/// An assignment that was sent to its site.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Sent {
    site: SiteId,
    assignment: u32,
    /// Whether it is taken as lost. Nobody hears of it again but for what is left of its job.
    lost: bool,
    /// The job, if no site has it any more, or ever will under this assignment. The dispatcher does not know.
    rest: Option<Box<Job>>,
}

impl Sent {
    /// Whether a message from this site about this assignment is about it.
    fn is(&self, site: SiteId, assignment: u32) -> bool {
        (self.site, self.assignment) == (site, assignment) && self.rest.is_none()
    }
}

/// Where the dispatcher has a job that is at no site.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Whereabouts {
    /// Assigned to the site, which already has as many grid jobs as it may.
    Held(SiteId),
    /// Its input is being transferred to the site.
    Input(SiteId),
    /// It waits for its dispatch to the site, which takes time for each job, one after the other.
    Outgoing(SiteId),
    /// It came back, and rests before it is planned again.
    Resting,
    /// Its assignment to the site is over, and the dispatcher has not found out.
    Lost(SiteId),
}

/// Counts of the dispatcher.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct DispatchTally {
    /// Jobs sent to sites; each dispatch counts.
    pub dispatched: u64,
    /// Jobs that came back without having ended.
    pub returned: u64,
    /// Returned jobs that the broker had recalled.
    pub recalled: u64,
    /// Jobs given up because their retries were used up.
    pub given_up: u64,
    /// Transfers of data.
    pub transfers: u64,
    /// Data moved.
    pub moved: u128,
    /// Most jobs held back for one site.
    pub longest_hold: u64,
    /// Messages about assignments that were not the present ones.
    pub stale: u64,
    /// Assignments that were taken as lost.
    pub lost: u64,
}

/// The number of the assignment of a job.
fn assignment(job: &Job) -> u32 {
    job.grid.as_ref().map_or(0, |grid| grid.assignment)
}

impl Dispatcher {
    /// A dispatcher for sites with these message latencies and faults.
    pub fn new(spec: BrokerSpec, latency: Vec<Span>, faults: Vec<Option<Arc<SiteFaults>>>) -> Self {
        let sites = latency.len();
        Self {
            spec,
            latency,
            mail: Mailbox::default(),
            at_site: vec![0; sites],
            held: Held::new(sites),
            staging: BTreeMap::new(),
            next_transfer: 0,
            outgoing: VecDeque::new(),
            busy_until: Time::ZERO,
            sent: BTreeMap::new(),
            resting: Waits::default(),
            again: None,
            faults: AllFaults::of(faults, |turn| {
                matches!(turn, FaultTurn::Lost | FaultTurn::Unheard | FaultTurn::Heard)
            }),
            turned: 0,
            landing: Time::ZERO,
            done: 0,
            last: Time::ZERO,
            tally: DispatchTally::default(),
        }
    }

    /// Counts so far.
    pub fn tally(&self) -> DispatchTally {
        self.tally
    }

    /// Where the dispatcher has a task, if it has it. What is held back or at a site is found by its number; only a task that is here in
    /// another stage is searched for.
    pub fn whereabouts(&self, wanted: TaskId) -> Option<Whereabouts> {
        if let Some(sent) = self.sent.get(&wanted) {
            return sent.rest.as_ref().map(|_| Whereabouts::Lost(sent.site));
        }
        if let Some(site) = self.held.site(wanted) {
            return Some(Whereabouts::Held(site));
        }
        let is_it = |job: &Job| task(job) == wanted;
        let staged = || {
            self.staging.values().find_map(|staging| match staging {
                Staging::Input { job, pool, .. } if is_it(job) => Some(pool.site),
                _ => None,
            })
        };
        let outgoing = || self.outgoing.iter().find(|(_, job, _)| is_it(job)).map(|(.., pool)| pool.site);
        staged()
            .map(Whereabouts::Input)
            .or_else(|| outgoing().map(Whereabouts::Outgoing))
            .or_else(|| self.resting.jobs().any(is_it).then_some(Whereabouts::Resting))
    }

    /// Grid jobs that the site has: from their admission until the site reports that they have ended or returned.
    pub fn at_site(&self, site: SiteId) -> u32 {
        self.at_site.get(site.index()).copied().unwrap_or(0)
    }

    /// Ends the run: jobs that are here end as unfinished.
    pub fn close(&mut self, now: Time, sink: &mut dyn RecordSink) {
        let on_their_way = self.close_mail();
        let staging = std::mem::take(&mut self.staging).into_values().filter_map(|staging| match staging {
            Staging::Input { job, .. } => Some(job),
            // The job itself has ended and is recorded.
            Staging::Output { .. } => {
                self.done += 1;
                None
            }
        });
        let outgoing = std::mem::take(&mut self.outgoing).into_iter().map(|(_, job, _)| job);
        let held = std::mem::take(&mut self.held).into_jobs();
        let resting = std::mem::take(&mut self.resting).into_jobs();
        let mut left: Vec<Box<Job>> =
            staging.chain(outgoing).chain(held).chain(resting).chain(on_their_way).collect();
        left.sort_by_key(|job| task(job));
        for job in left {
            self.done += 1;
            sink.record(Record::Job(unplaced(&job, Outcome::Unfinished, now)));
        }
    }

    /// Restores the state of a dispatcher of the same grid. With `adopt`, latencies and the broker's settings may change from
    /// that moment on.
    ///
    /// # Errors
    /// [`EntityError::BadSave`] if the state does not fit.
    pub fn restore(&mut self, saved: Self, adopt: Option<Stamp>) -> Result<(), EntityError> {
        if saved.latency.len() != self.latency.len() {
            return Err(self.bad_save("it was saved with another number of sites"));
        }
        if adopt.is_none() && (&saved.spec, &saved.latency) != (&self.spec, &self.latency) {
            return Err(self.bad_save("it was saved with other settings of the broker, or other latencies"));
        }
        let (spec, latency) = (self.spec.clone(), std::mem::take(&mut self.latency));
        let faults = std::mem::take(&mut self.faults);
        let more = spec.in_flight != saved.spec.in_flight && saved.held.jobs().next().is_some();
        *self = Self { spec, latency, faults, ..saved };
        if let Some(now) = adopt.filter(|_| more) {
            self.again = Some(now);
        }
        Ok(())
    }

    fn notify_broker(&mut self, now: Stamp, letter: ToBroker, outbox: &mut dyn Outbox) {
        self.send(Address::Broker, now, Span::ZERO, letter, outbox);
    }

    /// Notifies the broker when a job reaches its site; `None` while it is held back.
    fn notify_sent(&mut self, job: &Job, arrival: Option<Stamp>, now: Stamp, outbox: &mut dyn Outbox) {
        self.notify_broker(now, ToBroker::Sent { task: task(job), arrival }, outbox);
    }

    /// Whether the site may have another grid job.
    fn has_room(&self, site: SiteId) -> bool {
        self.spec.in_flight.is_none_or(|most| self.at_site[site.index()] < most)
    }

    fn handle_one(&mut self, letter: ToDispatcher, now: Stamp, outbox: &mut dyn Outbox) {
        match letter {
            ToDispatcher::Assign { job, pool } => {
                let is_part = job.grid.as_ref().is_some_and(|grid| grid.part.is_some());
                // What is reserved for a part does not wait.
                if is_part || self.has_room(pool.site) && self.held.count(pool.site) == 0 {
                    self.admit(job, pool, now, true, outbox);
                } else {
                    self.notify_sent(&job, None, now, outbox);
                    self.held.push(pool.site, job);
                    let length = self.held.count(pool.site) as u64;
                    self.tally.longest_hold = self.tally.longest_hold.max(length);
                }
            }
            ToDispatcher::Abort { task } => self.abort(task, now, outbox),
            ToDispatcher::Recall { task, queued } => self.recall(task, queued, now, outbox),
            ToDispatcher::Transferred { id } => self.transferred(id, now, outbox),
            ToDispatcher::Ended { site, assignment, ended } => {
                self.last = now.time;
                if !self.left(ended.task, site, assignment, now, outbox) {
                    return self.stale(ended.job, site, now, outbox);
                }
                // Output is transferred only from the site where the job ran, and only if the job has completed.
                let EndedJob { job, outcome, output, .. } = ended;
                if outcome == Outcome::Completed && output > Bytes::ZERO {
                    let pool = PoolId { site, partition: PartitionId::default() };
                    let staging = Staging::Output { job, attempt: 0, pool, since: now.time };
                    self.transfer(staging, site.0 + 1, 0, output, now, outbox);
                } else {
                    self.done += 1;
                }
                self.notify_broker(now, ToBroker::Ended(ended), outbox);
            }
            ToDispatcher::Returned { site, job, why } => {
                if !self.left(task(&job), site, assignment(&job), now, outbox) {
                    return self.stale(job.id, site, now, outbox);
                }
                self.came_back(job, why, now, outbox);
            }
            ToDispatcher::Remains { site, job } => self.remains(job, site, now, outbox),
        }
    }

    /// Admits a job to its site: its input is staged, or it is dispatched. `prompt` if it has just been assigned.
    fn admit(&mut self, job: Box<Job>, pool: PoolId, now: Stamp, prompt: bool, outbox: &mut dyn Outbox) {
        self.at_site[pool.site.index()] += 1;
        let input = job.grid.as_ref().map_or(Bytes::ZERO, |grid| grid.input);
        if input > Bytes::ZERO {
            if prompt {
                self.notify_sent(&job, None, now, outbox);
            }
            let staging = Staging::Input { job, pool, since: now.time };
            self.transfer(staging, 0, pool.site.0 + 1, input, now, outbox);
        } else {
            self.queue_out(job, pool, now, prompt, outbox);
        }
    }

    /// Queues a job for its dispatch, behind those before it.
    fn queue_out(&mut self, job: Box<Job>, pool: PoolId, now: Stamp, prompt: bool, outbox: &mut dyn Outbox) {
        if self.spec.overhead.is_zero() {
            self.send_out(job, pool, now, !prompt, outbox);
            return;
        }
        self.busy_until = self.busy_until.max(now.time) + self.spec.overhead;
        let arrival = Stamp::at(self.busy_until).after(self.latency[pool.site.index()]);
        self.notify_sent(&job, Some(arrival), now, outbox);
        self.outgoing.push_back((self.busy_until, job, pool));
    }

    fn send_out(&mut self, job: Box<Job>, pool: PoolId, now: Stamp, notify: bool, outbox: &mut dyn Outbox) {
        let latency = self.latency[pool.site.index()];
        if notify {
            self.notify_sent(&job, Some(now.after(latency)), now, outbox);
        }
        if !is_recalled(&job) {
            self.last = now.time;
        }
        self.tally.dispatched += 1;
        self.submit(job, pool.site, now, outbox);
    }

    /// Notes that the job of an assignment has left its site, so that another may go there. False if that is not its present assignment.
    fn left(
        &mut self,
        task: TaskId,
        site: SiteId,
        assignment: u32,
        now: Stamp,
        outbox: &mut dyn Outbox,
    ) -> bool {
        if !self.sent.get(&task).is_some_and(|sent| sent.is(site, assignment)) {
            return false;
        }
        let sent = self.sent.remove(&task);
        if sent.is_some_and(|sent| !sent.lost) {
            self.give_place(site);
            self.fill_places(site, now, outbox);
        }
        true
    }

    /// Notes that a site has a job of the grid less.
    fn give_place(&mut self, site: SiteId) {
        let places = &mut self.at_site[site.index()];
        *places = places.saturating_sub(1);
    }

    /// Admits jobs that are held back, as many as the site may have.
    fn fill_places(&mut self, site: SiteId, now: Stamp, outbox: &mut dyn Outbox) {
        while self.has_room(site) {
            let Some(job) = self.held.pop(site) else { break };
            let pool = PoolId { site, partition: job.partition.unwrap_or_default() };
            self.admit(job, pool, now, false, outbox);
        }
    }

    fn recall(&mut self, task: TaskId, queued: bool, now: Stamp, outbox: &mut dyn Outbox) {
        if let Some(job) = self.held.take(task) {
            self.came_back(job, EventCause::Replanned, now, outbox);
        } else if let Some(sent) = self.sent.get(&task).filter(|_| queued) {
            self.withdraw(task, sent.site, sent.assignment, now, outbox);
        }
    }

    /// Handles a job that has come back without having ended: it rests and is planned again, or is given up.
    fn came_back(&mut self, job: Box<Job>, why: EventCause, now: Stamp, outbox: &mut dyn Outbox) {
        self.tally.returned += 1;
        if why == EventCause::Replanned {
            self.tally.recalled += 1;
            outbox.record(Record::Event(EventRecord {
                kind: EventKind::Recalled,
                cause: why,
                ..of_job(&job, now.time)
            }));
            // The job did not cause this: no assignment is counted, and it does not rest.
            let mut job = job;
            if let Some(grid) = &mut job.grid {
                grid.recalled += 1;
            }
            self.notify_broker(now, ToBroker::Returned { job, why }, outbox);
            return;
        }
        self.last = now.time;
        if why == EventCause::TaskFailed || job.grid.as_ref().is_some_and(|grid| grid.part.is_some()) {
            // The site counts these attempts, and a part that has failed is not tried again.
            return self.notify_broker(now, ToBroker::Returned { job, why }, outbox);
        }
        let used = job.grid.as_ref().map_or(0, |grid| grid.tries());
        if used > self.spec.retries {
            self.give_up(&job, why, now, outbox);
            return;
        }
        let until = now.time + rest(&self.spec, used);
        self.resting.insert(until, job, why);
    }

    fn give_up(&mut self, job: &Job, why: EventCause, now: Stamp, outbox: &mut dyn Outbox) {
        self.tally.given_up += 1;
        self.done += 1;
        let outcome = match why {
            EventCause::Refused(reason) => Outcome::Rejected(reason),
            _ if job.grid.as_ref().is_some_and(|grid| grid.attempts > 0) => Outcome::Failed,
            _ => Outcome::Rejected(RejectReason::NoPool),
        };
        record_given_up(job, why, outcome, now.time, outbox);
        let ended = EndedJob::unplaced(job, outcome, now.time);
        self.notify_broker(now, ToBroker::Ended(ended), outbox);
    }
}

impl Moments for Dispatcher {
    type Letter = ToDispatcher;

    fn address(&self) -> Address {
        Address::Dispatcher
    }

    fn mail(&mut self) -> &mut Mailbox<ToDispatcher> {
        &mut self.mail
    }

    fn next(&self) -> Option<Stamp> {
        let outgoing = self.outgoing.front().map(|(leaves, _, _)| self.mail.own(*leaves));
        let resting = self.resting.next().map(|until| self.mail.own(until));
        let turn = self.faults.next(self.turned).map(|turn| self.mail.own(turn));
        outgoing.into_iter().chain(resting).chain(turn).chain(self.mail.due()).chain(self.again).min()
    }

    fn handle(&mut self, now: Stamp, outbox: &mut dyn Outbox) -> Result<(), EntityError> {
        while let Some((site, turn)) = self.faults.take(&mut self.turned, now.time) {
            self.turn(site, turn, now, outbox);
        }
        while let Some((_, job, pool)) = self.outgoing.pop_front_if(|(leaves, _, _)| *leaves <= now.time) {
            self.send_out(job, pool, now, false, outbox);
        }
        while let Some((job, why)) = self.resting.take(now.time) {
            self.notify_broker(now, ToBroker::Returned { job, why }, outbox);
        }
        while let Some(message) = self.mail.take(now) {
            self.handle_one(message.body, now, outbox);
        }
        if self.again.take_if(|again| *again <= now).is_some() {
            (0..self.latency.len()).for_each(|site| self.fill_places(SiteId(site as u32), now, outbox));
        }
        Ok(())
    }

    fn quiescence(&self) -> Quiescence {
        let self_active = !self.outgoing.is_empty()
            || self.resting.next().is_some()
            || !self.staging.is_empty()
            || self.again.is_some()
            || self.faults.next(self.turned).is_some();
        // A job that had been recalled is in a message for a while after it has been dispatched.
        // Where it is always zero, no look at all sites is necessary.
        let slowest = || self.latency.iter().copied().max().unwrap_or_default();
        let landing = if self.spec.overhead.is_zero() { Time::ZERO } else { self.busy_until + slowest() };
        let landing = landing.max(self.landing);
        Quiescence { done: self.done, last: self.last, landing, self_active, ..Quiescence::default() }
    }
}
