//! Fills free processors with the best set of jobs.

use super::packing::Item;
use super::{Dedicated, Los, ShadowRule};
use crate::local::{Actions, Awake, BackfillWindow, Entry, FreezeFacts, Packing, ProfileAhead, Rule, View};
use crate::units::{Span, Time};

/// The free processors of a pass.
#[derive(Clone, Debug)]
pub(super) struct Room<'a> {
    /// Processors that are free now.
    pub(super) free: u32,
    /// The free processors later, where reservations (of the book, or of dedicated jobs under LOS-D) must be planned around.
    pub(super) plan: Option<ProfileAhead<'a>>,
    /// When the first reservation of a dedicated job begins in the plan.
    pub(super) dedicated: Option<Time>,
    /// How long a job that starts now may have to wait for machines to wake up.
    pub(super) delay: Span,
}

impl Room<'_> {
    /// True if the job can start now.
    pub(super) fn takes(&self, now: Time, entry: Entry) -> bool {
        let planned = |plan: &ProfileAhead<'_>| plan.fits(now, entry.estimate + self.delay, entry.procs);
        entry.procs <= self.free && self.plan.as_ref().is_none_or(planned)
    }
}

/// The lists of a search for the best set, kept from one search to the next only to reuse their memory.
#[derive(Clone, Debug, Default)]
pub(super) struct Lists {
    /// The candidates.
    among: Vec<Entry>,
    /// The candidates as items of the search.
    items: Vec<Item>,
    /// Places of the chosen candidates.
    chosen: Vec<usize>,
}

/// The freeze end (shadow time) of a job that waits for processors, or of dedicated jobs.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(super) struct Freeze {
    /// `fret`.
    pub(super) time: Time,
    /// `frec`: processors that are spare at the freeze end.
    pub(super) extra: u32,
    /// The head of the queue, if the freeze is for that job.
    pub(super) head: Option<Entry>,
    /// The number of dedicated jobs that the freeze is for.
    pub(super) dedicated: usize,
}

/// The result of one search.
#[derive(Copy, Clone, Debug)]
struct Filled {
    /// Whether the head of the queue is in the set.
    has_head: bool,
    /// Processors of the jobs that still run at the freeze end.
    held: u32,
    /// Whether jobs that were not candidates may fit.
    more: bool,
}

impl Los {
    /// The free processors at the beginning of a pass.
    pub(super) fn room<'a>(&self, view: &View<'a>) -> Room<'a> {
        let around = self.options.dedicated == Dedicated::Reserved && !self.dedicated.is_empty();
        let planned = around || !view.bookings().is_empty();
        let plan = planned.then(|| view.profile_ahead());
        Room { free: view.free(), plan, dedicated: None, delay: view.awake().delay }
    }

    /// The candidates: the first `lookahead` jobs of the queue that fit on the free processors, and that at a freeze end have
    /// ended or fit on the processors that are spare then.
    fn candidates(&self, now: Time, free: u32, freeze: Option<Freeze>) -> impl Iterator<Item = Entry> {
        let window = BackfillWindow {
            free,
            window: freeze.map_or(Span::MAX, |freeze| self.window(now, freeze)),
            extra: freeze.map_or(free, |freeze| freeze.extra),
            awake: Awake::ALL,
        };
        self.queue.fitting(window).copied().take(self.options.lookahead as usize)
    }

    /// Time until the freeze end: a job that starts now and runs longer than this still runs then.
    fn window(&self, now: Time, freeze: Freeze) -> Span {
        let window = freeze.time.since(now + self.delay);
        match self.options.shadow {
            ShadowRule::Before => window - Span::TICK,
            ShadowRule::By => window,
        }
    }

    /// True if a job that starts now still runs at the freeze end.
    fn holds(&self, now: Time, entry: Entry, freeze: Freeze) -> bool {
        let end = now + self.delay + entry.estimate;
        match self.options.shadow {
            ShadowRule::Before => end >= freeze.time,
            ShadowRule::By => end > freeze.time,
        }
    }

    /// Basic_DP, or with a freeze Reservation_DP: starts the set that uses the free processors best. Returns true if the head of
    /// the queue is in it.
    ///
    /// The best set of all jobs leaves out no job that fits, but the best set of the first `lookahead` jobs may: while there are
    /// as many, and a set of them starts, the next jobs become candidates.
    pub(super) fn fill(
        &mut self,
        view: &View<'_>,
        room: &mut Room<'_>,
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
    /// Where there is a plan, the set is checked against it in the order of the queue. A job that does not fit is removed from
    /// the candidates, and the best set of the others is searched for.
    fn fill_once(
        &mut self,
        view: &View<'_>,
        room: &mut Room<'_>,
        freeze: Option<Freeze>,
        head: Entry,
        actions: &mut Actions,
    ) -> Filled {
        let (now, allocation_unit) = (view.now(), view.allocation_unit().max(1));
        let mut lists = std::mem::take(&mut self.lists);
        let Lists { among, items, chosen } = &mut lists;
        among.clear();
        among.extend(self.candidates(now, room.free, freeze));
        let whole_window = among.len() == self.options.lookahead as usize;
        let looked_at = if actions.trace().is_some() { among.clone() } else { Vec::new() };
        let (free, spare) =
            (room.free / allocation_unit, freeze.map_or(0, |freeze| freeze.extra / allocation_unit));
        loop {
            let item = |entry: &Entry| Item {
                units: entry.procs / allocation_unit,
                holds: freeze.is_some_and(|freeze| self.holds(now, *entry, freeze)),
            };
            items.clear();
            items.extend(among.iter().map(item));
            self.packer.pack(items, free, spare, chosen);
            let Some(plan) = &room.plan else { break };
            let mut with = plan.clone();
            let refused = chosen.iter().copied().find(|at| {
                let entry = among[*at];
                let held = entry.estimate + self.delay;
                let fits = with.fits(now, held, entry.procs);
                with.reserve(now, now + held, entry.procs);
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
        if let Some(trace) = actions.trace() {
            let frozen = |freeze: Freeze| FreezeFacts {
                time: freeze.time,
                window: self.window(now, freeze),
                spare: freeze.extra,
                first: freeze.head.map(|head| head.job),
                dedicated: freeze.dedicated,
            };
            let keys = |entries: &[Entry]| entries.iter().map(|entry| entry.job).collect();
            trace.rule = Rule::Packing(Packing {
                free: Some(room.free),
                freeze: freeze.map(frozen),
                refused: looked_at
                    .iter()
                    .filter(|entry| !among.contains(entry))
                    .map(|entry| entry.job)
                    .collect(),
                looked_at: keys(&looked_at),
                chosen: chosen.iter().map(|at| among[*at].job).collect(),
                ..Packing::default()
            });
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
