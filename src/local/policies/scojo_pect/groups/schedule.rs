//! The schedule of a group: its jobs in some order, each at its earliest start beside what runs and the jobs before it.

use crate::local::policies::preemptive::Factor;
use crate::local::{Profile, View};
use crate::model::JobKey;
use crate::search::discrepancy::OrderProblem;
use crate::units::{Span, Time};

use super::choice::Best;
use super::options::{GroupBound, GroupOptions};

/// A share of all the time, as [`super::super::ScojoPectOptions::shares`] are given.
const SHARE_ONE: u64 = 100_000_000;

/// What slowdowns depend on.
#[derive(Copy, Clone, Debug)]
pub(in crate::local::policies::scojo_pect) struct Weights {
    pub(in crate::local::policies::scojo_pect) now: Time,
    /// The share of the time that the class has: what it takes from now on takes so much longer [Kanavallil 2007, chapter 7].
    pub(in crate::local::policies::scojo_pect) share: u64,
    /// The least run time.
    pub(in crate::local::policies::scojo_pect) bounded: Span,
}

impl Weights {
    /// The same for a class whose slices are not shorter than `floor`, however small its share.
    pub(in crate::local::policies::scojo_pect) fn with_floor(self, floor: Span, cycle: Span) -> Self {
        let part = u128::from(SHARE_ONE) * u128::from(floor.micros()) / u128::from(cycle.micros().max(1));
        let share = self.share.max(u64::try_from(part).unwrap_or(u64::MAX)).min(SHARE_ONE);
        Self { share, ..self }
    }

    /// How long the class takes for what takes it so long if it has all the time.
    pub(in crate::local::policies::scojo_pect) fn takes(&self, alone: Span) -> Span {
        let micros = u128::from(alone.micros()) * u128::from(SHARE_ONE) / u128::from(self.share.max(1));
        Span::from_micros(u64::try_from(micros).unwrap_or(u64::MAX))
    }
}

/// A job of a group.
#[derive(Copy, Clone, Debug)]
pub(in crate::local::policies::scojo_pect) struct Member {
    pub(in crate::local::policies::scojo_pect) seq: u64,
    pub(in crate::local::policies::scojo_pect) job: JobKey,
    pub(in crate::local::policies::scojo_pect) procs: u32,
    /// Its estimate.
    pub(in crate::local::policies::scojo_pect) left: Span,
    /// Its slowdown in parts of 2⁶⁴ if it started now.
    base: u128,
    /// What a microsecond until its start adds to that.
    per: u128,
    /// Its response time so far, in microseconds.
    waited: u64,
}

impl Member {
    pub(in crate::local::policies::scojo_pect) fn new(
        view: &View<'_>,
        seq: u64,
        job: JobKey,
        weights: Weights,
    ) -> Self {
        let live = view.job(job);
        let waited = weights.now.since(live.ready());
        Self::of(seq, job, (live.procs(), live.estimate()), waited, weights)
    }

    pub(super) fn of(
        seq: u64,
        job: JobKey,
        (procs, left): (u32, Span),
        waited: Span,
        weights: Weights,
    ) -> Self {
        let over = u128::from(left.max(weights.bounded).max(Span::TICK).micros());
        let one = (1_u128 << 64) / over;
        let per = one * u128::from(SHARE_ONE) / u128::from(weights.share.max(1));
        let waiting = u128::from(waited.micros()) * one;
        let base = waiting.saturating_add(u128::from(left.micros()).saturating_mul(per));
        Self { seq, job, procs, left, base, per, waited: waited.micros() }
    }

    /// Its bounded slowdown if it starts after such a time, in parts of 2⁶⁴.
    pub(super) fn slowdown(&self, until: Span) -> u128 {
        self.base.saturating_add(u128::from(until.micros()).saturating_mul(self.per)).max(1 << 64)
    }

    /// Its response time, in microseconds.
    pub(super) fn response(&self, until: Span, share: u64) -> u128 {
        let virtually = u128::from(until.micros()) + u128::from(self.left.micros());
        u128::from(self.waited) + virtually * u128::from(SHARE_ONE) / u128::from(share.max(1))
    }
}

/// Where a job has been placed, and what it cost until then.
#[derive(Copy, Clone, Debug)]
pub(super) struct Placed {
    pub(super) start: Time,
    pub(super) end: Time,
    procs: u32,
    before: u128,
    /// The beginning of an earlier hole that is nearly long enough for it.
    hole: Option<Time>,
}

/// Jobs of a group that are placed one after the other.
pub(super) struct Schedule<'a> {
    profile: &'a mut Profile,
    weights: Weights,
    options: &'a GroupOptions,
    /// By item, in the order of the heuristic.
    members: Vec<&'a Member>,
    /// What each item costs at least, if that is what bounds are made of.
    least: Vec<u128>,
    pub(super) placed: Vec<Placed>,
    cost: u128,
    pub(super) best: Best,
    /// Jobs that were placed to move others into holes.
    pub(super) shifts: u64,
    shifted: Vec<bool>,
}

impl<'a> Schedule<'a> {
    /// A schedule of these jobs, in the order of the heuristic, beside the profile.
    pub(super) fn new(
        profile: &'a mut Profile,
        members: Vec<&'a Member>,
        options: &'a GroupOptions,
        weights: Weights,
    ) -> Self {
        let now = weights.now;
        let alone = |member: &&Member| {
            let start = profile.earliest(now, member.left, member.procs).unwrap_or(Time::NEVER);
            member.slowdown(start.since(now))
        };
        let least = match options.bound {
            GroupBound::Least => members.iter().map(alone).collect(),
            GroupBound::None | GroupBound::Placed => vec![0; members.len()],
        };
        let shifted = vec![false; members.len()];
        Self {
            profile,
            weights,
            options,
            members,
            least,
            placed: Vec::new(),
            cost: 0,
            best: Best::default(),
            shifts: 0,
            shifted,
        }
    }

    pub(super) fn member(&self, item: u32) -> &'a Member {
        self.members[item as usize]
    }

    /// When a job would start behind those that are placed.
    pub(super) fn earliest(&self, member: &Member, span: Span) -> Time {
        let last = self.placed.last().filter(|_| !self.options.backfills);
        let from = last.map_or(self.weights.now, |last| last.start);
        self.profile.earliest(from, span, member.procs).unwrap_or(Time::NEVER)
    }

    /// Where it would nearly fit before that start.
    fn hole(&self, member: &Member, start: Time) -> Option<Time> {
        let factor = self.options.shift.filter(|_| start > self.weights.now)?;
        let one = u128::from(Factor::ONE);
        let short =
            (u128::from(member.left.micros()) * one).div_ceil(u128::from(factor.as_millionths().max(1)));
        let short = Span::from_micros(u64::try_from(short).ok()?);
        Some(self.earliest(member, short)).filter(|hole| *hole < start)
    }

    /// Moves jobs into holes, one after the other, each once, where that makes others later [Kanavallil 2007, section 6.5]. Each order that comes of it
    /// is one to choose from.
    fn shift(&mut self, order: &[u32]) {
        let mut moved = order.to_vec();
        self.shifted.fill(false);
        let mut changed = order.len();
        let mut after = 0;
        while let Some(at) = (after..moved.len())
            .find(|at| self.placed[*at].hole.is_some() && !self.shifted[moved[*at] as usize])
        {
            let item = moved[at];
            self.shifted[item as usize] = true;
            let hole = self.placed[at].hole.unwrap_or(Time::NEVER);
            // What it pushes aside are jobs that are planned from there on. Other things cannot be pushed.
            let Some(to) = self.placed[..at].iter().position(|before| before.start >= hole) else {
                after = at + 1;
                continue;
            };
            moved[to..=at].rotate_right(1);
            (after, changed) = (0, changed.min(to));
            self.replace(to, &moved);
            self.shifts += (moved.len() - to) as u64;
            let cost = self.cost;
            self.best.offer(cost, &moved);
        }
        if changed < order.len() {
            self.replace(changed, order);
        }
    }

    /// Places an order again from this place on.
    fn replace(&mut self, from: usize, order: &[u32]) {
        while self.placed.len() > from {
            self.take_back();
        }
        for item in &order[from..] {
            self.place(*item);
        }
    }
}

impl OrderProblem for Schedule<'_> {
    type Cost = u128;

    fn items(&self) -> u32 {
        self.members.len() as u32
    }

    /// The sum of slowdowns so far, beyond the least of each job if bounds are made of that.
    fn place(&mut self, item: u32) -> u128 {
        let member = self.member(item);
        let start = self.earliest(member, member.left);
        let hole = self.hole(member, start);
        let (procs, end) = (member.procs, start + member.left);
        self.profile.reserve(start, end, procs);
        self.placed.push(Placed { start, end, procs, before: self.cost, hole });
        let cost = member.slowdown(start.since(self.weights.now)).saturating_sub(self.least[item as usize]);
        self.cost = self.cost.saturating_add(cost);
        self.cost
    }

    fn take_back(&mut self) {
        let Some(Placed { start, end, procs, before, .. }) = self.placed.pop() else { return };
        self.profile.release(start, end, procs);
        self.cost = before;
    }

    fn reached(&mut self, order: &[u32], cost: u128) {
        if self.best.offer(cost, order) && self.options.shift.is_some() {
            self.shift(order);
        }
    }
}
