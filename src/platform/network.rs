//! Links with fair sharing, as a state machine over integer time.
//!
//! Between two places there is one link, for both directions together. With `n` transfers on a link of `B` bits per second,
//! each progresses at `⌊B / n⌋` bits per second (at least one) at every instant. A transfer leaves the link at
//! the first microsecond at which all its bits have passed, and it arrives the link's latency later; during the latency it uses no
//! bandwidth. A link without a bandwidth is unlimited, and transfers within a place take no time.
//!
//! # Algorithm
//!
//! All transfers on a link progress alike, so one counter per link suffices: `served`, the amount that each transfer has received that
//! has been there since the counter began. A transfer of `d` that begins at a counter of `s` has passed once the counter
//! reaches `s + d`. So a link keeps its transfers in the order of that mark; a beginning or an end changes the speed of the
//! counter, and no transfer. Amounts are in 10⁻⁶ bits, so bits per second times microseconds is exact, and settling at any
//! instant in between changes nothing.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use crate::model::NetworkSpec;
use crate::units::{Bytes, Span, Time};

/// An amount in 10⁻⁶ bits.
type Amount = u128;

/// The transfers between places.
///
/// A pure state machine: [`Links::begin`] starts a transfer, [`Links::next`] is the next arrival if no other transfer begins
/// before, [`Links::due`] takes out the arrivals. The times of calls in between have no influence.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Links {
    network: NetworkSpec,
    /// The links with transfers on them, by their two places.
    busy: BTreeMap<Pair, Flow>,
    /// The arrival of the first transfer of each busy link.
    firsts: BTreeSet<(Time, Pair)>,
    /// The transfers that have left their link, by arrival.
    under_way: BTreeSet<(Time, u64)>,
}

/// Two places, the smaller number first.
type Pair = (u32, u32);

/// A transfer that has arrived.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Arrival {
    /// The time of arrival.
    pub at: Time,
    /// The number that [`Links::begin`] was given.
    pub id: u64,
}

/// A busy link.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Flow {
    /// Bits per second of all transfers together.
    bandwidth: u64,
    latency: Span,
    /// The amount that each transfer has received since the link was last idle, settled up to `since`.
    served: Amount,
    since: Time,
    /// The transfers, by the value of `served` at which they have passed.
    transfers: BTreeSet<(Amount, u64)>,
}

impl Links {
    /// The links of a network, without transfers.
    pub fn new(network: &NetworkSpec) -> Self {
        Self {
            network: network.clone(),
            busy: BTreeMap::new(),
            firsts: BTreeSet::new(),
            under_way: BTreeSet::new(),
        }
    }

    /// Starts a transfer from one place to another (see [`NetworkSpec`] for their numbers). `id` is the caller's; it must differ from
    /// those of transfers that have not arrived.
    pub fn begin(&mut self, id: u64, from: u32, to: u32, data: Bytes, now: Time) {
        let pair = (from.min(to), from.max(to));
        let link = if from == to {
            // A transfer within a place.
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

    /// The next arrival, if no transfer begins before; `None` if there is none.
    pub fn next(&self) -> Option<Time> {
        let passing = self.firsts.first().map(|(time, _)| *time);
        let passed = self.under_way.first().map(|(time, _)| *time);
        passing.into_iter().chain(passed).min()
    }

    /// Takes out the arrivals up to and including `now`, in order of time; those of one instant in order of
    /// their numbers.
    pub fn due(&mut self, now: Time) -> Vec<Arrival> {
        // Settling a link whose first transfer is due removes it and updates the link's first arrival.
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

    /// Changes the connections from now on. Transfers on a link continue at its new bandwidth, and all pass at once if it is
    /// unlimited now; transfers that have left their link arrive as before.
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

    /// The number of transfers that have not arrived.
    pub fn len(&self) -> usize {
        self.under_way.len() + self.busy.values().map(|flow| flow.transfers.len()).sum::<usize>()
    }

    /// Whether every transfer has arrived.
    pub fn is_empty(&self) -> bool {
        self.under_way.is_empty() && self.busy.is_empty()
    }

    /// Brings a link up to `now`: transfers that have passed by then leave it, each at its own instant. A link
    /// without transfers is removed.
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

    /// Updates the first arrival of a link.
    fn plan(&mut self, pair: Pair, before: Option<Time>, after: Option<Time>) {
        if before == after {
            return;
        }
        if let Some(time) = before {
            self.firsts.remove(&(time, pair));
        }
        // A time beyond the time axis never comes.
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

    /// The rate of each transfer: bits per second, or 10⁻⁶ bits per microsecond.
    fn rate(&self) -> Amount {
        u128::from(self.bandwidth / (self.transfers.len() as u64).max(1)).max(1)
    }

    /// The instant at which the first transfer has passed, if no other begins.
    fn first_passes(&self) -> Option<Time> {
        let (mark, _) = self.transfers.first()?;
        let micros = mark.saturating_sub(self.served).div_ceil(self.rate());
        Some(self.since + Span::from_micros(u64::try_from(micros).unwrap_or(u64::MAX)))
    }

    /// The arrival of the first transfer, if no other begins.
    fn first(&self) -> Option<Time> {
        self.first_passes().map(|passed| passed + self.latency)
    }

    /// Advances to the instant at which the next transfer has passed, removes and returns it; or to `now`, and returns `None`, if
    /// none passes until then.
    fn pass(&mut self, now: Time) -> Option<(Time, u64)> {
        let passes = self.first_passes()?;
        let to = passes.min(now);
        // Never move backwards from a time that lies ahead.
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
