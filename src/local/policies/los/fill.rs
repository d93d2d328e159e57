//! Filling free processors with the best set of jobs.

use super::packing::Item;
use super::{Dedicated, Los, ShadowRule, explain};
use crate::local::{Actions, Cursor, Entry, Hole, Profile, Queue, View};
use crate::units::{Span, Time};

/// What is free in a pass.
#[derive(Clone, Debug)]
pub(super) struct Room {
    /// Processors that are free now.
    pub(super) free: u32,
    /// What is free later, where reservations (of the book, or of dedicated jobs under LOS-D) must be planned around.
    pub(super) plan: Option<Profile>,
    /// When the first reservation of a dedicated job begins in the plan.
    pub(super) dedicated: Option<Time>,
}

impl Room {
    /// True if the job can start now.
    pub(super) fn takes(&self, now: Time, entry: Entry) -> bool {
        let planned = |plan: &Profile| plan.fits(now, entry.estimate, entry.procs);
        entry.procs <= self.free && self.plan.as_ref().is_none_or(planned)
    }
}

/// What a search for the best set works on, kept from one to the next for its memory alone.
#[derive(Clone, Debug, Default)]
pub(super) struct Lists {
    /// Jobs that may be chosen.
    among: Vec<Entry>,
    /// What they are to the search.
    items: Vec<Item>,
    /// Places of those that are chosen.
    chosen: Vec<usize>,
}

/// The freeze end (shadow time) of a job that waits for processors, or of dedicated jobs.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(super) struct Freeze {
    /// `fret`.
    pub(super) time: Time,
    /// `frec`: processors that are spare then.
    pub(super) extra: u32,
    /// The head of the queue, if it is for that.
    pub(super) head: Option<Entry>,
    /// How many dedicated jobs it is for.
    pub(super) dedicated: usize,
}

/// What a set was.
#[derive(Copy, Clone, Debug)]
struct Filled {
    /// The head of the queue is in it.
    has_head: bool,
    /// Processors of those that are still there at the freeze end.
    held: u32,
    /// Others may fit that were not looked at.
    more: bool,
}

impl Los {
    /// What is free at the beginning of a pass.
    pub(super) fn room(&self, view: &View<'_>) -> Room {
        let around = self.options.dedicated == Dedicated::Reserved && !self.dedicated.is_empty();
        let planned = around || !view.bookings().is_empty();
        Room { free: view.free(), plan: planned.then(|| view.profile()), dedicated: None }
    }

    /// The first `lookahead` jobs of the queue that may be chosen: they fit on the free processors, and at a freeze end they are over
    /// or fit on those that are spare then.
    fn candidates(&self, now: Time, free: u32, freeze: Option<Freeze>) -> impl Iterator<Item = Entry> {
        let over_by = |freeze: Freeze| match self.options.shadow {
            ShadowRule::Before => freeze.time.since(now) - Span::TICK,
            ShadowRule::By => freeze.time.since(now),
        };
        let hole = Hole {
            free,
            window: freeze.map_or(Span::MAX, over_by),
            extra: freeze.map_or(free, |freeze| freeze.extra),
        };
        let mut cursor = Cursor::default();
        let next = move || {
            let (at, entry) = self.queue.find(cursor, hole)?;
            cursor = Queue::after(at);
            Some(entry)
        };
        std::iter::from_fn(next).take(self.options.lookahead as usize)
    }

    /// True if a job that starts now is still there at the freeze end.
    pub(super) fn holds(&self, now: Time, entry: Entry, freeze: Freeze) -> bool {
        let end = now + entry.estimate;
        match self.options.shadow {
            ShadowRule::Before => end >= freeze.time,
            ShadowRule::By => end > freeze.time,
        }
    }

    /// Basic_DP, or with a freeze Reservation_DP: starts the set that uses the free processors best. True if the head of the queue is in it.
    ///
    /// Nothing that fits is left out by the best set of all jobs, but it may be by that of the first `lookahead` ones: while there are as many, and a
    /// set of them starts, the next ones are looked at.
    pub(super) fn fill(
        &mut self,
        view: &View<'_>,
        room: &mut Room,
        freeze: Option<Freeze>,
        head: Entry,
        actions: &mut Actions,
    ) -> bool {
        let (mut freeze, mut has_head) = (freeze, false);
        loop {
            let filled = self.fill_once(view, room, freeze, head, actions);
            has_head |= filled.has_head;
            if !filled.more || room.free == 0 {
                return has_head;
            }
            if let Some(freeze) = &mut freeze {
                freeze.extra = freeze.extra.saturating_sub(filled.held);
            }
        }
    }

    /// Starts the best set of the first `lookahead` jobs.
    ///
    /// Where there is a plan, the set is held against it in the order of the queue. A job that does not fit in is taken out of the
    /// candidates, and the best set of the others is looked for.
    fn fill_once(
        &mut self,
        view: &View<'_>,
        room: &mut Room,
        freeze: Option<Freeze>,
        head: Entry,
        actions: &mut Actions,
    ) -> Filled {
        let (now, quantum) = (view.now(), view.quantum().max(1));
        let mut lists = std::mem::take(&mut self.lists);
        let Lists { among, items, chosen } = &mut lists;
        among.clear();
        among.extend(self.candidates(now, room.free, freeze));
        let whole_window = among.len() == self.options.lookahead as usize;
        let looked_at = if self.steps.is_some() { among.clone() } else { Vec::new() };
        let (free, spare) = (room.free / quantum, freeze.map_or(0, |freeze| freeze.extra / quantum));
        loop {
            let item = |entry: &Entry| Item {
                units: entry.procs / quantum,
                holds: freeze.is_some_and(|freeze| self.holds(now, *entry, freeze)),
            };
            items.clear();
            items.extend(among.iter().map(item));
            self.packer.pack(items, free, spare, chosen);
            let Some(plan) = &room.plan else { break };
            let mut with = plan.clone();
            let refused = chosen.iter().copied().find(|at| {
                let entry = among[*at];
                let fits = with.fits(now, entry.estimate, entry.procs);
                with.reserve(now, now + entry.estimate, entry.procs);
                !fits
            });
            match refused {
                Some(at) => drop(among.remove(at)),
                None => {
                    room.plan = Some(with);
                    break;
                }
            }
        }
        if let Some(steps) = &mut self.steps {
            let planned: Vec<u64> = among.iter().map(|entry| entry.seq).collect();
            let refused =
                looked_at.iter().map(|entry| entry.seq).filter(|seq| !planned.contains(seq)).collect();
            let looked_at = looked_at.iter().map(|entry| entry.seq).collect();
            let chosen = chosen.iter().map(|at| planned[*at]).collect();
            steps.push(explain::Step::Fill { free: room.free, freeze, looked_at, refused, chosen });
        }
        let more = whole_window && !chosen.is_empty();
        let mut filled = Filled { has_head: false, held: 0, more };
        for at in chosen.iter() {
            filled.has_head |= among[*at].seq == head.seq;
            filled.held += if items[*at].holds { among[*at].procs } else { 0 };
            self.start(view, room, among[*at], actions);
        }
        self.lists = lists;
        filled
    }
}
