//! The two levels of the search for the order of a group.

use super::choice::Merits;
use super::finish::Ends;
use super::options::{GroupBound, GroupLimits, GroupOptions};
use super::schedule::{Member, Schedule, Weights};
use crate::local::Profile;
use crate::search::discrepancy::{DiscrepancySearch, Options, OrderProblem, Strategy};
use crate::units::Time;

/// What a search has found: the order of the plan, by the places in the order of arrival, and what it took.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(in crate::local::policies::scojo_pect) struct GroupFound {
    pub(in crate::local::policies::scojo_pect) order: Vec<u32>,
    pub(in crate::local::policies::scojo_pect) nodes: u64,
    pub(in crate::local::policies::scojo_pect) pruned: u64,
    pub(in crate::local::policies::scojo_pect) orders: u64,
    /// Whether it has less slowdown than the order that the heuristic gives. One that was chosen for its makespan may have more.
    pub(in crate::local::policies::scojo_pect) is_better: bool,
    /// Whether none has less, of all orders of the whole group.
    pub(in crate::local::policies::scojo_pect) is_proven: bool,
}

/// The search for the order of a group [Kanavallil 2007, section 6.5]: first all orders of a few long and wide jobs, then, with these in the best order
/// among the others, some orders of all jobs.
pub(in crate::local::policies::scojo_pect) struct GroupSearch<'a> {
    /// Free processors beside what runs, and what has been fixed.
    profile: Profile,
    members: &'a [Member],
    options: &'a GroupOptions,
    limits: GroupLimits,
    weights: Weights,
    found: GroupFound,
}

impl<'a> GroupSearch<'a> {
    pub(in crate::local::policies::scojo_pect) fn new(
        profile: &Profile,
        members: &'a [Member],
        options: &'a GroupOptions,
        limits: GroupLimits,
        weights: Weights,
    ) -> Self {
        let (profile, found) = (profile.clone(), GroupFound::default());
        Self { profile, members, options, limits, weights, found }
    }

    fn schedule(&mut self, items: &[u32]) -> Schedule<'_> {
        let members: Vec<&Member> = items.iter().map(|item| &self.members[*item as usize]).collect();
        Schedule::new(&mut self.profile, members, self.options, self.weights)
    }

    /// Calls `f` with each job of an order as it is placed, and takes all back.
    fn walk(&mut self, items: &[u32], mut f: impl FnMut(&Member, Time, Time)) {
        let mut schedule = self.schedule(items);
        for item in 0..items.len() as u32 {
            schedule.place(item);
            let last = schedule.placed[item as usize];
            f(schedule.member(item), last.start, last.end);
        }
        items.iter().for_each(|_| schedule.take_back());
    }

    /// The slowdowns of the jobs in an order, in parts of 2³².
    pub(in crate::local::policies::scojo_pect) fn slowdowns(&mut self, items: &[u32]) -> Vec<u64> {
        let now = self.weights.now;
        let mut slowdowns = Vec::with_capacity(items.len());
        self.walk(items, |member, start, _| {
            let slowdown = member.slowdown(start.since(now)) >> 32;
            slowdowns.push(u64::try_from(slowdown).unwrap_or(u64::MAX));
        });
        slowdowns
    }

    /// Their sum.
    pub(in crate::local::policies::scojo_pect) fn slowdown(&mut self, items: &[u32]) -> u128 {
        self.slowdowns(items).into_iter().map(u128::from).sum()
    }

    /// When the jobs in an order run.
    pub(in crate::local::policies::scojo_pect) fn ends(&mut self, items: &[u32]) -> Vec<Ends> {
        let mut ends = Vec::with_capacity(items.len());
        self.walk(items, |member, start, end| {
            ends.push(Ends { seq: member.seq, start, end, procs: member.procs, is_planned: true });
        });
        ends
    }

    /// What an order is compared by.
    fn merits(&mut self, items: &[u32]) -> Merits {
        let Weights { now, share, .. } = self.weights;
        let mut merits = Merits { makespan: 0, response: 0 };
        self.walk(items, |member, start, end| {
            merits.makespan = merits.makespan.max(u128::from(end.since(now).micros()));
            merits.response = merits.response.saturating_add(member.response(start.since(now), share));
        });
        merits
    }

    /// The order that is chosen of those that a search finds best. It begins with the order of the heuristic.
    fn best(&mut self, items: &[u32], strategy: Strategy, orders: u64) -> Vec<u32> {
        if items.is_empty() {
            return Vec::new();
        }
        let GroupOptions { nodes, discrepancies, bound, .. } = *self.options;
        let nodes = nodes.saturating_sub(self.found.nodes).max(items.len() as u64);
        let prunes = bound != GroupBound::None;
        let options = Options { strategy, nodes, prunes, orders, discrepancies };
        let mut schedule = self.schedule(items);
        let Ok(found) = DiscrepancySearch::default().run(&mut schedule, options) else {
            return items.to_vec();
        };
        let (best, shifts) = (std::mem::take(&mut schedule.best), schedule.shifts);
        self.found.nodes += found.nodes + shifts;
        self.found.pruned += found.pruned;
        self.found.orders += found.leaves;
        self.found.is_proven = found.is_proven;
        let orders: Vec<Vec<u32>> =
            best.orders().map(|order| order.iter().map(|item| items[*item as usize]).collect()).collect();
        let merits: Vec<Merits> = orders.iter().map(|order| self.merits(order)).collect();
        let chosen = self.options.choose(&merits);
        orders.into_iter().nth(chosen).unwrap_or_else(|| items.to_vec())
    }

    /// Places jobs for good, in this order.
    fn fix(&mut self, items: &[u32]) {
        let mut fixed = Vec::with_capacity(items.len());
        self.walk(items, |member, start, end| fixed.push((start, end, member.procs)));
        for (start, end, procs) in fixed {
            self.profile.reserve(start, end, procs);
        }
    }

    /// The jobs in the order of the heuristic: the next one is always the one that has the largest slowdown if it is next; of equal ones the longest one, and then the first that
    /// came. Of the long and wide ones only the first is among those that can be next.
    fn merged(&mut self, wide: &[u32]) -> Vec<u32> {
        let now = self.weights.now;
        let all: Vec<u32> = (0..self.members.len() as u32).collect();
        let mut rest: Vec<u32> = all.iter().copied().filter(|item| !wide.contains(item)).collect();
        let mut wide = wide.iter().copied().peekable();
        let mut order = Vec::with_capacity(all.len());
        let mut schedule = self.schedule(&all);
        loop {
            let of = |item: u32| {
                let member = schedule.member(item);
                let slowdown = member.slowdown(schedule.earliest(member, member.left).since(now));
                (slowdown, member.left, std::cmp::Reverse(member.seq))
            };
            let next = rest.iter().copied().chain(wide.peek().copied()).max_by_key(|item| of(*item));
            let Some(next) = next else { break };
            if wide.next_if_eq(&next).is_none() {
                rest.retain(|item| *item != next);
            }
            schedule.place(next);
            order.push(next);
        }
        order.iter().for_each(|_| schedule.take_back());
        order
    }

    /// Searches. Items are members, by their places.
    pub(in crate::local::policies::scojo_pect) fn search(&mut self, capacity: u32) -> GroupFound {
        let GroupOptions { first: (least, most), search, orders, second, fixed, .. } = *self.options;
        let limits = self.limits;
        let wide = (0_u32..).zip(self.members).filter(|(_, member)| limits.is_wide(member, capacity));
        let mut wide: Vec<u32> = wide.map(|(item, _)| item).take(most as usize).collect();
        if wide.len() >= least as usize {
            // They begin in the order of the heuristic.
            wide = self.merged_of(&wide);
            wide = self.best(&wide, Strategy::DepthFirst, u64::MAX);
        } else {
            wide.clear();
        }
        let merged = self.merged(&wide);
        self.found.is_proven = false;
        let beside = self.profile.clone();
        let order = if !second {
            merged.clone()
        } else if fixed && !wide.is_empty() {
            self.fix(&wide);
            let rest: Vec<u32> = merged.iter().copied().filter(|item| !wide.contains(item)).collect();
            let rest = self.best(&rest, search, orders);
            (self.profile, self.found.is_proven) = (beside, false);
            [wide, rest].concat()
        } else if merged.len() == limits.most as usize && merged.len() > 1 {
            // A full group is split in two halves, which are searched one after the other, and then the whole from there on.
            let (front, back) = merged.split_at(merged.len() / 2);
            let front = self.best(front, search, orders);
            self.fix(&front);
            let back = self.best(back, search, orders);
            self.profile = beside;
            self.best(&[front, back].concat(), search, orders)
        } else {
            self.best(&merged, search, orders)
        };
        self.found.is_better = self.slowdown(&order) < self.slowdown(&merged);
        GroupFound { order, ..self.found.clone() }
    }

    /// Some jobs in the order of the heuristic among themselves.
    fn merged_of(&mut self, items: &[u32]) -> Vec<u32> {
        let members: Vec<Member> = items.iter().map(|item| self.members[*item as usize]).collect();
        let mut search = GroupSearch::new(&self.profile, &members, self.options, self.limits, self.weights);
        search.merged(&[]).into_iter().map(|place| items[place as usize]).collect()
    }
}
