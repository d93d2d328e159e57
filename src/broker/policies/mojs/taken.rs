//! When the processors of pools are free, and what tasks take of them.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::local::Profile;
use crate::units::Time;

/// When the processors of each pool are free, in microseconds from now, ascending in each.
#[derive(Clone, Debug, Default)]
pub(super) struct Free {
    /// Those of pool after pool, and behind each a [`NEVER`].
    times: Vec<u64>,
    /// Where those of each pool begin.
    begins: Vec<u32>,
}

/// What no processor is free at.
const NEVER: u64 = u64::MAX;

impl Free {
    pub(super) fn new(pools: impl IntoIterator<Item = Vec<u64>>) -> Self {
        let mut free = Self::default();
        for times in pools {
            free.begins.push(free.times.len() as u32);
            free.times.extend(times);
            free.times.push(NEVER);
        }
        free
    }

    /// The number of pools.
    pub(super) fn pools(&self) -> usize {
        self.begins.len()
    }

    /// A pool of which nothing is taken.
    pub(super) fn untaken(&self, pool: usize) -> Taken {
        Taken { begin: self.begins[pool], first: self.begins[pool], soonest: NEVER, again: BinaryHeap::new() }
    }
}

/// What tasks have taken of a pool.
#[derive(Clone, Debug)]
pub(super) struct Taken {
    /// Where its processors begin.
    begin: u32,
    /// The first that is not taken; those that are free first are taken first.
    first: u32,
    /// The first of `again`, or [`NEVER`].
    soonest: u64,
    /// When what they were taken for ends, of those that are free again.
    again: BinaryHeap<Reverse<u64>>,
}

impl Taken {
    pub(super) fn clear(&mut self) {
        self.first = self.begin;
        self.soonest = NEVER;
        self.again.clear();
    }

    /// How many processors have been taken for the first time.
    pub(super) fn firsts(&self) -> u32 {
        self.first - self.begin
    }

    /// Takes the processor that is free first, and returns when; there must be one.
    fn take(&mut self, free: &Free) -> u64 {
        let first = free.times[self.first as usize];
        if first <= self.soonest && first < NEVER {
            self.first += 1;
            return first;
        }
        let again = self.again.pop().map_or(NEVER, |Reverse(again)| again);
        self.soonest = self.peek();
        again
    }

    fn peek(&self) -> u64 {
        self.again.peek().map_or(NEVER, |Reverse(again)| *again)
    }

    /// Takes so many processors for a task that is ready at `from` and runs so long; returns its start and its end, and for how long these
    /// processors are idle before.
    #[inline]
    pub(super) fn run(&mut self, free: &Free, procs: u32, from: u64, run: u64) -> (u64, u64, u64) {
        if procs == 1 { self.run_on_one(free, from, run) } else { self.run_on_many(free, procs, from, run) }
    }

    fn run_on_many(&mut self, free: &Free, procs: u32, from: u64, run: u64) -> (u64, u64, u64) {
        let (mut start, mut sum) = (from, 0_u64);
        for _ in 0..procs {
            let first = self.take(free);
            start = start.max(first);
            sum = sum.saturating_add(first);
        }
        let end = start.saturating_add(run);
        self.again.extend((0..procs).map(|_| Reverse(end)));
        self.soonest = self.peek();
        (start, end, start.saturating_mul(procs.into()).saturating_sub(sum))
    }

    /// [`Taken::run`] on one processor, as most tasks do.
    #[inline]
    fn run_on_one(&mut self, free: &Free, from: u64, run: u64) -> (u64, u64, u64) {
        let first = free.times[self.first as usize];
        if first <= self.soonest && first < NEVER {
            let start = from.max(first);
            let end = start.saturating_add(run);
            self.first += 1;
            self.again.push(Reverse(end));
            self.soonest = self.soonest.min(end);
            (start, end, start - first)
        } else {
            let soonest = self.soonest;
            let start = from.max(soonest);
            let end = start.saturating_add(run);
            if let Some(mut top) = self.again.peek_mut() {
                *top = Reverse(end);
            }
            self.soonest = self.peek();
            (start, end, start - soonest)
        }
    }

    /// When so many processors are free, as [`Taken::run`] would take them.
    pub(super) fn free_at(&self, free: &Free, procs: u32) -> u64 {
        if procs == 1 {
            return self.soonest.min(free.times[self.first as usize]);
        }
        self.clone().run(free, procs, 0, 0).0
    }
}

/// When processors are free for ever, in microseconds from `now`, the first `most` of them. Holes that close again are not used.
pub(super) fn free_times(profile: &Profile, now: Time, most: u64) -> Vec<u64> {
    let steps: Vec<(Time, i32)> = profile.steps().collect();
    // From each step on no fewer are free than this.
    let mut least = i32::MAX;
    let mut rising: Vec<(Time, i32)> = Vec::new();
    for (time, free) in steps.into_iter().rev() {
        least = least.min(free);
        rising.push((time, least.max(0)));
    }
    let (mut times, mut have) = (Vec::new(), 0_u64);
    for (time, free) in rising.into_iter().rev() {
        let free = u64::from(free.unsigned_abs()).min(most);
        let at = time.since(now).micros();
        times.extend((have..free).map(|_| at));
        have = have.max(free);
    }
    times
}

/// How many processors of a pool are free in the end.
pub(super) fn finally_free(profile: &Profile) -> u32 {
    profile.steps().last().map_or(0, |(_, free)| free.max(0).unsigned_abs())
}
