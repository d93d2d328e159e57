//! EASY (aggressive) backfilling.

mod order;
mod planned;
mod variants;

use std::collections::BTreeSet;

pub use order::BackfillOrder;
use smallvec::SmallVec;
pub(super) use variants::info;

use crate::local::{
    Actions, Arrivals, Awake, BackfillWindow, Change, Decision, Entry, FactorQueue, LocalPolicy, Phase,
    Queue, Releases, Rule, View,
};
use crate::model::JobKey;
use crate::units::{Span, Time};

/// EASY backfilling. Only the first job in order of arrival holds a reservation.
///
/// The queue ([`Queue`]) and the running jobs ([`Releases`]) are indexed, so that a pass over thousands of waiting jobs looks at
/// few of them; and a pass at which neither the backfill window nor the first job has changed looks at new arrivals only. With
/// reservations in the book it plans on the full [`crate::local::Profile`] instead, which is slower and, without reservations,
/// makes the same decisions (a property test compares the two). It also does so as long as dedicated jobs wait, if it supports
/// them.
#[derive(Debug, Default)]
pub struct Easy {
    order: BackfillOrder,
    arrivals: Arrivals,
    /// Jobs in backfill order, if that is fixed.
    queue: Queue,
    /// The jobs otherwise.
    by_factor: FactorQueue,
    releases: Releases,
    /// Jobs that arrived since the last pass, in order; not yet in `arrivals` and in the `queue`.
    fresh: Vec<Entry>,
    /// The backfill window of the last search; no job that was in the queue then fits into it.
    searched: Option<Searched>,
    planned: bool,
    /// Waiting dedicated jobs, by requested start, if the policy supports them (EASY-D); they are in no other queue.
    dedicated: Option<BTreeSet<(Time, u64, JobKey)>>,
}

#[derive(Copy, Clone, Debug, PartialEq, Eq)]
struct Searched {
    free: u32,
    head: u64,
    shadow: Time,
    extra: u32,
    awake: Awake,
}

impl Easy {
    /// EASY with this order of backfilling.
    pub fn new(order: BackfillOrder) -> Self {
        Self { order, ..Self::default() }
    }

    /// The same policy with support for dedicated jobs (EASY-D): they hold reservations from their requested starts on.
    #[must_use]
    pub fn around_dedicated(mut self) -> Self {
        self.dedicated = Some(BTreeSet::new());
        self
    }

    /// The same policy, planning on the full profile at every pass: the slow reference of the tests.
    #[must_use]
    pub fn planned(mut self) -> Self {
        self.planned = true;
        self
    }

    fn entry(&self, view: &View<'_>, job: JobKey) -> Entry {
        let live = view.job(job);
        let rank = self.order.rank(live);
        Entry { rank, seq: live.seq(), job, procs: live.procs(), estimate: live.estimate() }
    }

    /// Adds an arriving job.
    #[inline]
    fn insert(&mut self, view: &View<'_>, job: JobKey) {
        match (&mut self.dedicated, view.job(job).requested_start()) {
            (Some(dedicated), Some(start)) => {
                dedicated.insert((start, view.job(job).seq(), job));
            }
            _ => self.fresh.push(self.entry(view, job)),
        }
    }

    /// Applies an elastic command to a waiting job, which requested `procs` and `estimate` before and keeps its place in the
    /// order of arrival.
    fn alter(&mut self, view: &View<'_>, job: JobKey, procs: u32, estimate: Span) {
        self.searched = None;
        let entry = self.entry(view, job);
        if let Some(fresh) = self.fresh.iter_mut().find(|fresh| fresh.seq == entry.seq) {
            *fresh = entry;
        } else {
            let rank = self.order.rank_of(procs, estimate);
            if self.dequeue(&Entry { rank, procs, estimate, ..entry }) {
                self.enqueue(view, entry);
            }
        }
    }

    /// Moves the jobs that came since the last pass, and did not start in this one, to the others that wait.
    fn enqueue_fresh(&mut self, view: &View<'_>) {
        for at in 0..self.fresh.len() {
            let entry = self.fresh[at];
            self.arrivals.push(entry.seq, entry.job);
            self.enqueue(view, entry);
        }
        self.fresh.clear();
    }

    /// Adds a job to those that wait.
    fn enqueue(&mut self, view: &View<'_>, entry: Entry) {
        if self.order.is_fixed() {
            self.queue.insert(entry);
        } else {
            self.by_factor.insert(entry, view.job(entry.job).ready());
        }
    }

    /// Removes a job from those that wait. False if it is not there.
    fn dequeue(&mut self, entry: &Entry) -> bool {
        if self.order.is_fixed() {
            self.queue.remove(entry.place()).is_some()
        } else {
            self.by_factor.remove(entry).is_some()
        }
    }

    /// The first waiting job in order of arrival.
    fn head(&mut self, view: &View<'_>) -> Option<Entry> {
        self.arrivals.first(view).map(|job| self.entry(view, job))
    }

    #[inline]
    fn start(&mut self, view: &View<'_>, entry: Entry, actions: &mut Actions) {
        actions.start(entry.job, entry.procs);
        self.releases.insert(view.now() + entry.estimate, entry.job, entry.procs);
    }

    /// Starts jobs in order of arrival while they fit; returns the processors left free, and the first job that does not fit.
    fn start_heads(&mut self, view: &View<'_>, mut free: u32, actions: &mut Actions) -> (u32, Option<Entry>) {
        while let Some(head) = self.head(view) {
            if head.procs > free {
                return (free, Some(head));
            }
            free -= head.procs;
            self.arrivals.pop();
            self.dequeue(&head);
            self.start(view, head, actions);
        }
        // No job was waiting: most arriving jobs then start at once, and never enter the queue.
        let mut started = 0;
        while let Some(first) = self.fresh.get(started).copied().filter(|first| first.procs <= free) {
            free -= first.procs;
            self.start(view, first, actions);
            started += 1;
        }
        self.fresh.drain(..started);
        (free, self.fresh.first().copied())
    }

    /// Backfills around the first job, which does not fit.
    fn backfill(&mut self, view: &View<'_>, free: u32, head: Entry, actions: &mut Actions) {
        let now = view.now();
        let counted = |job| view.ends_now(job);
        let shadow = if free > 0 { self.releases.shadow(now, free, head.procs, counted) } else { None };
        let Some(shadow) = shadow else {
            if let Some(trace) = actions.trace().filter(|_| free > 0) {
                trace.rule = Rule::InOrder { first: Some(head.job) };
            }
            self.searched = None;
            return self.enqueue_fresh(view);
        };
        let awake = view.awake().without(view.free() - free);
        let mut window = BackfillWindow { free, window: shadow.time.since(now), extra: shadow.extra, awake };
        let searched = Searched { free, head: head.seq, shadow: shadow.time, extra: shadow.extra, awake };
        if self.searched == Some(searched) {
            self.backfill_fresh(view, &mut window, actions);
        } else {
            self.enqueue_fresh(view);
            if self.order.is_fixed() {
                self.backfill_queue(&mut window, view, actions);
            } else {
                self.backfill_by_factor(&mut window, view, actions);
            }
        }
        // A refused job stays refused while the window is the same: its length only decreases with time.
        let BackfillWindow { free, extra, awake, .. } = window;
        self.searched = Some(Searched { free, extra, awake, ..searched });
        if let Some(trace) = actions.trace() {
            backfills(trace, window.free, Some(head.job), Some(shadow.time));
        }
    }

    /// Backfills among the jobs that came since the last pass.
    fn backfill_fresh(&mut self, view: &View<'_>, window: &mut BackfillWindow, actions: &mut Actions) {
        // It is almost always one job, and needs no list.
        let in_order = match self.fresh[..] {
            [only] => SmallVec::from_buf([only]),
            _ => {
                let mut several: SmallVec<[Entry; 1]> = SmallVec::from_slice(&self.fresh);
                self.order.sort(view, &mut several);
                several
            }
        };
        for entry in in_order {
            if window.takes(entry.procs, entry.estimate) {
                self.fresh.retain(|other| other.seq != entry.seq);
                window.fill(entry);
                self.start(view, entry, actions);
            }
        }
        self.enqueue_fresh(view);
    }

    /// Backfills in the queue's own order.
    fn backfill_queue(&mut self, window: &mut BackfillWindow, view: &View<'_>, actions: &mut Actions) {
        let mut last = None;
        while window.free > 0
            && let Some(entry) = self.queue.find(last, *window).copied()
        {
            self.queue.remove(entry.place());
            window.fill(entry);
            self.start(view, entry, actions);
            last = Some(entry.place());
        }
    }

    /// Backfills in the order as it is at this instant.
    fn backfill_by_factor(&mut self, window: &mut BackfillWindow, view: &View<'_>, actions: &mut Actions) {
        // A job that did not fit before the last one was taken does not fit now.
        while window.free > 0
            && let Some(entry) = self.by_factor.find(view.now(), *window)
        {
            self.by_factor.remove(&entry);
            window.fill(entry);
            self.start(view, entry, actions);
        }
    }
}

impl BackfillWindow {
    /// Accounts for a job that starts in the window: one that does not end in time uses some of the spare processors at the
    /// shadow time.
    fn fill(&mut self, entry: Entry) {
        self.free -= entry.procs;
        let held = self.awake.holds(entry.procs, entry.estimate);
        self.awake = self.awake.without(entry.procs);
        if held > self.window {
            self.extra -= entry.procs;
        }
    }
}

impl LocalPolicy for Easy {
    fn on(&mut self, change: Change, view: &View<'_>) {
        match change {
            Change::Arrived(job) => self.insert(view, job),
            Change::Altered { job, procs, estimate } => self.alter(view, job, procs, estimate),
            Change::Withdrawn(job) => {
                let live = view.job(job);
                if let (Some(dedicated), Some(start)) = (&mut self.dedicated, live.requested_start()) {
                    dedicated.remove(&(start, live.seq(), job));
                }
                let entry = self.entry(view, job);
                self.dequeue(&entry);
                self.fresh.retain(|other| other.seq != entry.seq);
                self.searched = None;
            }
            _ => {
                self.releases.follow(change, view);
                self.searched = None;
            }
        }
    }

    fn schedule(&mut self, view: &View<'_>, actions: &mut Actions) {
        if self.planned || !view.bookings().is_empty() || self.has_dedicated() {
            self.enqueue_fresh(view);
            self.searched = None;
            return self.schedule_planned(view, actions);
        }
        let (free, head) = self.start_heads(view, view.free(), actions);
        if let Some(trace) = actions.trace() {
            backfills(trace, free, head.map(|head| head.job), None);
        }
        if let Some(head) = head {
            self.backfill(view, free, head, actions);
        }
    }

    fn adopt(&mut self, view: &View<'_>) {
        let dedicated = self.dedicated.as_ref().map(|_| BTreeSet::new());
        *self = Self { planned: self.planned, dedicated, ..Self::new(self.order) };
        view.jobs_in(Phase::Waiting).into_iter().for_each(|job| self.insert(view, job));
        self.enqueue_fresh(view);
        self.releases = Releases::of(view);
    }
}

/// Records the facts of a pass: the processors left free, and the first job that does not fit, with the start of its reservation.
fn backfills(trace: &mut Decision, free: u32, first: Option<JobKey>, shadow: Option<Time>) {
    (trace.free, trace.rule) = (free, Rule::Backfill { first, shadow });
}

/// An estimate as a rank, for orders by estimate.
fn by_estimate(estimate: Span) -> u128 {
    u128::from(estimate.micros())
}
