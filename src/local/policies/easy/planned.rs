//! The pass of EASY by its definition, on the full profile: needed with reservations, of the book or of dedicated jobs.
//!
//! EASY-D (Kumar, Shae and Jamjoom 2012 name it in Table III and do not define it): a dedicated job holds a reservation at its
//! requested start, or as soon after as enough processors are free, in the order of these starts. Once its start has come and it
//! does not fit, it is at the head of the queue, before those with a later start, as in LOS-D.

use super::{Easy, backfills};
use crate::local::{Actions, Awake, BackfillWindow, Entry, ProfileAhead, View};
use crate::units::{Span, Time};

/// The free processors, now and later, of a pass that plans.
struct Room<'a> {
    profile: ProfileAhead<'a>,
    now: Time,
    free: u32,
    awake: Awake,
}

impl<'a> Room<'a> {
    fn new(view: &View<'a>) -> Self {
        Self { profile: view.profile_ahead(), now: view.now(), free: view.free(), awake: view.awake() }
    }

    /// Starts a job if it fits.
    fn start(&mut self, entry: Entry) -> bool {
        let held = self.awake.holds(entry.procs, entry.estimate);
        let fits = entry.procs <= self.free && self.profile.fits(self.now, held, entry.procs);
        if fits {
            self.free -= entry.procs;
            self.awake = self.awake.without(entry.procs);
            self.profile.reserve(self.now, self.now + held, entry.procs);
        }
        fits
    }

    /// Reserves processors for a job as soon as enough are free from `from` on; returns the start of the reservation.
    fn reserve(&mut self, from: Time, entry: Entry) -> Option<Time> {
        // What fits now by its processors waits for room in which machines can wake up, too.
        let now = from == self.now && entry.procs <= self.free;
        let held = if now { self.awake.holds(entry.procs, entry.estimate) } else { entry.estimate };
        let start = self.profile.earliest(from, held, entry.procs)?;
        self.profile.reserve(start, start + held, entry.procs);
        Some(start)
    }

    /// A window that takes every job that fits, and others: one that still runs at `shadow`, or at an instant before it, has its processors from now until then.
    fn window(&self, shadow: Option<Time>) -> BackfillWindow {
        let Self { now, free, .. } = *self;
        let (window, extra) = match shadow {
            Some(shadow) => {
                let (until, least) = self.profile.least(now, shadow);
                (until.since(now), least)
            }
            None => (Span::MAX, 0),
        };
        BackfillWindow { free, window, extra: u32::try_from(extra).unwrap_or(0), awake: Awake::ALL }
    }

    /// Reserves processors for dedicated jobs with a future start, in the order of their starts.
    fn reserve_all(&mut self, later: &[(Time, Entry)], actions: &mut Actions) {
        for (start, entry) in later {
            let reserved = self.reserve(*start, *entry);
            if let Some(trace) = actions.trace() {
                trace.dedicated.push((entry.job, reserved));
            }
        }
    }
}

impl Easy {
    pub(super) fn has_dedicated(&self) -> bool {
        self.dedicated.as_ref().is_some_and(|dedicated| !dedicated.is_empty())
    }

    /// Dedicated jobs whose start has come, and those with a future start.
    fn dedicated(&self, view: &View<'_>) -> (Vec<Entry>, Vec<(Time, Entry)>) {
        let (mut due, mut later) = (Vec::new(), Vec::new());
        for (start, _, job) in self.dedicated.iter().flatten() {
            let entry = self.entry(view, *job);
            if *start <= view.now() { due.push(entry) } else { later.push((*start, entry)) }
        }
        (due, later)
    }

    /// The pass on the full profile.
    pub(super) fn schedule_planned(&mut self, view: &View<'_>, actions: &mut Actions) {
        let mut room = Room::new(view);
        let (mut due, later) = self.dedicated(view);
        let first = due.iter().position(|entry| !room.start(*entry));
        let blocked = due.split_off(first.unwrap_or(due.len()));
        due.into_iter().for_each(|entry| self.start_dedicated(view, entry, actions));
        let (head, shadow, mut others) = match blocked.split_first() {
            Some((head, behind)) => {
                let shadow = room.reserve(room.now, *head);
                room.reserve_all(&later, actions);
                (Some(*head), shadow, behind.to_vec())
            }
            None => {
                room.reserve_all(&later, actions);
                let shadow = self.start_batch_heads(view, &mut room, actions);
                (self.head(view), shadow, Vec::new())
            }
        };
        let from = others.len();
        let seq = head.map(|head| head.seq);
        others.extend(self.by_factor.iter().filter(|entry| Some(entry.seq) != seq));
        self.order.sort(view, &mut others[from..]);
        for (at, entry) in others.into_iter().enumerate() {
            if room.start(entry) {
                if at < from {
                    self.start_dedicated(view, entry, actions);
                } else {
                    self.dequeue(&entry);
                    self.start(view, entry, actions);
                }
            }
        }
        self.backfill_around(&mut room, shadow, view, actions);
        if let Some((start, _)) = later.first() {
            actions.wake_at(*start);
        }
        if let Some(trace) = actions.trace() {
            backfills(trace, room.free, head.map(|head| head.job), shadow);
        }
    }

    /// Starts jobs in the order of arrival while they fit; the first that does not fit has a reservation, whose start is
    /// returned.
    fn start_batch_heads(
        &mut self,
        view: &View<'_>,
        room: &mut Room<'_>,
        actions: &mut Actions,
    ) -> Option<Time> {
        while let Some(head) = self.head(view) {
            if !room.start(head) {
                return room.reserve(room.now, head);
            }
            self.arrivals.pop();
            self.dequeue(&head);
            self.start(view, head, actions);
        }
        None
    }

    /// Backfills in the queue's own order around all reservations. The first job, which does not fit, does not fit beside its own either.
    fn backfill_around(
        &mut self,
        room: &mut Room<'_>,
        shadow: Option<Time>,
        view: &View<'_>,
        actions: &mut Actions,
    ) {
        let (mut last, mut window) = (None, room.window(shadow));
        while window.free > 0
            && let Some(entry) = self.queue.find(last, window).copied()
        {
            if room.start(entry) {
                self.queue.remove(entry.place());
                self.start(view, entry, actions);
                window = room.window(shadow);
            }
            last = Some(entry.place());
        }
    }

    fn start_dedicated(&mut self, view: &View<'_>, entry: Entry, actions: &mut Actions) {
        if let (Some(dedicated), Some(start)) = (&mut self.dedicated, view.job(entry.job).requested_start()) {
            dedicated.remove(&(start, entry.seq, entry.job));
        }
        self.start(view, entry, actions);
    }
}
