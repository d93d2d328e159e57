//! The table of the jobs that are in a partition now.

use serde::{Deserialize, Serialize};

use super::checkpoint::Checkpoints;
use crate::model::{EventCause, Job, JobId, JobKey, JobRef, Origin, Outcome, Passed, ProcSet, Size, ready};
use crate::platform::{Amounts, Drawn, ProcTime, Tariff};
use crate::units::{Bytes, Energy, Money, Rate, Span, Time, Work};

/// The phase of a live job.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub enum Phase {
    /// In the queue.
    Waiting,
    /// Its start is decided and takes effect at the end of this instant (only under [`crate::model::InstantOrder::Event`]).
    Starting,
    /// On processors.
    Running,
    /// On its processors still, but it does no work: it writes its memory, and is suspended then.
    Suspending,
    /// Taken off its processors; it keeps the work it has done.
    Suspended,
    /// On processors again, but it does no work yet: it reads its memory, and runs then.
    Resuming,
    /// On other processors than before, but it does no work yet: it adapts to them, and runs then. Those that it has given up are free.
    Reconfiguring,
    /// Stopped where it ran, until all its machines are back; for its policy it has ended.
    Stalled,
    /// It is larger than the present capacity and waits for machines; or it requests a later start, under a policy that does not
    /// support dedicated jobs. Its policy has not been notified of it.
    Ineligible,
}

impl Phase {
    /// Whether a job is in transition: it holds processors and does no work, until a time that is known.
    pub const fn is_transition(self) -> bool {
        matches!(self, Self::Suspending | Self::Resuming | Self::Reconfiguring)
    }

    /// Whether a job is at work on its processors, or in transition. The queue of ends has an entry for it.
    pub const fn is_active(self) -> bool {
        matches!(self, Self::Running) || self.is_transition()
    }

    /// Whether a job keeps others from its processors: it is active, or stalled.
    pub const fn holds(self) -> bool {
        self.is_active() || matches!(self, Self::Stalled)
    }
}

/// What a job has of a partition.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Allocation {
    /// Its processors.
    pub procs: ProcSet,
    /// Its share of the time of each.
    pub share: Rate,
    /// The part of its rate that it keeps on these processors: [`Rate::FULL`] of all.
    pub efficiency: Rate,
}

impl Allocation {
    /// That of a job that has not started.
    pub(super) fn none() -> Self {
        Self { procs: ProcSet::new(), share: Rate::FULL, efficiency: Rate::FULL }
    }
}

/// The exit of a job from a partition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Exit {
    /// The job.
    pub job: JobRef,
    /// Its number at the portal, if it was submitted there.
    pub number: Option<u64>,
    /// The number of its assignment, likewise; otherwise 0.
    pub assignment: u32,
    /// The output that it leaves for the portal: none unless it has completed.
    pub output: Bytes,
    /// The start of its first attempt, here or elsewhere.
    pub start: Option<Time>,
    /// The start of its last attempt, likewise.
    pub last_start: Option<Time>,
    /// The number of attempts that were started.
    pub attempts: u32,
    /// Energy charged to it; of a job that returns, its own data says it.
    pub energy: Energy,
    /// Money charged to it, likewise.
    pub cost: Money,
    /// When the tasks that it consists of began and ended, if it is a group.
    pub passed: Box<[Passed]>,
    /// How it left.
    pub how: ExitKind,
}

/// How a job left a partition.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ExitKind {
    /// It has ended, and its record is written.
    Ended(Outcome),
    /// A grid job returns to the broker, which may assign it to another site. It has no record yet.
    Returned {
        /// The job, with the data that it carries brought up to date.
        job: Box<Job>,
        /// The cause of its return.
        why: EventCause,
    },
}

/// A job that waits, runs, is suspended or is stalled, as its partition keeps it.
///
/// The getters give what a scheduler may know; how long the job will really run is not public.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LiveJob {
    pub(super) job: Job,
    pub(super) origin: Origin,
    pub(super) seq: u64,
    pub(super) phase: Phase,
    /// Processors of the preferred size, in whole blocks.
    pub(super) procs: u32,
    pub(super) estimate: Span,
    /// What it has now (on processors) or had last (suspended).
    pub(super) allocation: Allocation,
    pub(super) held: u32,
    /// Those of them that nobody gets after it, because their machines drain.
    pub(super) leaving: u32,
    /// The number of processors that it was given last, whether or not it still holds them.
    pub(super) given: u32,
    /// Its rate; none in transition.
    pub(super) rate: Rate,
    pub(super) since: Time,
    /// When its transition ends, if it is in one.
    pub(super) until: Time,
    /// What is left of a transition that a failure of its machine has interrupted.
    pub(super) rest: Option<(Phase, Span)>,
    /// Whether a reservation is kept for it: it waits for that, or runs on its processors, and its policy does not know of it.
    pub(super) claims: bool,
    /// How often it has been suspended here, and since when it has done no work.
    pub(super) suspensions: u32,
    pub(super) stopped: Time,
    /// Time that it has done work, up to `since`; see [`LiveJob::ran`].
    pub(super) ran: Span,
    pub(super) first_start: Option<Time>,
    pub(super) done: Work,
    /// Work after which the attempt ends: all of it, or as much as the estimate allows.
    pub(super) target: Work,
    /// Work that the estimate covers.
    pub(super) estimated: Work,
    pub(super) expected_end: Time,
    /// When it ends, or its transition.
    pub(super) end: Time,
    /// The number of the valid entry in the end queue.
    pub(super) end_seq: u64,
    pub(super) attempts: u32,
    pub(super) proc_time: ProcTime,
    /// Processor time weighed for the price; see [`crate::platform::Tariff::charge`].
    pub(super) charge: ProcTime,
    /// What it drew since prices or power last changed.
    pub(super) drawn: Option<Box<Drawn>>,
    /// What the meters of its machines read when it last began to run, where power goes by load; see [`super::loads::Loads`].
    pub(super) base: Option<Box<Drawn>>,
    pub(super) energy: Energy,
    /// What the present attempt drew beyond what its machines draw idle, in 2⁻²⁰ nanojoules.
    pub(super) dynamic: u128,
    pub(super) cost: Money,
    /// How many commands of its workload have been taken. A job that is saved or returns has only those to come.
    #[serde(skip)]
    pub(super) taken: u32,
    /// Earlier attempts and checkpoints, for the few jobs that have any.
    pub(super) past: Option<Box<Past>>,
}

/// The earlier attempts of a job, and the checkpoints of its present attempt.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Past {
    /// Progress that checkpoints of earlier attempts hold.
    pub(super) kept: Work,
    /// Energy charged for earlier attempts.
    pub(super) energy: Energy,
    /// The part of it beyond what machines draw idle.
    pub(super) dynamic: Energy,
    /// Money charged for earlier attempts.
    pub(super) cost: Money,
    /// When the last attempt failed, if one did and no other has started since.
    pub(super) failed_at: Option<Time>,
    /// When the present attempt started; `None` if it is the first.
    pub(super) restart: Option<Time>,
    /// The checkpoints of the present attempt; while the job waits, as far as they can be foreseen.
    pub(super) checkpoints: Option<Checkpoints>,
    /// Processor time of the present attempt that was spent on writing them, and in transition.
    pub(super) overhead: ProcTime,
    /// Other processor time of the present attempt, up to the last checkpoint that was finished.
    pub(super) secured: ProcTime,
    /// What the present attempt was charged under earlier prices.
    pub(super) charged: Option<Charged>,
    /// Whether it has marks on its way.
    pub(super) has_marks: bool,
    /// Work of the present attempt after which it fails by itself, if it does.
    pub(super) fails_at: Option<Work>,
    /// The part of [`LiveJob::ran`] that earlier attempts have left to the present one.
    pub(super) ran: Span,
}

/// What an attempt was charged before prices or power changed.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Charged {
    pub(super) drawn: Amounts,
    pub(super) cost: Money,
}

impl LiveJob {
    /// What its present attempt drew beyond what its machines draw idle, rounded down.
    pub(super) const fn dynamic_energy(&self) -> Energy {
        Energy::from_nanojoules(self.dynamic >> Rate::BITS)
    }

    /// What its present attempt drew, what that cost and the carbon that it caused.
    pub(super) fn amounts(&self, tariff: &Tariff) -> Amounts {
        let mut drawn = self.drawn.as_ref().map(|drawn| tariff.amounts(drawn)).unwrap_or_default();
        if let Some(charged) = self.past.as_ref().and_then(|past| past.charged) {
            drawn += charged.drawn;
        }
        drawn
    }

    /// Processors × estimate: its part of the backlog, in processor-microseconds.
    pub(super) fn area(&self) -> u128 {
        u128::from(self.procs) * u128::from(self.estimate.micros())
    }

    /// The start of its last attempt.
    pub(super) fn last_start(&self) -> Option<Time> {
        self.past.as_ref().and_then(|past| past.restart).or(self.first_start)
    }

    /// Its number in the workload.
    pub fn id(&self) -> JobId {
        self.job.id
    }

    /// Its place in the order of arrival at the partition. Unique and never reused.
    pub fn seq(&self) -> u64 {
        self.seq
    }

    /// Whether a reservation is kept for it: it waits for that, or runs on its processors. Its policy is not notified of it.
    pub fn has_reservation(&self) -> bool {
        self.claims
    }

    /// When it was submitted.
    pub fn submit(&self) -> Time {
        self.job.submit
    }

    /// Its requested start, if it is a dedicated job.
    pub fn requested_start(&self) -> Option<Time> {
        self.job.requested_start
    }

    /// When it could first start: its submission, or its requested start.
    pub fn ready(&self) -> Time {
        ready(self.job.submit, self.job.requested_start)
    }

    /// Its requested size, as its workload states it.
    pub fn size(&self) -> &Size {
        &self.job.size
    }

    /// User number, −1 if unknown.
    pub fn user(&self) -> i32 {
        self.job.user
    }

    /// Processors of its preferred size, in whole allocation blocks.
    pub fn procs(&self) -> u32 {
        self.procs
    }

    /// Its estimated run time on its preferred size here, without sharing.
    pub fn estimate(&self) -> Span {
        self.estimate
    }

    /// Its phase.
    pub fn phase(&self) -> Phase {
        self.phase
    }

    /// When it first started, at any site.
    pub fn first_start(&self) -> Option<Time> {
        self.first_start
    }

    /// Attempts that have begun, at all sites.
    pub fn attempts(&self) -> u32 {
        self.attempts
    }

    /// Since when it runs as it does now, or is in transition: the start of the segment that has not been recorded yet.
    pub fn since(&self) -> Time {
        self.since
    }

    /// Processors it holds, also in transition; if it is suspended, those it held last; if it is stalled, those it waits for.
    pub fn placement(&self) -> &ProcSet {
        &self.allocation.procs
    }

    /// The number of processors it holds now and will release to others: those of machines that drain are not among them.
    pub fn held(&self) -> u32 {
        self.held.saturating_sub(self.leaving)
    }

    /// Its share of the time of its processors.
    pub fn share(&self) -> Rate {
        self.allocation.share
    }

    /// When it ends if its estimate is right and its rate stays the same; in the past if it is overdue. While it is being suspended, when it releases its
    /// processors; while it resumes, what is left of that counts. [`Time::NEVER`] unless it runs or is in transition.
    pub fn expected_end(&self) -> Time {
        self.expected_end
    }
}

/// A slab: dense keys; the one freed last is reused first.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Table {
    slots: Vec<Option<LiveJob>>,
    free: Vec<JobKey>,
}

impl Table {
    #[inline]
    pub(super) fn insert(&mut self, job: LiveJob) -> JobKey {
        if let Some(key) = self.free.pop() {
            self.slots[key.index()] = Some(job);
            key
        } else {
            let key =
                JobKey(u32::try_from(self.slots.len()).expect("fewer than 2^32 jobs at once fit in memory"));
            self.slots.push(Some(job));
            key
        }
    }

    pub(super) fn remove(&mut self, key: JobKey) {
        if let Some(slot) = self.slots.get_mut(key.index()).filter(|slot| slot.is_some()) {
            *slot = None;
            self.free.push(key);
        }
    }

    /// Removes a job and returns it.
    pub(super) fn take(&mut self, key: JobKey) -> Option<LiveJob> {
        let job = self.slots.get_mut(key.index())?.take()?;
        self.free.push(key);
        Some(job)
    }

    pub(super) fn get(&self, key: JobKey) -> Option<&LiveJob> {
        self.slots.get(key.index())?.as_ref()
    }

    pub(super) fn get_mut(&mut self, key: JobKey) -> Option<&mut LiveJob> {
        self.slots.get_mut(key.index())?.as_mut()
    }

    pub(super) fn len(&self) -> usize {
        self.slots.len() - self.free.len()
    }

    pub(super) fn iter_mut(&mut self) -> impl Iterator<Item = &mut LiveJob> {
        self.slots.iter_mut().filter_map(Option::as_mut)
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = (JobKey, &LiveJob)> {
        self.slots.iter().enumerate().filter_map(|(at, job)| Some((JobKey(at as u32), job.as_ref()?)))
    }
}
