//! When the processors of a pool are free, and what tasks take of them.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::local::Profile;
use crate::units::Time;

/// What tasks have taken of a pool.
#[derive(Clone, Debug, Default)]
pub(super) struct Taken {
    /// So many processors, those that are free first.
    pub(super) first: usize,
    /// When what they were taken for ends, of those that are free again.
    again: BinaryHeap<Reverse<u64>>,
}

impl Taken {
    pub(super) fn clear(&mut self) {
        self.first = 0;
        self.again.clear();
    }

    /// Takes the processor that is free first, of a pool whose processors are free at `free`, and returns when; there must be one.
    fn take(&mut self, free: &[u64]) -> u64 {
        match (free.get(self.first), self.again.peek()) {
            (Some(first), None) => {
                self.first += 1;
                *first
            }
            (Some(first), Some(Reverse(again))) if first <= again => {
                self.first += 1;
                *first
            }
            _ => self.again.pop().map_or(u64::MAX, |Reverse(again)| again),
        }
    }

    /// Takes so many processors for a task that is ready at `from` and runs so long; returns its start and its end, and for how long these
    /// processors are idle before.
    pub(super) fn run(&mut self, free: &[u64], procs: u32, from: u64, run: u64) -> (u64, u64, u64) {
        if procs == 1 {
            return self.run_on_one(free, from, run);
        }
        let (mut start, mut sum) = (from, 0_u64);
        for _ in 0..procs {
            let first = self.take(free);
            start = start.max(first);
            sum = sum.saturating_add(first);
        }
        let end = start.saturating_add(run);
        self.again.extend((0..procs).map(|_| Reverse(end)));
        (start, end, start.saturating_mul(procs.into()).saturating_sub(sum))
    }

    /// [`Taken::run`] on one processor, as most tasks do.
    #[inline]
    fn run_on_one(&mut self, free: &[u64], from: u64, run: u64) -> (u64, u64, u64) {
        let again = self.again.peek().map_or(u64::MAX, |Reverse(again)| *again);
        let first = free.get(self.first).copied().filter(|first| *first <= again);
        let start = from.max(first.unwrap_or(again));
        let end = start.saturating_add(run);
        if let Some(first) = first {
            self.first += 1;
            self.again.push(Reverse(end));
            (start, end, start - first)
        } else {
            if let Some(mut top) = self.again.peek_mut() {
                *top = Reverse(end);
            }
            (start, end, start - again)
        }
    }

    /// When so many processors are free, as [`Taken::run`] would take them.
    pub(super) fn free_at(&self, free: &[u64], procs: u32) -> u64 {
        if procs == 1 {
            let again = self.again.peek().map_or(u64::MAX, |Reverse(again)| *again);
            return free.get(self.first).map_or(again, |first| again.min(*first));
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
