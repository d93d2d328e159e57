//! Links with fair sharing, as a state machine over integer time.
//!
//! Between two places there is one link, for both directions together. With `n` transfers on a link of `B` bits per second,
//! each progresses at `⌊B / n⌋` bits per second (at least one) at every instant; on unshared links, at `B`. If places have uplinks,
//! [`uplinks`] says at which rate. A transfer leaves the link at
//! the first microsecond at which all its bits have passed, and it arrives the link's latency later; during the latency it uses no
//! bandwidth. A link without a bandwidth is unlimited, and transfers within a place take no time.

mod load;
mod uplinks;

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

pub use self::load::Load;
use self::uplinks::Uplinks;
use super::progress::{Amount, Progress, amount, share, time_for};
use crate::model::{Link, NetworkSpec, Sharing};
use crate::units::{Bytes, Span, Time};

/// The transfers between places.
///
/// A pure state machine: [`Links::begin`] starts a transfer, [`Links::next`] is the next arrival if no other transfer begins
/// before, [`Links::due`] takes out the arrivals. The times of calls in between have no influence. With uplinks,
/// [`Links::next`] may also be an instant at which a transfer leaves its link and others become faster.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Links {
    network: NetworkSpec,
    /// The links with transfers on them, by their two places.
    busy: BTreeMap<Pair, Flow>,
    /// The arrival of the first transfer of each busy link.
    firsts: BTreeSet<(Time, Pair)>,
    /// If places have uplinks, the transfers that have not passed.
    uplinks: Uplinks,
    /// The transfers that have left their link, by arrival.
    under_way: BTreeSet<(Time, u64)>,
}

/// Two places, the smaller number first.
type Pair = (u32, u32);

/// From a place to another.
type Way = (u32, u32);

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
    /// Bits per second of all transfers together, or of each if they do not share.
    bandwidth: u64,
    sharing: Sharing,
    latency: Span,
    /// The transfers, and whether each goes to the first of the two places.
    transfers: Progress<(u64, bool)>,
}

impl Links {
    /// The links of a network, without transfers.
    pub fn new(network: &NetworkSpec) -> Self {
        Self {
            network: network.clone(),
            busy: BTreeMap::new(),
            firsts: BTreeSet::new(),
            uplinks: Uplinks::default(),
            under_way: BTreeSet::new(),
        }
    }

    /// Starts a transfer from one place to another (see [`NetworkSpec`] for their numbers). `id` is the caller's; it must differ from
    /// those of transfers that have not arrived.
    pub fn begin(&mut self, id: u64, from: u32, to: u32, data: Bytes, now: Time) {
        self.enter(id, (from, to), amount(data), now);
    }

    /// The next arrival, if no transfer begins before; `None` if there is none.
    pub fn next(&self) -> Option<Time> {
        let passing = self.firsts.first().map(|(time, _)| *time);
        let passed = self.under_way.first().map(|(time, _)| *time);
        passing.into_iter().chain(passed).chain(self.uplinks.next()).min()
    }

    /// How long a transfer would take that begins now, if those on its way stay and none joins them. [`Links::due`] must have been
    /// called for this instant.
    pub fn estimate(&self, from: u32, to: u32, data: Bytes) -> Span {
        let rate = if from == to || data == Bytes::ZERO {
            None
        } else if self.network.has_uplinks() {
            self.uplinks.rate_of_one_more(&self.network, (from, to))
        } else {
            let others = self.busy.get(&pair((from, to))).map_or(0, |flow| flow.transfers.len());
            let bandwidth = self.network.link(from as usize, to as usize).bandwidth;
            bandwidth.map(|bandwidth| rate(bandwidth.bits(), self.network.sharing, others + 1))
        };
        self.link((from, to)).latency + rate.map_or(Span::ZERO, |rate| time_for(amount(data), rate))
    }

    /// Takes out the arrivals up to and including `now`, in order of time; those of one instant in order of
    /// their numbers.
    pub fn due(&mut self, now: Time) -> Vec<Arrival> {
        // Settling a link whose first transfer is due removes it and updates the link's first arrival.
        while let Some((_, pair)) = self.firsts.first().copied().filter(|(time, _)| *time <= now) {
            self.settle(pair, now);
        }
        self.settle_uplinks(now);
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

    /// Changes the connections from now on. Transfers on a link continue with what is left of them, and all pass at once if nothing
    /// limits them now; transfers that have left their link arrive as before.
    pub fn change(&mut self, network: &NetworkSpec, now: Time) {
        let same = NetworkSpec { data: network.data, ..self.network.clone() } == *network;
        if same {
            // Only what data costs: nothing is faster or slower.
            self.network = network.clone();
            return;
        }
        for pair in self.busy.keys().copied().collect::<Vec<_>>() {
            self.settle(pair, now);
        }
        self.settle_uplinks(now);
        let mut left = self.uplinks.drain(now);
        for ((a, b), mut flow) in std::mem::take(&mut self.busy) {
            let transfers = flow.transfers.drain(now);
            left.extend(transfers.map(|((id, back), left)| (id, if back { (b, a) } else { (a, b) }, left)));
        }
        self.firsts.clear();
        self.network = network.clone();
        left.into_iter().for_each(|(id, way, left)| self.enter(id, way, left, now));
    }

    /// Breaks off the transfers from and to a place, because it leaves, but for those that are to go on. Returns them in order of their numbers.
    /// What has left its link arrives.
    pub fn stop(&mut self, place: u32, now: Time, goes_on: impl Fn(u64) -> bool) -> Vec<u64> {
        let touched = |(a, b): &Way| *a == place || *b == place;
        let mut taken = Vec::new();
        for pair in self.busy.keys().copied().filter(touched).collect::<Vec<_>>() {
            self.settle(pair, now);
            let Some(mut flow) = self.busy.remove(&pair) else { continue };
            self.plan(pair, flow.first(), None);
            let way = |back: bool| if back { (pair.1, pair.0) } else { pair };
            taken.extend(flow.transfers.drain(now).map(|((id, back), left)| (id, way(back), left)));
        }
        self.settle_uplinks(now);
        taken.extend(self.uplinks.stop(&self.network, touched, now));
        let (stay, gone): (Vec<_>, Vec<_>) = taken.into_iter().partition(|(id, ..)| goes_on(*id));
        stay.into_iter().for_each(|(id, way, left)| self.enter(id, way, left, now));
        let mut stopped: Vec<u64> = gone.into_iter().map(|(id, ..)| id).collect();
        stopped.sort_unstable();
        stopped
    }

    /// The number of transfers that have not arrived.
    pub fn len(&self) -> usize {
        let on_links = self.busy.values().map(|flow| flow.transfers.len()).sum::<usize>();
        self.under_way.len() + self.uplinks.len() + on_links
    }

    /// Whether every transfer has arrived.
    pub fn is_empty(&self) -> bool {
        self.under_way.is_empty() && self.uplinks.is_empty() && self.busy.is_empty()
    }

    /// The link of a way; within a place it takes no time.
    fn link(&self, (from, to): Way) -> Link {
        if from == to { Link::default() } else { self.network.link(from as usize, to as usize) }
    }

    /// Puts a transfer on its way.
    fn enter(&mut self, id: u64, way: Way, amount: Amount, now: Time) {
        let (from, to) = (way.0 as usize, way.1 as usize);
        let Link { latency, bandwidth } = self.link(way);
        if amount == 0 || from == to || self.network.bandwidth(from, to).is_none() {
            self.arrive(now + latency, id);
            return;
        }
        let Some(bandwidth) = bandwidth.filter(|_| !self.network.has_uplinks()) else {
            self.settle_uplinks(now);
            self.uplinks.begin(&self.network, id, way, amount, now);
            return;
        };
        let (pair, sharing) = (pair(way), self.network.sharing);
        if self.busy.contains_key(&pair) {
            self.settle(pair, now);
        }
        let flow =
            self.busy.entry(pair).or_insert_with(|| Flow::new(bandwidth.bits(), sharing, latency, now));
        let before = flow.first();
        flow.begin((id, way.1 < way.0), amount, now);
        let after = flow.first();
        self.plan(pair, before, after);
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

    /// Brings the links of places with uplinks up to `now`.
    fn settle_uplinks(&mut self, now: Time) {
        while let Some((time, passed)) = self.uplinks.pass(&self.network, now) {
            for (way, id) in passed {
                self.arrive(time + self.link(way).latency, id);
            }
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
    fn new(bandwidth: u64, sharing: Sharing, latency: Span, now: Time) -> Self {
        Self { bandwidth, sharing, latency, transfers: Progress::new(now) }
    }

    /// The arrival of the first transfer, if no other begins.
    fn first(&self) -> Option<Time> {
        self.transfers.next().map(|passed| passed + self.latency)
    }

    fn begin(&mut self, transfer: (u64, bool), amount: Amount, now: Time) {
        let new = self.transfers.begin(transfer, amount, now);
        debug_assert!(new, "two transfers have the number {}", transfer.0);
        self.transfers.set_rate(rate(self.bandwidth, self.sharing, self.transfers.len()), now);
    }

    /// Advances to the instant at which the next transfer has passed, removes and returns it; or to `now`, and returns `None`, if
    /// none passes until then.
    fn pass(&mut self, now: Time) -> Option<(Time, u64)> {
        let (time, (id, _)) = self.transfers.pass(now)?;
        self.transfers.set_rate(rate(self.bandwidth, self.sharing, self.transfers.len()), time);
        Some((time, id))
    }
}

fn pair((from, to): Way) -> Pair {
    (from.min(to), from.max(to))
}

/// The rate of each of `transfers` on a link.
fn rate(bandwidth: u64, sharing: Sharing, transfers: usize) -> Amount {
    share(bandwidth, if sharing == Sharing::Shared { transfers } else { 1 })
}

#[cfg(test)]
mod tests;
