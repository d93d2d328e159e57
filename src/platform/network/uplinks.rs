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

use std::cmp::{Ordering, Reverse};
use std::collections::{BTreeMap, BTreeSet, BinaryHeap};

use rustc_hash::{FxHashMap, FxHashSet};
use serde::{Deserialize, Serialize};
use smallvec::SmallVec;

use super::{Amount, Way};
use crate::model::{NetworkSpec, Sharing};
use crate::platform::progress::Progress;
use crate::units::{Bandwidth, Time};

/// A limit that transfers have in common.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
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
    /// When the next transfer has passed, if no other begins.
    next: Option<Time>,
}

/// The transfers of one way.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct WayFlow {
    transfers: Progress<u64>,
    /// When the first of them has passed.
    passes: Time,
}

/// Cables that hang together, and the ways on them.
#[derive(Default)]
struct Part {
    cables: Vec<(Cable, Share)>,
    /// The ways that each cable carries, by their places here.
    carried: Vec<Vec<usize>>,
    /// Each way, its number of transfers, and the places of its cables here.
    ways: Vec<(Way, u64, SmallVec<[usize; 3]>)>,
    places: FxHashMap<Cable, usize>,
}

impl Uplinks {
    /// Starts a transfer. Everything up to `now` must have passed.
    pub(super) fn begin(&mut self, network: &NetworkSpec, id: u64, way: Way, amount: Amount, now: Time) {
        let new = || WayFlow { transfers: Progress::new(now), passes: Time::NEVER };
        let new = self.flows.entry(way).or_insert_with(new).transfers.begin(id, amount, now);
        debug_assert!(new, "two transfers have the number {id}");
        self.into.insert((way.1, way.0));
        self.share(network, &[way], now);
    }

    /// When the next transfer has passed, if no other begins.
    pub(super) fn next(&self) -> Option<Time> {
        self.next
    }

    /// Takes out the transfers that have passed next, if that is no later than `now`, all at the same instant.
    pub(super) fn pass(&mut self, network: &NetworkSpec, now: Time) -> Option<(Time, Vec<(Way, u64)>)> {
        let time = self.next().filter(|time| *time <= now)?;
        let ends = self.flows.iter().filter(|(_, flow)| flow.passes == time);
        let ways: Vec<Way> = ends.map(|(way, _)| *way).collect();
        let mut passed = Vec::new();
        for way in &ways {
            let Some(flow) = self.flows.get_mut(way) else { continue };
            passed.extend(std::iter::from_fn(|| flow.transfers.pass(time)).map(|(_, id)| (*way, id)));
            if flow.transfers.is_empty() {
                self.flows.remove(way);
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

    /// Takes out the transfers of some ways, with what is left of them. Everything up to `now` must have passed.
    pub(super) fn stop(
        &mut self,
        network: &NetworkSpec,
        is_it: impl Fn(&Way) -> bool,
        now: Time,
    ) -> Vec<(u64, Way, Amount)> {
        let ways: Vec<Way> = self.flows.keys().copied().filter(is_it).collect();
        let mut stopped = Vec::new();
        for way in &ways {
            let Some(mut flow) = self.flows.remove(way) else { continue };
            stopped.extend(flow.transfers.drain(now).map(|(id, left)| (id, *way, left)));
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
        let part = self.part(network, changed);
        let ways: Vec<Way> = part.ways.iter().map(|(way, ..)| *way).collect();
        for (way, rate) in ways.into_iter().zip(part.fill()) {
            let Some(flow) = self.flows.get_mut(&way) else { continue };
            flow.transfers.set_rate(rate, now);
            flow.passes = flow.transfers.next().unwrap_or(Time::NEVER);
        }
        // A time beyond the time axis never comes.
        self.next = self.flows.values().map(|flow| flow.passes).min().filter(|time| *time < Time::NEVER);
    }

    /// All that hangs together with these ways by cables.
    fn part(&self, network: &NetworkSpec, changed: &[Way]) -> Part {
        let mut part = Part::default();
        for cable in changed.iter().flat_map(|way| cables(network, *way)) {
            part.place(cable);
        }
        let (mut seen, mut at) = (FxHashSet::default(), 0);
        while let Some((cable, _)) = part.cables.get(at) {
            for way in self.ways(*cable, network).filter(|way| seen.insert(*way)) {
                let places = cables(network, way).into_iter().map(|cable| part.place(cable)).collect();
                part.add(way, self.flows[&way].transfers.len() as u64, places);
            }
            at += 1;
        }
        for (cable, share) in &mut part.cables {
            *share = Share::of(network, *cable, share.transfers);
        }
        part
    }
}

impl Part {
    /// The place of a cable, which is new or not.
    fn place(&mut self, cable: Cable) -> usize {
        *self.places.entry(cable).or_insert_with(|| {
            self.cables.push((cable, Share::default()));
            self.carried.push(Vec::new());
            self.cables.len() - 1
        })
    }

    fn add(&mut self, way: Way, transfers: u64, places: SmallVec<[usize; 3]>) {
        for place in &places {
            self.cables[*place].1.transfers += transfers;
            self.carried[*place].push(self.ways.len());
        }
        self.ways.push((way, transfers, places));
    }

    /// The rate of each way, by progressive filling.
    fn fill(mut self) -> Vec<Amount> {
        let mut rates = vec![0; self.ways.len()];
        let used = self.cables.iter().zip(0..).filter(|((_, share), _)| share.transfers > 0);
        let order = used.map(|((cable, share), at)| Reverse((*share, *cable, at)));
        let mut order: BinaryHeap<Reverse<(Share, Cable, usize)>> = order.collect();
        while let Some(Reverse((share, cable, at))) = order.pop() {
            let current = self.cables[at].1;
            if current.transfers == 0 {
                continue;
            }
            // What is left for each grows while others get theirs; it is looked at when the cable's turn comes.
            if current != share {
                order.push(Reverse((current, cable, at)));
                continue;
            }
            let rate = current.rate();
            for way in std::mem::take(&mut self.carried[at]) {
                if rates[way] > 0 {
                    continue;
                }
                rates[way] = rate;
                let (_, transfers, places) = &self.ways[way];
                for place in places.iter().filter(|place| **place != at) {
                    let (cable, share) = &mut self.cables[*place];
                    let before = *share;
                    share.take(*transfers, rate);
                    // It only shrinks where not even a bit per second is left for each.
                    if share.transfers > 0 && *share < before {
                        order.push(Reverse((*share, *cable, *place)));
                    }
                }
            }
            self.cables[at].1.transfers = 0;
        }
        rates
    }
}

/// What is left of a cable, and its transfers without a rate. The order is that of what is left for each.
#[derive(Copy, Clone, Debug, Default)]
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
