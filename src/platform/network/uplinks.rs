//! Links whose places have uplinks in common: max-min fair rates.
//!
//! A transfer passes up to three *cables*: the uplink of its source, the link, and the uplink of its destination in the other
//! direction. Its rate is the max-min fair one (Bertsekas and Gallager, Data Networks, 1992, section 6.5.2), by progressive filling:
//! of all cables take the one that leaves least for each of its transfers without a rate (among equals the first), give each of these
//! that much, rounded down to a bit per second (at least one), and take it from the other cables that they pass; until all have a rate.
//!
//! All transfers of one way (from a place to another) have the same rate, so they share a counter as those of a link do. A beginning or an
//! end changes rates only where a chain of cables leads: a change costs the ways of that component times a logarithm, however many
//! transfers they carry.

use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};
use smallvec::SmallVec;

use super::{Amount, Way};
use crate::model::{NetworkSpec, Sharing};
use crate::platform::progress::Progress;
use crate::units::{Bandwidth, Time};

/// A limit that transfers have in common.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Cable {
    Link(u32, u32),
    Out(u32),
    In(u32),
}

type Cables = SmallVec<[Cable; 3]>;

/// The transfers on links whose places have uplinks.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Uplinks {
    flows: BTreeMap<Way, WayFlow>,
    /// The ways of all flows, turned around.
    into: BTreeSet<Way>,
    /// When the first transfer of each flow has passed.
    passes: BTreeSet<(Time, Way)>,
}

/// The transfers of one way.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct WayFlow {
    transfers: Progress<u64>,
    /// Its place in [`Uplinks::passes`].
    planned: Option<Time>,
}

impl Uplinks {
    /// Starts a transfer. Everything up to `now` must have passed.
    pub(super) fn begin(&mut self, network: &NetworkSpec, id: u64, way: Way, amount: Amount, now: Time) {
        let new = || WayFlow { transfers: Progress::new(now), planned: None };
        let new = self.flows.entry(way).or_insert_with(new).transfers.begin(id, amount, now);
        debug_assert!(new, "two transfers have the number {id}");
        self.into.insert((way.1, way.0));
        self.share(network, &[way], now);
    }

    /// When the next transfer has passed, if no other begins.
    pub(super) fn next(&self) -> Option<Time> {
        self.passes.first().map(|(time, _)| *time)
    }

    /// Takes out the transfers that have passed next, if that is no later than `now`, all at the same instant.
    pub(super) fn pass(&mut self, network: &NetworkSpec, now: Time) -> Option<(Time, Vec<(Way, u64)>)> {
        let time = self.next().filter(|time| *time <= now)?;
        let (mut passed, mut ways) = (Vec::new(), Vec::new());
        while let Some((_, way)) = self.passes.first().copied().filter(|(at, _)| *at == time) {
            self.passes.pop_first();
            ways.push(way);
            let Some(flow) = self.flows.get_mut(&way) else { continue };
            flow.planned = None;
            passed.extend(std::iter::from_fn(|| flow.transfers.pass(time)).map(|(_, id)| (way, id)));
            if flow.transfers.is_empty() {
                self.flows.remove(&way);
                self.into.remove(&(way.1, way.0));
            }
        }
        self.share(network, &ways, time);
        Some((time, passed))
    }

    /// Takes out all transfers with what is left of them. Everything up to `now` must have passed.
    pub(super) fn drain(&mut self, now: Time) -> Vec<(u64, Way, Amount)> {
        let mut all = Vec::new();
        for (way, mut flow) in std::mem::take(self).flows {
            all.extend(flow.transfers.drain(now).map(|(id, left)| (id, way, left)));
        }
        all
    }

    /// Takes out the transfers of some ways. Everything up to `now` must have passed.
    pub(super) fn stop(
        &mut self,
        network: &NetworkSpec,
        is_it: impl Fn(&Way) -> bool,
        now: Time,
    ) -> Vec<u64> {
        let ways: Vec<Way> = self.flows.keys().copied().filter(is_it).collect();
        let mut stopped = Vec::new();
        for way in &ways {
            let Some(mut flow) = self.flows.remove(way) else { continue };
            stopped.extend(flow.transfers.drain(now).map(|(id, _)| id));
            flow.planned.map(|time| self.passes.remove(&(time, *way)));
            self.into.remove(&(way.1, way.0));
        }
        self.share(network, &ways, now);
        stopped
    }

    /// The number of transfers.
    pub(super) fn len(&self) -> usize {
        self.flows.values().map(|flow| flow.transfers.len()).sum()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.flows.is_empty()
    }

    /// The rate that one more transfer would have if the others on each cable took no less.
    pub(super) fn rate_of_one_more(&self, network: &NetworkSpec, way: Way) -> Option<Amount> {
        let cables = cables(network, way);
        cables
            .iter()
            .map(|cable| {
                let others: usize =
                    self.ways(*cable, network).map(|way| self.flows[&way].transfers.len()).sum();
                Share::of(network, *cable, others as u64 + 1).rate()
            })
            .min()
    }

    /// The ways with transfers that a cable carries.
    fn ways<'a>(&'a self, cable: Cable, network: &NetworkSpec) -> impl Iterator<Item = Way> + use<'a> {
        let (out, into, link) = match cable {
            Cable::Out(place) => (Some(place), None, None),
            Cable::In(place) => (None, Some(place), None),
            Cable::Link(a, b) => (None, None, Some((a, b))),
        };
        let turned = |(a, b): Way| (b, a);
        let out = out.into_iter().flat_map(|place| self.flows.range((place, 0)..=(place, u32::MAX)));
        let into = into.into_iter().flat_map(|place| self.into.range((place, 0)..=(place, u32::MAX)));
        let back = link.filter(|_| network.sharing == Sharing::Shared).map(turned);
        let links = link.into_iter().chain(back).filter(|way| self.flows.contains_key(way));
        out.map(|(way, _)| *way).chain(into.copied().map(turned)).chain(links)
    }

    /// Gives all transfers that share a chain of cables with these ways their rates from now on.
    fn share(&mut self, network: &NetworkSpec, changed: &[Way], now: Time) {
        let mut open: Vec<Cable> = changed.iter().flat_map(|way| cables(network, *way)).collect();
        let mut found: BTreeMap<Cable, Vec<Way>> = BTreeMap::new();
        let mut ways: BTreeSet<Way> =
            changed.iter().copied().filter(|way| self.flows.contains_key(way)).collect();
        while let Some(cable) = open.pop() {
            if found.contains_key(&cable) {
                continue;
            }
            let carried: Vec<Way> = self.ways(cable, network).collect();
            let new = carried.iter().filter(|way| ways.insert(**way));
            open.extend(new.flat_map(|way| cables(network, *way)));
            found.insert(cable, carried);
        }
        let rates = self.fill(network, &found);
        for way in ways {
            let Some(flow) = self.flows.get_mut(&way) else { continue };
            rates.get(&way).into_iter().for_each(|rate| flow.transfers.set_rate(*rate, now));
            // A time beyond the time axis never comes.
            let next = flow.transfers.next().filter(|time| *time < Time::NEVER);
            if next != flow.planned {
                flow.planned.map(|time| self.passes.remove(&(time, way)));
                next.map(|time| self.passes.insert((time, way)));
                flow.planned = next;
            }
        }
    }

    /// Progressive filling over cables and the ways that they carry.
    fn fill(&self, network: &NetworkSpec, carried: &BTreeMap<Cable, Vec<Way>>) -> BTreeMap<Way, Amount> {
        let count = |way: &Way| self.flows[way].transfers.len() as u64;
        let mut shares: BTreeMap<Cable, Share> = BTreeMap::new();
        for (cable, ways) in carried.iter().filter(|(_, ways)| !ways.is_empty()) {
            shares.insert(*cable, Share::of(network, *cable, ways.iter().map(count).sum()));
        }
        let mut order: BTreeSet<(Share, Cable)> =
            shares.iter().map(|(cable, share)| (*share, *cable)).collect();
        let mut rates = BTreeMap::new();
        while let Some((share, tightest)) = order.pop_first() {
            let rate = share.rate();
            for way in &carried[&tightest] {
                if rates.contains_key(way) {
                    continue;
                }
                rates.insert(*way, rate);
                let others = cables(network, *way);
                for cable in others.into_iter().filter(|cable| *cable != tightest) {
                    let Some(share) = shares.get_mut(&cable) else { continue };
                    order.remove(&(*share, cable));
                    share.take(count(way), rate);
                    if share.transfers > 0 {
                        order.insert((*share, cable));
                    }
                }
            }
        }
        rates
    }
}

/// What is left of a cable, and its transfers without a rate. The order is that of what is left for each.
#[derive(Copy, Clone, Debug)]
struct Share {
    left: u128,
    transfers: u64,
}

impl Share {
    fn of(network: &NetworkSpec, cable: Cable, transfers: u64) -> Self {
        // Each transfer has an unshared link for itself.
        let each = if matches!(cable, Cable::Link(..)) && network.sharing == Sharing::Unshared {
            transfers
        } else {
            1
        };
        Self { left: u128::from(limit(network, cable).unwrap_or(u64::MAX)) * u128::from(each), transfers }
    }

    fn rate(self) -> Amount {
        (self.left / u128::from(self.transfers.max(1))).max(1)
    }

    fn take(&mut self, transfers: u64, rate: Amount) {
        self.left = self.left.saturating_sub(rate * u128::from(transfers));
        self.transfers -= transfers;
    }
}

impl Ord for Share {
    fn cmp(&self, other: &Self) -> Ordering {
        let (own, others) = (u128::from(self.transfers), u128::from(other.transfers));
        self.left.saturating_mul(others).cmp(&other.left.saturating_mul(own))
    }
}

impl PartialOrd for Share {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Share {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Share {}

/// The cables of a way that have a limit.
fn cables(network: &NetworkSpec, (from, to): Way) -> Cables {
    let link = match network.sharing {
        Sharing::Shared => Cable::Link(from.min(to), from.max(to)),
        Sharing::Unshared => Cable::Link(from, to),
    };
    let all = [link, Cable::Out(from), Cable::In(to)];
    all.into_iter().filter(|cable| limit(network, *cable).is_some()).collect()
}

/// Bits per second of a cable; `None` for no limit.
fn limit(network: &NetworkSpec, cable: Cable) -> Option<u64> {
    let bandwidth = match cable {
        Cable::Link(a, b) => network.link(a as usize, b as usize).bandwidth,
        Cable::Out(place) | Cable::In(place) => network.uplink(place as usize),
    };
    bandwidth.map(Bandwidth::bits)
}
