//! Waiting jobs in the order of their priorities.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use crate::local::{LiveJob, Phase, View};
use crate::model::JobKey;
use crate::sharing::Priorities;
use crate::units::{Span, Time};

/// Waiting jobs, the highest priority first; of equal ones the one that has waited longest. Without priorities in order of arrival.
///
/// A priority grows at known times, which are kept in order: so nothing is sorted when time passes.
#[derive(Debug)]
pub(super) struct Line {
    priorities: Priorities,
    by_priority: bool,
    order: BTreeMap<Place, JobKey>,
    places: BTreeMap<JobKey, Waits>,
    /// When the priority of each job grows next, if it does.
    grows: BTreeSet<(Time, JobKey)>,
}

/// A waiting job.
#[derive(Copy, Clone, Debug)]
struct Waits {
    place: Place,
    class: usize,
    /// When its priority grows next; [`Time::NEVER`] if it does not.
    grows: Time,
}

/// The place of a job.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Place {
    priority: Reverse<u32>,
    /// Since when it waits: also at the broker, and in earlier attempts.
    ready: Time,
    seq: u64,
}

impl Line {
    pub(super) fn new(priorities: Priorities, by_priority: bool) -> Self {
        Self {
            priorities,
            by_priority,
            order: BTreeMap::new(),
            places: BTreeMap::new(),
            grows: BTreeSet::new(),
        }
    }

    /// The jobs that wait now.
    pub(super) fn refill(&mut self, view: &View<'_>) {
        self.order.clear();
        self.places.clear();
        self.grows.clear();
        view.jobs_in(Phase::Waiting).into_iter().for_each(|job| self.add(job, view));
    }

    /// Adds a job.
    pub(super) fn add(&mut self, job: JobKey, view: &View<'_>) {
        let live = view.job(job);
        let (class, seq) = (self.class(live), live.seq());
        let ready = if self.by_priority { live.ready() } else { Time::ZERO };
        self.put(job, class, Place { priority: Reverse(0), ready, seq }, view.now());
    }

    /// Puts a job where its priority places it now.
    fn put(&mut self, job: JobKey, class: usize, mut place: Place, now: Time) {
        let mut grows = Time::NEVER;
        if self.by_priority {
            let waited = now.since(place.ready);
            place.priority = Reverse(self.priorities.of(class, waited));
            let after = self.priorities.grows_after(class, waited);
            if let Some(time) = after.and_then(|after| place.ready.checked_add(after)) {
                grows = time;
                self.grows.insert((grows, job));
            }
        }
        self.order.insert(place, job);
        self.places.insert(job, Waits { place, class, grows });
    }

    /// Removes a job, if it is there.
    pub(super) fn remove(&mut self, job: JobKey) {
        let Some(Waits { place, grows, .. }) = self.places.remove(&job) else { return };
        self.order.remove(&place);
        self.grows.remove(&(grows, job));
    }

    /// Moves jobs up whose priority has grown by now.
    pub(super) fn age(&mut self, now: Time) {
        while let Some((_, job)) = self.grows.first().copied().filter(|(time, _)| *time <= now) {
            let Some(Waits { place, class, .. }) = self.places.get(&job).copied() else { break };
            self.remove(job);
            self.put(job, class, place, now);
        }
    }

    /// When a priority grows next.
    pub(super) fn grows_at(&self) -> Option<Time> {
        self.grows.first().map(|(time, _)| *time)
    }

    /// The first job.
    pub(super) fn first(&self) -> Option<JobKey> {
        self.order.first_key_value().map(|(_, job)| *job)
    }

    /// The jobs in order.
    pub(super) fn jobs(&self) -> impl Iterator<Item = JobKey> {
        self.order.values().copied()
    }

    /// The priority of a job that does not wait any more: that of its class, without its age.
    pub(super) fn priority(&self, live: &LiveJob) -> u32 {
        if self.by_priority { self.priorities.of(self.class(live), Span::ZERO) } else { 0 }
    }

    /// The class of a job by its estimate here.
    pub(super) fn class(&self, live: &LiveJob) -> usize {
        self.priorities.class(live.estimate())
    }
}
