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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Link, TransferOutcome};
    use crate::units::{Span, Time};

    /// A link of 8 Mbit/s carries 1 MB in a second: 5 MB in 10 s are half of it, there and back. The way out of a place is not the way in.
    #[test]
    fn shares_by_hand() {
        let copy = |from: &str, to: &str, at: u64, bytes: u64| TransferRow {
            line: 2,
            workflow: 0,
            file: "f".into(),
            bytes,
            from: from.into(),
            to: to.into(),
            job: 1,
            asked: Time::ZERO,
            began: Some(Time::from_secs(at)),
            ended: Time::from_secs(at + 10),
            outcome: TransferOutcome::Arrived,
        };
        let rows =
            [copy("portal", "a", 0, 5_000_000), copy("a", "portal", 10, 10_000_000), copy("a", "b", 0, 7)];
        let link = Link { latency: Span::ZERO, bandwidth: Some(Bandwidth::from_bits(8_000_000)) };
        let mut network = NetworkSpec::uniform(Link::default());
        network.set(0, 1, link);
        network.uplinks = vec![Some(Bandwidth::from_bits(80_000_000)), None, None];
        let sites = ["a".to_owned(), "b".to_owned()];
        let links = use_of_links(&rows, (0, 20_000_000), &network, &sites);
        let shares: Vec<(&str, Vec<f64>)> = links
            .iter()
            .map(|link| {
                let rates = link.bytes.rates(1.0 / link.bytes_per_s());
                (
                    &*link.name,
                    [rates[0].mean, rates[119].mean].map(|share| (share * 1e4).round() / 1e4).to_vec(),
                )
            })
            .collect();
        let expected = [
            ("portal – a", vec![0.5, 1.0]),
            ("uplink out of portal", vec![0.05, 0.0]),
            ("uplink into portal", vec![0.0, 0.1]),
        ];
        assert_eq!(shares, expected);
        network.sharing = Sharing::Unshared;
        assert!(use_of_links(&rows, (0, 20_000_000), &network, &sites).is_empty());
    }
}
