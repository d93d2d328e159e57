//! The jobs that are in a partition now.

use serde::{Deserialize, Serialize};

use super::attempt::Past;
use crate::model::{EventCause, Job, JobId, JobKey, Origin, Outcome, ProcSet, Size, ready};
use crate::platform::ProcTime;
use crate::units::{Bytes, Energy, Money, Rate, Span, Time, Work};

/// Where a live job stands.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Phase {
    /// In the queue.
    Waiting,
    /// Its start is decided and takes effect at the end of this instant (only under [`crate::model::InstantOrder::Event`]).
    Starting,
    /// On processors.
    Running,
    /// Taken off its processors, with work done.
    Suspended,
    /// Stands still where it ran, until all its machines are back; to its policy it has ended.
    Halted,
    /// Larger than what is there now: it waits for machines; or it asks for a later start than now, under a policy that knows no
    /// dedicated jobs. Its policy does not know of it.
    Aside,
}

/// A job that has left a partition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Departed {
    /// Its number.
    pub job: JobId,
    /// Where it had come from: numbers are unique within one origin only.
    pub origin: Origin,
    /// Its number at the portal, if it came through there.
    pub number: Option<u64>,
    /// What it leaves behind for the portal: its output if it has completed.
    pub output: Bytes,
    /// How it left.
    pub how: Gone,
}

/// How a job left a partition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Gone {
    /// For good, and with a record.
    Ended(Outcome),
    /// Only from here: a job of the grid that may be tried elsewhere. There is no record of it yet.
    Returned {
        /// The job, with what it carries brought up to date.
        job: Box<Job>,
        /// Why.
        why: EventCause,
    },
}

/// A job that waits, runs, is suspended or stands still, as its partition keeps it.
///
/// What a scheduler may know is public through the getters; how long the job will really run is not.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LiveJob {
    pub(super) job: Job,
    pub(super) origin: Origin,
    pub(super) seq: u64,
    pub(super) phase: Phase,
    /// Whole blocks for the preferred size.
    pub(super) procs: u32,
    pub(super) estimate: Span,
    /// Held now (running) or held last (suspended).
    pub(super) place: ProcSet,
    pub(super) held: u32,
    /// Processors it was given last, whether or not it still holds them.
    pub(super) given: u32,
    pub(super) share: Rate,
    pub(super) rate: Rate,
    pub(super) since: Time,
    pub(super) first_start: Option<Time>,
    pub(super) done: Work,
    /// Work after which the attempt ends: all of it, or as much as the estimate allows.
    pub(super) target: Work,
    /// Work that the estimate covers.
    pub(super) estimated: Work,
    pub(super) expected_end: Time,
    pub(super) end: Time,
    /// Which entry of the end queue is the valid one.
    pub(super) end_seq: u64,
    pub(super) attempts: u32,
    pub(super) proc_time: ProcTime,
    /// What it counts for the price; see [`crate::platform::Tariff::charge`].
    pub(super) charge: ProcTime,
    pub(super) energy: Energy,
    pub(super) cost: Money,
    /// Earlier attempts and checkpoints, for the few that have any.
    pub(super) past: Option<Box<Past>>,
}

impl LiveJob {
    /// Processors × estimate: its part in the backlog, in processor-microseconds.
    pub(super) fn area(&self) -> u128 {
        u128::from(self.procs) * u128::from(self.estimate.micros())
    }

    /// Number in the workload.
    pub fn id(&self) -> JobId {
        self.job.id
    }

    /// Place in the order of arrival at the partition. Unique and never reused.
    pub fn seq(&self) -> u64 {
        self.seq
    }

    /// When it was submitted.
    pub fn submit(&self) -> Time {
        self.job.submit
    }

    /// The start it asks for, if it is a dedicated job.
    pub fn requested_start(&self) -> Option<Time> {
        self.job.requested_start
    }

    /// When it could first start: its submission, or its requested start.
    pub fn ready(&self) -> Time {
        ready(self.job.submit, self.job.requested_start)
    }

    /// What it asks for, as its workload states it.
    pub fn size(&self) -> &Size {
        &self.job.size
    }

    /// User number, −1 if unknown.
    pub fn user(&self) -> i32 {
        self.job.user
    }

    /// Processors for its preferred size, in whole allocation blocks.
    pub fn procs(&self) -> u32 {
        self.procs
    }

    /// How long it says it runs on its preferred size here, without sharing.
    pub fn estimate(&self) -> Span {
        self.estimate
    }

    /// Where it stands.
    pub fn phase(&self) -> Phase {
        self.phase
    }

    /// When it first started, at whatever site.
    pub fn first_start(&self) -> Option<Time> {
        self.first_start
    }

    /// Attempts that have begun, at whatever site.
    pub fn attempts(&self) -> u32 {
        self.attempts
    }

    /// Since when it runs as it does now: in a segment that has not been recorded yet.
    pub fn since(&self) -> Time {
        self.since
    }

    /// Processors it holds; those it held last if it is suspended, and those it waits for if it stands still.
    pub fn place(&self) -> &ProcSet {
        &self.place
    }

    /// Number of processors it holds now.
    pub fn held(&self) -> u32 {
        self.held
    }

    /// Its share of its processors' time.
    pub fn share(&self) -> Rate {
        self.share
    }

    /// When it ends if its estimate is right and its rate stays; in the past if it is overdue.
    /// [`Time::NEVER`] unless it runs.
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
