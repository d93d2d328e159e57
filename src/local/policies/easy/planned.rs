//! The pass of EASY by its definition, on the full profile: needed where reservations are in the way, of the book or of dedicated jobs.
//!
//! EASY-D (Kumar, Shae and Jamjoom 2012 name it in Table III and leave it open): a dedicated job holds a reservation at the start that it asks
//! for, or as soon after as there is room, in the order of these starts. Once its start has come and there is no room, it stands at the
//! head of the queue, before those with a later start. As in LOS-D.

use super::Easy;
use crate::local::{Actions, Entry, Profile, View};
use crate::model::JobKey;
use crate::units::Time;

/// What is free, now and later, in a pass that plans.
pub(super) struct Room {
    pub(super) profile: Profile,
    pub(super) now: Time,
    pub(super) free: u32,
}

impl Room {
    pub(super) fn new(view: &View<'_>) -> Self {
        Self { profile: view.profile(), now: view.now(), free: view.free() }
    }

    /// Starts a job if it fits.
    pub(super) fn start(&mut self, entry: Entry) -> bool {
        let fits = entry.procs <= self.free && self.profile.fits(self.now, entry.estimate, entry.procs);
        if fits {
            self.free -= entry.procs;
            self.profile.reserve(self.now, self.now + entry.estimate, entry.procs);
        }
        fits
    }

    /// Reserves room for a job as soon as there is some from `from` on; when that is.
    pub(super) fn reserve(&mut self, from: Time, entry: Entry) -> Option<Time> {
        let start = self.profile.earliest(from, entry.estimate, entry.procs)?;
        self.profile.reserve(start, start + entry.estimate, entry.procs);
        Some(start)
    }

    /// Reservations of dedicated jobs whose start is to come, in the order of their starts.
    pub(super) fn reserve_all(&mut self, later: &[(Time, Entry)]) {
        for (start, entry) in later {
            self.reserve(*start, *entry);
        }
    }
}

impl Easy {
    pub(super) fn has_dedicated(&self) -> bool {
        self.dedicated.as_ref().is_some_and(|dedicated| !dedicated.is_empty())
    }

    /// Dedicated jobs whose start has come, and those whose start is to come.
    pub(super) fn dedicated(&self, view: &View<'_>) -> (Vec<Entry>, Vec<(Time, Entry)>) {
        let (mut due, mut later) = (Vec::new(), Vec::new());
        for (start, _, job) in self.dedicated.iter().flatten() {
            let entry = self.entry(view, *job);
            if *start <= view.now() { due.push(entry) } else { later.push((*start, entry)) }
        }
        (due, later)
    }

    pub(super) fn is_dedicated(&self, view: &View<'_>, job: JobKey) -> bool {
        self.dedicated.is_some() && view.job(job).requested_start().is_some()
    }

    /// The pass on the full profile.
    pub(super) fn schedule_planned(&mut self, view: &View<'_>, actions: &mut Actions) {
        let mut room = Room::new(view);
        let (mut due, later) = self.dedicated(view);
        let first = due.iter().position(|entry| !room.start(*entry));
        let blocked = due.split_off(first.unwrap_or(due.len()));
        due.into_iter().for_each(|entry| self.start_dedicated(view, entry, actions));
        let mut others: Vec<Entry> = match blocked.split_first() {
            Some((head, behind)) => {
                room.reserve(room.now, *head);
                room.reserve_all(&later);
                behind.to_vec()
            }
            None => {
                room.reserve_all(&later);
                self.start_batch_heads(view, &mut room, actions);
                Vec::new()
            }
        };
        let head = if blocked.is_empty() { self.head(view).map(|head| head.seq) } else { None };
        let from = others.len();
        others.extend(self.queue.iter().filter(|entry| Some(entry.seq) != head));
        self.order.sort(view, &mut others[from..]);
        for (at, entry) in others.into_iter().enumerate() {
            if room.start(entry) {
                if at < from {
                    self.start_dedicated(view, entry, actions);
                } else {
                    self.queue.remove(entry.rank, entry.seq);
                    self.start(view, entry, actions);
                }
            }
        }
        if let Some((start, _)) = later.first() {
            actions.wake_at(*start);
        }
    }

    /// Starts jobs in the order of arrival while they fit; the first that does not has a reservation.
    fn start_batch_heads(&mut self, view: &View<'_>, room: &mut Room, actions: &mut Actions) {
        while let Some(head) = self.head(view) {
            if !room.start(head) {
                room.reserve(room.now, head);
                return;
            }
            self.arrivals.pop_front();
            self.queue.remove(head.rank, head.seq);
            self.start(view, head, actions);
        }
    }

    fn start_dedicated(&mut self, view: &View<'_>, entry: Entry, actions: &mut Actions) {
        if let (Some(dedicated), Some(start)) = (&mut self.dedicated, view.job(entry.job).requested_start()) {
            dedicated.remove(&(start, entry.seq, entry.job));
        }
        self.start(view, entry, actions);
    }
}
