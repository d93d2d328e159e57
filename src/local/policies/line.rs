//! Waiting jobs in the order of their priorities, and the parameters of these.

use std::collections::{BTreeMap, BTreeSet};

use smallvec::SmallVec;

use crate::local::{BackfillWindow, Entry, LiveJob, Phase, Place, Queue, View};
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
    /// All jobs, found by each of what they may request. Ranks are the priorities, and since when jobs wait: also at the broker, and in earlier attempts.
    queues: Vec<Queue>,
    waiting: BTreeMap<JobKey, Waits>,
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

/// How many processors a waiting job is to start on, and how long it has them at the most.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(super) struct Request {
    pub(super) procs: u32,
    pub(super) span: Span,
}

/// What a job may request: the same number of requests for each job of a line.
pub(super) type Requests = SmallVec<[Request; 3]>;

impl Request {
    /// What it asks for itself.
    pub(super) fn own(live: &LiveJob) -> Requests {
        SmallVec::from_iter([Self { procs: live.procs(), span: live.estimate() }])
    }
}

impl Line {
    /// A line of jobs that may request so many things.
    pub(super) fn new(priorities: Priorities, by_priority: bool, requests: usize) -> Self {
        let queues = vec![Queue::new(); requests];
        Self { priorities, by_priority, queues, waiting: BTreeMap::new(), grows: BTreeSet::new() }
    }

    /// The jobs that wait now, and what each may request.
    pub(super) fn refill(&mut self, view: &View<'_>, requests: impl Fn(&LiveJob) -> Requests) {
        self.queues.fill(Queue::new());
        self.waiting.clear();
        self.grows.clear();
        for job in view.jobs_in(Phase::Waiting) {
            self.add(job, &requests(view.job(job)), view);
        }
    }

    /// Adds a job that may request these.
    pub(super) fn add(&mut self, job: JobKey, requests: &[Request], view: &View<'_>) {
        let live = view.job(job);
        let ready = if self.by_priority { live.ready() } else { Time::ZERO };
        let (rank, seq) = self.place(job, (ready, live.seq()), self.class(live), view.now());
        for (queue, Request { procs, span }) in self.queues.iter_mut().zip(requests) {
            queue.insert(Entry { rank, seq, job, procs: *procs, estimate: *span });
        }
    }

    /// The place of a job of this class, which waits since then, and when it has another one.
    fn place(&mut self, job: JobKey, (ready, seq): (Time, u64), class: usize, now: Time) -> Place {
        let (mut priority, mut grows) = (0, Time::NEVER);
        if self.by_priority {
            let waited = now.since(ready);
            priority = self.priorities.of(class, waited);
            let after = self.priorities.grows_after(class, waited);
            if let Some(time) = after.and_then(|after| ready.checked_add(after)) {
                grows = time;
                self.grows.insert((grows, job));
            }
        }
        let place = (rank(priority, ready), seq);
        self.waiting.insert(job, Waits { place, class, grows });
        place
    }

    /// Removes a job, if it is there.
    pub(super) fn remove(&mut self, job: JobKey) {
        let Some(Waits { place, grows, .. }) = self.waiting.remove(&job) else { return };
        self.grows.remove(&(grows, job));
        for queue in &mut self.queues {
            queue.remove(place);
        }
    }

    /// Moves jobs up whose priority has grown by now.
    pub(super) fn age(&mut self, now: Time) {
        while let Some((time, job)) = self.grows.first().copied().filter(|(time, _)| *time <= now) {
            self.grows.remove(&(time, job));
            let Some(Waits { place, class, .. }) = self.waiting.get(&job).copied() else { break };
            let (rank, seq) = self.place(job, (ready(place.0), place.1), class, now);
            for queue in &mut self.queues {
                if let Some(entry) = queue.remove(place) {
                    queue.insert(Entry { rank, seq, ..entry });
                }
            }
        }
    }

    /// When a priority grows next.
    pub(super) fn grows_at(&self) -> Option<Time> {
        self.grows.first().map(|(time, _)| *time)
    }

    /// The first job.
    pub(super) fn first(&self) -> Option<JobKey> {
        self.queues.first()?.first().map(|first| first.job)
    }

    /// The jobs in order.
    pub(super) fn jobs(&self) -> impl Iterator<Item = JobKey> {
        self.queues.iter().take(1).flat_map(Queue::iter).map(|entry| entry.job)
    }

    /// The first job behind this place; without one, the first of all.
    pub(super) fn after(&self, place: Option<Place>) -> Option<(Place, JobKey)> {
        self.fitting_after(place, 0, BackfillWindow::ANY)
    }

    /// The first job behind this place that fits into a window with the request of this number.
    pub(super) fn fitting_after(
        &self,
        place: Option<Place>,
        request: usize,
        window: BackfillWindow,
    ) -> Option<(Place, JobKey)> {
        self.queues.get(request)?.find(place, window).map(|entry| (entry.place(), entry.job))
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

/// The rank of a job: the highest priority first, then since when it waits.
fn rank(priority: u32, ready: Time) -> u128 {
    u128::from(u32::MAX - priority) << u64::BITS | u128::from(ready.micros())
}

/// Since when a job of this rank waits.
const fn ready(rank: u128) -> Time {
    Time::from_micros(rank as u64)
}
