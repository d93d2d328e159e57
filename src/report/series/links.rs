//! How much of the bandwidth of links copies of files used, over time.

use std::collections::BTreeMap;

use super::steps::Accrual;
use super::traffic::TRAFFIC_BINS;
use crate::model::{NetworkSpec, Sharing};
use crate::output::TransferRow;
use crate::units::Bandwidth;

/// A link, or one way of an uplink.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Cable {
    /// The link of two places, in both directions.
    Link(usize, usize),
    /// The way out of a place.
    Out(usize),
    /// The way into a place.
    In(usize),
}

/// What copies used of something with a bandwidth.
pub(crate) struct LinkUse {
    /// What it is, in words.
    pub(crate) name: String,
    /// Its bandwidth.
    pub(crate) bandwidth: Bandwidth,
    /// The bytes that passed.
    pub(crate) bytes: Accrual,
}

impl LinkUse {
    /// The bytes that it can carry in a second.
    pub(crate) fn bytes_per_s(&self) -> f64 {
        self.bandwidth.bits() as f64 / 8.0
    }
}

/// What these copies, all of which arrived, used of the links and uplinks with a bandwidth, in the order of places. `sites` are their names by number.
/// Nothing where copies do not share what they pass.
pub(super) fn use_of_links(
    copies: &[TransferRow],
    span: (u64, u64),
    network: &NetworkSpec,
    sites: &[String],
) -> Vec<LinkUse> {
    if network.sharing == Sharing::Unshared {
        return Vec::new();
    }
    let place = |name: &str| match name {
        "portal" => Some(0),
        site => sites.iter().position(|known| known == site).map(|at| at + 1),
    };
    let name = |place: usize| match place {
        0 => "portal",
        site => &sites[site - 1],
    };
    let mut used: BTreeMap<Cable, LinkUse> = BTreeMap::new();
    for copy in copies {
        let (Some(began), Some(from), Some(to)) = (copy.began, place(&copy.from), place(&copy.to)) else {
            continue;
        };
        let (a, b) = (from.min(to), from.max(to));
        let passed = [
            (Cable::Link(a, b), network.link(a, b).bandwidth, format!("{} – {}", name(a), name(b))),
            (Cable::Out(from), network.uplink(from), format!("uplink out of {}", name(from))),
            (Cable::In(to), network.uplink(to), format!("uplink into {}", name(to))),
        ];
        for (cable, bandwidth, name) in passed {
            let Some(bandwidth) = bandwidth.filter(|bandwidth| *bandwidth > Bandwidth::ZERO) else {
                continue;
            };
            let link = used.entry(cable).or_insert_with(|| {
                let bytes = Accrual::new(span, TRAFFIC_BINS);
                LinkUse { name, bandwidth, bytes }
            });
            link.bytes.add(began.micros(), copy.ended.micros(), copy.bytes.into());
        }
    }
    used.into_values().filter(|link| link.bytes.sum() > 0).collect()
}
