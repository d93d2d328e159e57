//! What one party knows of the load of a network: its own transfers.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::{amount, pair, share, time_for};
use crate::model::{NetworkSpec, Sharing};
use crate::units::{Bytes, Span};

/// The transfers that a party has under way, as far as they matter for how long another one would take.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Load(BTreeMap<Road, usize>);

/// What transfers share.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
enum Road {
    Link(u32, u32),
    Out(u32),
    In(u32),
}

fn roads(from: u32, to: u32) -> [Road; 3] {
    let (a, b) = pair((from, to));
    [Road::Link(a, b), Road::Out(from), Road::In(to)]
}

impl Load {
    /// Notes that a transfer begins.
    pub fn begin(&mut self, from: u32, to: u32) {
        for road in roads(from, to) {
            *self.0.entry(road).or_default() += 1;
        }
    }

    /// Notes that a transfer has ended.
    pub fn end(&mut self, from: u32, to: u32) {
        for road in roads(from, to) {
            if let Some(count) = self.0.get_mut(&road) {
                *count -= 1;
                if *count == 0 {
                    self.0.remove(&road);
                }
            }
        }
    }

    /// How long so much data would take from one place to another, if the transfers of this party stay and there are no others.
    pub fn estimate(&self, network: &NetworkSpec, from: u32, to: u32, data: Bytes) -> Span {
        if from == to {
            return Span::ZERO;
        }
        let link = network.link(from as usize, to as usize);
        let limits = [link.bandwidth, network.uplink(from as usize), network.uplink(to as usize)];
        let rates = roads(from, to).into_iter().zip(limits).filter_map(|(road, limit)| {
            let alone = network.sharing == Sharing::Unshared && matches!(road, Road::Link(..));
            let others = if alone { 0 } else { self.0.get(&road).copied().unwrap_or(0) };
            Some(share(limit?.bits(), others + 1))
        });
        let moving = rates.min().filter(|_| data > Bytes::ZERO);
        link.latency + moving.map_or(Span::ZERO, |rate| time_for(amount(data), rate))
    }
}
