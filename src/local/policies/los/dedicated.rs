//! Scheduling around dedicated jobs: LOS-D, and Hybrid-LOS by Algorithms 2 and 3 of Kumar et al. 2012.
//!
//! Decisions where Algorithm 2 is incomplete: a head that has been skipped `C_s` times is started only if it fits, and otherwise
//! has the reservation of Algorithm 1 (lines 35 to 37 do not check); if dedicated jobs with the same start together need more
//! than the machine, as many count as the machine holds (line 24 does not cover this); a cycle that has moved or started a job is
//! repeated at once. So of dedicated jobs whose starts come while the machine is full, the one with the latest start is first in
//! the queue in the end (Algorithm 3 puts each before all others).

use super::Los;
use super::fill::{Freeze, Room};
use crate::local::{Actions, View};
use crate::model::JobKey;
use crate::units::Time;

impl Los {
    /// LOS-D. A dedicated job whose start has come is at the head of the queue, before those with a later start. The others hold
    /// reservations at their starts, or as soon after as enough processors are free, in the order of their starts.
    pub(super) fn cycle_around(&mut self, view: &View<'_>, room: &mut Room<'_>, actions: &mut Actions) {
        let now = view.now();
        while let Some((start, _, job)) = self.dedicated.first().copied().filter(|(start, ..)| *start <= now)
        {
            self.move_to_head(view, start, job, u128::from(start.micros()));
        }
        // Jobs whose start has come are before those with a future start.
        while room.free > 0
            && let Some(head) = self.queue.first().copied()
            && self.moved.contains_key(&head.seq)
        {
            if !room.takes(now, head) {
                let freeze = self.freeze_for(view, room, head);
                self.reserve_dedicated(view, room);
                if let Some(freeze) = freeze {
                    let freeze = sooner(freeze, room);
                    self.fill(view, room, Some(freeze), head, actions);
                }
                return;
            }
            self.start_head(view, room, head, actions);
        }
        self.reserve_dedicated(view, room);
        self.batch_cycle(view, room, actions);
    }

    /// Reserves processors for dedicated jobs with a future start.
    fn reserve_dedicated(&self, view: &View<'_>, room: &mut Room<'_>) {
        let Some(plan) = &mut room.plan else { return };
        for (start, _, job) in &self.dedicated {
            let live = view.job(*job);
            let Some(from) = plan.earliest(*start, live.estimate(), live.procs()) else { continue };
            plan.reserve(from, from + live.estimate(), live.procs());
            room.dedicated = Some(room.dedicated.map_or(from, |first| first.min(from)));
        }
    }

    /// Hybrid-LOS: Algorithm 2.
    pub(super) fn hybrid_cycle(&mut self, view: &View<'_>, room: &mut Room<'_>, actions: &mut Actions) {
        let now = view.now();
        // Lines 3 and 4.
        while let Some((start, _, job)) = self.dedicated.first().copied() {
            let head = self.queue.first().copied().filter(|_| room.free > 0);
            match head {
                // Lines 39 to 42.
                None if start <= now => self.move_before_all(view, start, job),
                None => return,
                // Lines 35 to 38.
                Some(head) if self.skips(head) >= self.options.skips => {
                    if !room.takes(now, head) {
                        return self.fill_before(view, room, head, actions);
                    }
                    self.start_head(view, room, head, actions);
                }
                // Lines 6 and 7.
                Some(_) if start <= now => self.move_before_all(view, start, job),
                // Lines 8 to 33.
                Some(head) => {
                    let freeze = self.dedicated_freeze(view, room, start);
                    if !self.fill(view, room, freeze, head, actions) {
                        self.skip(head);
                    }
                    return;
                }
            }
        }
        self.batch_cycle(view, room, actions);
    }

    /// Algorithm 3: moves a dedicated job to the head of the queue, with enough skips to be started as soon as it fits.
    fn move_before_all(&mut self, view: &View<'_>, start: Time, job: JobKey) {
        let rank = self.queue.first().map_or(super::BATCH, |first| first.rank) - 1;
        self.move_to_head(view, start, job, rank);
        self.skipped.insert(view.job(job).seq(), self.options.skips);
    }

    fn move_to_head(&mut self, view: &View<'_>, start: Time, job: JobKey, rank: u128) {
        let entry = Self::entry(view, job, rank);
        self.dedicated.remove(&(start, entry.seq, job));
        self.moved.insert(entry.seq, rank);
        self.queue.insert(entry);
    }

    /// Lines 9 to 27 of Algorithm 2: the freeze end of the dedicated jobs with the earliest requested start. `None` if, as far as
    /// can be foreseen, there will not be enough processors for a single one of them.
    fn dedicated_freeze(&self, view: &View<'_>, room: &Room<'_>, start: Time) -> Option<Freeze> {
        let now = view.now();
        let counted = |job: JobKey| view.ends_now(job);
        let free = u64::from(room.free);
        let same = || self.dedicated.iter().take_while(|(other, ..)| *other == start);
        let wanted: u64 = same().map(|(.., job)| u64::from(view.job(*job).procs())).sum();
        // Processors of jobs that are expected to end before the start are free then; those of jobs that end exactly then are not
        // (line 11).
        let then = free + self.releases.freed_before(now, start, counted);
        let freeze = |time, extra: u64, dedicated| {
            Some(Freeze { time, extra: extra.min(u64::from(u32::MAX)) as u32, head: None, dedicated })
        };
        if wanted <= then {
            return freeze(start, then - wanted, same().count());
        }
        let most = free + self.releases.freed_before(now, Time::NEVER, counted);
        let (mut needed, mut count) = (0, 0);
        for (.., job) in same() {
            let procs = u64::from(view.job(*job).procs());
            if needed + procs > most {
                break;
            }
            (needed, count) = (needed + procs, count + 1);
        }
        if count == 0 {
            return None;
        }
        if needed <= then {
            return freeze(start, then - needed, count);
        }
        let shadow = self.releases.shadow(now, room.free, needed as u32, counted)?;
        freeze(shadow.time, u64::from(shadow.extra), count)
    }
}

/// The freeze that applies: that of the head, or that of the first reservation of a dedicated job if it comes sooner.
pub(super) fn sooner(freeze: Freeze, room: &Room<'_>) -> Freeze {
    match (&room.plan, room.dedicated) {
        (Some(plan), Some(time)) if time < freeze.time => {
            Freeze { time, extra: u32::try_from(plan.free_at(time)).unwrap_or(0), head: None, dedicated: 1 }
        }
        _ => freeze,
    }
}
