//! Links that are shared fairly, as a state machine over integer time.
//!
//! Between two places there is one link, for both directions together. With `n` transfers on a link of `B` bits a second,
//! each progresses at `⌊B / n⌋` bits a second (at least one), all at once and at every instant. A transfer has passed at
//! the first microsecond at which all its bits have, and it arrives the link's latency later; it takes no part of the link
//! while it is under way. A link without a bandwidth is as wide as anybody wants, and within a place nothing takes time.
//!
//! # How it is worked out
//!
//! All transfers on a link progress alike, so one counter a link is enough: `served`, what each transfer that has been
//! there since the counter began has got. A transfer of `d` that begins at a counter of `s` has passed once the counter
//! reaches `s + d`. So a link keeps its transfers in the order of that mark; a beginning or an end changes the counter's
//! speed, and no transfer. Amounts are in 10⁻⁶ bits, so that bits a second times microseconds is exact, and settling at any
//! instant in between changes nothing.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use crate::model::NetworkSpec;
use crate::units::{Bytes, Span, Time};

/// In 10⁻⁶ bits.
type Amount = u128;

/// Transfers between places.
///
/// A pure state machine: [`Links::begin`] starts a transfer, [`Links::next`] says when one arrives next if no other begins
/// until then, [`Links::due`] hands out what has arrived. When these are called in between has no influence.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Links {
    network: NetworkSpec,
    /// Links with transfers on them, by their two places.
    busy: BTreeMap<Pair, Flow>,
    /// When the first transfer of each busy link arrives.
    firsts: BTreeSet<(Time, Pair)>,
    /// What has passed, by arrival.
    under_way: BTreeSet<(Time, u64)>,
}

/// Two places, the smaller one first.
type Pair = (u32, u32);

/// A transfer that has arrived.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Arrival {
    /// When.
    pub at: Time,
    /// The number that it was begun with.
    pub id: u64,
}

/// A link in use.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Flow {
    /// Bits a second, all transfers together.
    bandwidth: u64,
    latency: Span,
    /// What each transfer has got since the link was last idle, settled up to `since`.
    served: Amount,
    since: Time,
    /// Transfers by what `served` is when they have passed.
    transfers: BTreeSet<(Amount, u64)>,
}

impl Links {
    /// The links of a network, with nothing on them.
    pub fn new(network: &NetworkSpec) -> Self {
        Self {
            network: network.clone(),
            busy: BTreeMap::new(),
            firsts: BTreeSet::new(),
            under_way: BTreeSet::new(),
        }
    }

    /// Moves data from one place to another (see [`NetworkSpec`] for their numbers). `id` is the caller's; transfers that
    /// have not arrived have different ones.
    pub fn begin(&mut self, id: u64, from: u32, to: u32, data: Bytes, now: Time) {
        let pair = (from.min(to), from.max(to));
        let link = if from == to {
            // Within a place.
            crate::model::Link::default()
        } else {
            self.network.link(from as usize, to as usize)
        };
        let Some(bandwidth) = link.bandwidth.filter(|_| data > Bytes::ZERO) else {
            self.arrive(now + link.latency, id);
            return;
        };
        if self.busy.contains_key(&pair) {
            self.settle(pair, now);
        }
        let flow = self.busy.entry(pair).or_insert_with(|| Flow::new(bandwidth.bits(), link.latency, now));
        let before = flow.first();
        let new = flow.transfers.insert((flow.served.saturating_add(amount(data)), id));
        debug_assert!(new, "two transfers have the number {id}");
        let after = flow.first();
        self.plan(pair, before, after);
    }

    /// When a transfer arrives next, if none begins until then; `None` if none ever does.
    pub fn next(&self) -> Option<Time> {
        let passing = self.firsts.first().map(|(time, _)| *time);
        let passed = self.under_way.first().map(|(time, _)| *time);
        match (passing, passed) {
            (Some(a), Some(b)) => Some(a.min(b)),
            (a, b) => a.or(b),
        }
    }

    /// Takes out what has arrived up to and including `now`, in order of time; what arrives at one instant is in order of
    /// its numbers.
    pub fn due(&mut self, now: Time) -> Vec<Arrival> {
        // The first of a link is due, so settling takes it off, and its turn moves on.
        while let Some((_, pair)) = self.firsts.first().copied().filter(|(time, _)| *time <= now) {
            self.settle(pair, now);
        }
        let mut arrived = Vec::new();
        while let Some((at, id)) = self.under_way.first().copied().filter(|(time, _)| *time <= now) {
            self.under_way.pop_first();
            arrived.push(Arrival { at, id });
        }
        arrived
    }

    /// The connections.
    pub fn network(&self) -> &NetworkSpec {
        &self.network
    }

    /// Connections are others from now on. What is on a link goes on at its new bandwidth, all at once if there is no limit any
    /// more; what has passed it arrives when it would have.
    pub fn change(&mut self, network: &NetworkSpec, now: Time) {
        self.network = network.clone();
        for pair in self.busy.keys().copied().collect::<Vec<_>>() {
            self.settle(pair, now);
            let Some(mut flow) = self.busy.remove(&pair) else { continue };
            let before = flow.first();
            let link = self.network.link(pair.0 as usize, pair.1 as usize);
            flow.latency = link.latency;
            match link.bandwidth {
                Some(bandwidth) => {
                    flow.bandwidth = bandwidth.bits();
                    self.plan(pair, before, flow.first());
                    self.busy.insert(pair, flow);
                }
                None => {
                    self.plan(pair, before, None);
                    flow.transfers.iter().for_each(|(_, id)| self.arrive(now + link.latency, *id));
                }
            }
        }
    }

    /// Transfers that have not arrived.
    pub fn len(&self) -> usize {
        self.under_way.len() + self.busy.values().map(|flow| flow.transfers.len()).sum::<usize>()
    }

    /// True if every transfer has arrived.
    pub fn is_empty(&self) -> bool {
        self.under_way.is_empty() && self.busy.is_empty()
    }

    /// Brings a link up to `now`: transfers that have passed by then leave it, each at its own instant. A link with
    /// nothing left on it is forgotten.
    fn settle(&mut self, pair: Pair, now: Time) {
        let Some(mut flow) = self.busy.remove(&pair) else { return };
        let before = flow.first();
        while let Some((passed, id)) = flow.pass(now) {
            self.arrive(passed + flow.latency, id);
        }
        let after = flow.first();
        self.plan(pair, before, after);
        if after.is_some() {
            self.busy.insert(pair, flow);
        }
    }

    /// The first arrival of a link has changed.
    fn plan(&mut self, pair: Pair, before: Option<Time>, after: Option<Time>) {
        if before == after {
            return;
        }
        if let Some(time) = before {
            self.firsts.remove(&(time, pair));
        }
        // What lies beyond the time axis never happens.
        if let Some(time) = after.filter(|time| *time < Time::NEVER) {
            self.firsts.insert((time, pair));
        }
    }

    fn arrive(&mut self, at: Time, id: u64) {
        if at < Time::NEVER {
            let new = self.under_way.insert((at, id));
            debug_assert!(new, "two transfers have the number {id}");
        }
    }
}

impl Flow {
    fn new(bandwidth: u64, latency: Span, now: Time) -> Self {
        Self { bandwidth, latency, served: 0, since: now, transfers: BTreeSet::new() }
    }

    /// What each transfer gets: bits a second, or 10⁻⁶ bits a microsecond.
    fn rate(&self) -> Amount {
        u128::from(self.bandwidth / (self.transfers.len() as u64).max(1)).max(1)
    }

    /// When the first transfer has passed, if nothing else begins.
    fn first_passes(&self) -> Option<Time> {
        let (mark, _) = self.transfers.first()?;
        let micros = mark.saturating_sub(self.served).div_ceil(self.rate());
        Some(self.since + Span::from_micros(u64::try_from(micros).unwrap_or(u64::MAX)))
    }

    /// When the first transfer arrives, if nothing else begins.
    fn first(&self) -> Option<Time> {
        self.first_passes().map(|passed| passed + self.latency)
    }

    /// Goes on to where the next transfer has passed, takes it off and answers when it did; or to `now`, and `None`, if
    /// none passes until then.
    fn pass(&mut self, now: Time) -> Option<(Time, u64)> {
        let passes = self.first_passes()?;
        let to = passes.min(now);
        // Times that lie ahead are no way back.
        self.served += self.rate() * u128::from(to.since(self.since).micros());
        self.since = self.since.max(to);
        if passes > now {
            return None;
        }
        self.transfers.pop_first().map(|(_, id)| (passes, id))
    }
}

fn amount(data: Bytes) -> Amount {
    u128::from(data.count()) * 8 * 1_000_000
}

#[cfg(test)]
mod tests;
