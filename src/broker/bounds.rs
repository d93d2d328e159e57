//! Bounds over pools, by which the pool with the earliest completion is found without a look at each.
//!
//! A tree has the pools as leaves, in their order. Each node bounds what its pools have: no job completes in any of them earlier than its bound
//! says. So a search goes to the side with the earlier bound first, and leaves out what cannot be earlier than what it has found. With
//! many pools of which few have changed it looks at a logarithm of them.

use super::{Pool, Task};
use crate::units::{Rate, Span, Time};

/// What no pool of a node exceeds.
#[derive(Copy, Clone, Debug)]
struct Bound {
    /// The most processors that are up.
    present: u32,
    /// The most processors that jobs on their way leave free.
    room: u32,
    /// The earliest start of any job.
    soonest: Time,
    /// The earliest start of a job that needs more than there is room for.
    later: Time,
    /// The shortest way.
    latency: Span,
    /// The highest speed.
    fastest: Rate,
}

impl Bound {
    /// That of no pools.
    const NONE: Self = Self {
        present: 0,
        room: 0,
        soonest: Time::NEVER,
        later: Time::NEVER,
        latency: Span::MAX,
        fastest: Rate::ZERO,
    };

    fn of(pool: &Pool) -> Self {
        if !pool.open {
            return Self::NONE;
        }
        let free = u64::from(pool.report.free).saturating_sub(pool.in_flight.procs);
        let room = u32::try_from(free).unwrap_or(u32::MAX);
        // Estimates grow with the processors.
        let start = |procs: u32| {
            let estimated = pool.report.start_estimates.start(procs);
            estimated.into_iter().chain(pool.reported_start(procs)).min().unwrap_or(Time::NEVER)
        };
        let beyond = start(room.saturating_add(1));
        let later = if pool.in_flight.jobs == 0 { beyond } else { pool.behind(beyond) };
        // Where waits are forecast, a job of any size may be expected not to wait.
        let (soonest, later) =
            if pool.forecasts.has_no_waits() { (start(1), later) } else { (Time::ZERO, Time::ZERO) };
        Self {
            present: pool.report.present,
            room,
            soonest,
            later,
            latency: pool.facts.latency,
            fastest: pool.facts.fastest().max(pool.facts.speed),
        }
    }

    fn or(self, other: Self) -> Self {
        Self {
            present: self.present.max(other.present),
            room: self.room.max(other.room),
            soonest: self.soonest.min(other.soonest),
            later: self.later.min(other.later),
            latency: self.latency.min(other.latency),
            fastest: self.fastest.max(other.fastest),
        }
    }

    /// The earliest completion of a task that needs at least so many processors; `None` if it fits in none of the pools.
    fn completion(&self, task: Task<'_>, procs: u32, now: Time) -> Option<Time> {
        let start = if procs <= self.room { self.soonest } else { self.later };
        let run = task.shortest(self.fastest);
        (procs <= self.present).then(|| start.max(now + self.latency) + run)
    }
}

/// Bounds of all pools, for [`GridView::with_bounds`](super::GridView::with_bounds).
#[derive(Clone, Debug, Default)]
pub struct Bounds {
    /// Each node has its two at twice its place and behind that; the leaves come last. The first place is empty.
    nodes: Vec<Bound>,
    leaves: usize,
    /// The pools that have changed since, each once.
    stale: Vec<usize>,
    is_stale: Vec<bool>,
}

impl Bounds {
    /// Bounds of so many pools, which are yet to be looked at.
    pub fn new(pools: usize) -> Self {
        let leaves = pools.next_power_of_two();
        Self {
            nodes: vec![Bound::NONE; 2 * leaves],
            leaves,
            stale: (0..pools).collect(),
            is_stale: vec![true; pools],
        }
    }

    /// Notes that a pool has changed.
    pub(crate) fn changed(&mut self, pool: usize) {
        if !std::mem::replace(&mut self.is_stale[pool], true) {
            self.stale.push(pool);
        }
    }

    /// Looks at the pools that have changed.
    fn refresh(&mut self, pools: &[Pool]) {
        let many = self.stale.len() > self.leaves / 8;
        for pool in self.stale.drain(..) {
            self.is_stale[pool] = false;
            let mut at = self.leaves + pool;
            self.nodes[at] = Bound::of(&pools[pool]);
            while !many && at > 1 {
                at /= 2;
                self.nodes[at] = self.nodes[2 * at].or(self.nodes[2 * at + 1]);
            }
        }
        for at in (1..self.leaves).rev().filter(|_| many) {
            self.nodes[at] = self.nodes[2 * at].or(self.nodes[2 * at + 1]);
        }
    }

    /// The pool where the task completes first, the first among equals. `completion` is `None` where it cannot run.
    pub(super) fn earliest(
        &mut self,
        pools: &[Pool],
        task: Task<'_>,
        now: Time,
        completion: impl Fn(usize) -> Option<Time>,
    ) -> Option<usize> {
        self.refresh(pools);
        let procs = task.size().min();
        let bound = |at: usize| self.nodes[at].completion(task, procs, now);
        let mut best: Option<(Time, usize)> = None;
        let mut open: Vec<(Time, usize)> = bound(1).into_iter().map(|bound| (bound, 1)).collect();
        while let Some((least, at)) = open.pop() {
            // The first leaf under the node.
            let first = (at << (self.leaves.ilog2() - at.ilog2())) - self.leaves;
            if best.is_some_and(|best| best < (least, first)) {
                continue;
            }
            if at >= self.leaves {
                let found = completion(first).map(|time| (time, first));
                debug_assert!(found.is_none_or(|(time, _)| least <= time), "pool {first} has a wrong bound");
                best = best.into_iter().chain(found).min();
                continue;
            }
            let [left, right] = [2 * at, 2 * at + 1].map(|at| bound(at).map(|bound| (bound, at)));
            // The earlier one is looked at first.
            let (one, other) = if right.is_some() && right < left { (left, right) } else { (right, left) };
            open.extend(one.into_iter().chain(other));
        }
        best.map(|(_, pool)| pool)
    }
}
