//! Waiting jobs in the order of their priorities, and the parameters of these.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Bound::{Excluded, Unbounded};

use crate::local::{LiveJob, Phase, View};
use crate::model::{JobKey, Named, NamedError, ParamInfo};
use crate::sharing::{Aging, Priorities};
use crate::units::{Span, Time};

/// The key of the classes of run times; each policy has bounds of its own.
pub(super) const CLASSES: &str = "classes";

pub(super) const AGE_EVERY: ParamInfo = ParamInfo {
    key: "age_every",
    values: "a time above 0, or none",
    default: "30 min",
    doc: "after each such time of waiting a job has a higher priority",
};

pub(super) const AGE_BY: ParamInfo =
    ParamInfo { key: "age_by", values: "0 or more", default: "5", doc: "by how much it grows each time" };

pub(super) const AGE_MOST: ParamInfo = ParamInfo {
    key: "age_most",
    values: "0 or more",
    default: "15",
    doc: "up to which priority waiting jobs grow",
};

/// Takes the classes, whose bounds are `default` unless they are given, and the aging out of a name.
///
/// # Errors
/// [`NamedError::BadValue`] if one of them cannot be read, or the bounds do not ascend.
pub(super) fn priorities(named: &mut Named, default: &str) -> Result<Priorities, NamedError> {
    let written: String = named.take(CLASSES, "times")?.unwrap_or_else(|| default.to_owned());
    let bad = |named: &Named, expected: &str| NamedError::bad_value(&named.name, CLASSES, &written, expected);
    let bounds: Result<Vec<Span>, _> = written.split('/').map(str::parse).collect();
    let bounds =
        bounds.map_err(|_| bad(named, &format!("times with slashes between them, such as `{default}`")))?;
    let mut aging = Aging::default();
    let every: Option<String> = named.take(AGE_EVERY.key, "a time")?;
    if let Some(every) = every {
        aging.every = match every.parse() {
            Ok(time) if time > Span::ZERO => time,
            _ if every == "none" => Span::ZERO,
            _ => {
                let expected = "a time above 0, such as `30 min`, or `none`";
                return Err(NamedError::bad_value(&named.name, AGE_EVERY.key, every, expected));
            }
        };
    }
    aging.by = named.take(AGE_BY.key, "a number from 0 on")?.unwrap_or(aging.by);
    aging.most = named.take(AGE_MOST.key, "a number from 0 on")?.unwrap_or(aging.most);
    Priorities::new(bounds, aging).map_err(|error| bad(named, &format!("a list of classes: {error}")))
}

/// Waiting jobs, the highest priority first; of equal ones the one that has waited longest. Without priorities in order of arrival.
///
/// A priority grows at known times, which are kept in order: so nothing is sorted when time passes.
#[derive(Debug)]
pub(super) struct Line {
    priorities: Priorities,
    by_priority: bool,
    order: BTreeMap<Place, JobKey>,
    /// The same for each size.
    by_size: BTreeMap<u32, BTreeMap<Place, JobKey>>,
    places: BTreeMap<JobKey, Waits>,
    /// When the priority of each job grows next, if it does.
    grows: BTreeSet<(Time, JobKey)>,
}

/// A waiting job.
#[derive(Copy, Clone, Debug)]
struct Waits {
    place: Place,
    class: usize,
    size: u32,
    /// When its priority grows next; [`Time::NEVER`] if it does not.
    grows: Time,
}

/// The place of a job.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Place {
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
            by_size: BTreeMap::new(),
            places: BTreeMap::new(),
            grows: BTreeSet::new(),
        }
    }

    /// The jobs that wait now, each with a size to be found by.
    pub(super) fn refill(&mut self, view: &View<'_>, size: impl Fn(&LiveJob) -> u32) {
        self.order.clear();
        self.by_size.clear();
        self.places.clear();
        self.grows.clear();
        view.jobs_in(Phase::Waiting).into_iter().for_each(|job| self.add(job, size(view.job(job)), view));
    }

    /// Adds a job that is found by this size.
    pub(super) fn add(&mut self, job: JobKey, size: u32, view: &View<'_>) {
        let live = view.job(job);
        let (class, seq) = (self.class(live), live.seq());
        let ready = if self.by_priority { live.ready() } else { Time::ZERO };
        self.put(job, (class, size), Place { priority: Reverse(0), ready, seq }, view.now());
    }

    /// Puts a job where its priority places it now.
    fn put(&mut self, job: JobKey, (class, size): (usize, u32), mut place: Place, now: Time) {
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
        self.by_size.entry(size).or_default().insert(place, job);
        self.places.insert(job, Waits { place, class, size, grows });
    }

    /// Removes a job, if it is there.
    pub(super) fn remove(&mut self, job: JobKey) {
        let Some(Waits { place, size, grows, .. }) = self.places.remove(&job) else { return };
        self.order.remove(&place);
        self.grows.remove(&(grows, job));
        if let Some(same) = self.by_size.get_mut(&size) {
            same.remove(&place);
            if same.is_empty() {
                self.by_size.remove(&size);
            }
        }
    }

    /// Moves jobs up whose priority has grown by now.
    pub(super) fn age(&mut self, now: Time) {
        while let Some((_, job)) = self.grows.first().copied().filter(|(time, _)| *time <= now) {
            let Some(Waits { place, class, size, .. }) = self.places.get(&job).copied() else { break };
            self.remove(job);
            self.put(job, (class, size), place, now);
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

    /// The first job behind this place; without one, the first of all.
    pub(super) fn after(&self, place: Option<Place>) -> Option<(Place, JobKey)> {
        let from = place.map_or(Unbounded, Excluded);
        self.order.range((from, Unbounded)).next().map(|(place, job)| (*place, *job))
    }

    /// The first job behind this place whose size is at most `most`. It costs a look at each size.
    pub(super) fn fitting_after(&self, place: Option<Place>, most: u32) -> Option<(Place, JobKey)> {
        let from = place.map_or(Unbounded, Excluded);
        let first = |jobs: &BTreeMap<Place, JobKey>| {
            jobs.range((from, Unbounded)).next().map(|(place, job)| (*place, *job))
        };
        self.by_size.range(..=most).filter_map(|(_, jobs)| first(jobs)).min()
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
