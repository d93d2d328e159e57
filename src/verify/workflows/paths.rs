//! The ways of files: where they lie, what they pass, and who is away when.

use rustc_hash::FxHashMap;

use super::carried::Cable;
use crate::model::{ChurnAct, NetworkSpec, Sharing, SiteId, TransferOutcome};
use crate::units::{Bandwidth, Bytes, Span, Time};
use crate::verify::platform::Platform;

/// How files move, and where workflows begin and end.
#[derive(Clone, Debug, Default)]
pub(crate) struct Paths {
    /// The places, by name: the portal is 0, site `i` is `i + 1`.
    pub(super) places: FxHashMap<String, u32>,
    /// Where stage-in lies and results go.
    pub(super) home: u32,
    network: NetworkSpec,
    /// Whether these links held throughout.
    pub(crate) steady: bool,
    /// When which place left; `None` if that is not known.
    left: Option<Vec<(u32, Time)>>,
    /// Which place is away from when to when, as far as the network knows; `None` if others than the scenario may say so.
    absent: Option<Vec<(u32, Time, Time)>>,
}

impl Paths {
    /// The places of a grid. `scripted` says that sites leave and come back by its description only.
    pub(crate) fn new(platform: &Platform, network: NetworkSpec, home: u32, scripted: bool) -> Self {
        let absent = scripted.then(|| absences(platform, &network));
        let sites = (1..).zip(&platform.sites).map(|(at, site)| (site.spec.name.clone(), at));
        let places = sites.chain([("portal".to_owned(), 0)]).collect();
        Self { places, home, network, steady: true, left: platform.events.then(Vec::new), absent }
    }

    /// Notes that a site has left.
    pub(crate) fn left(&mut self, site: SiteId, at: Time) {
        if let Some(left) = self.left.as_mut().filter(|_| site != SiteId::GRID) {
            left.push((site.0 + 1, at));
        }
    }

    /// Whether a place may have left from an instant to another.
    pub(super) fn may_have_left(&self, place: u32, from: Time, to: Time) -> bool {
        let of = |(left, at): &(u32, Time)| *left == place && from <= *at && *at <= to;
        self.left.as_ref().is_none_or(|left| left.iter().any(of))
    }

    /// The least time that a copy takes, if it has links and storages for itself.
    pub(super) fn least(&self, from: u32, to: u32, bytes: Bytes) -> Span {
        let (from, to) = (from as usize, to as usize);
        let time = |rate: Option<Bandwidth>| {
            let rate = rate.map_or(0, |rate| u128::from(rate.bits()));
            let micros = (u128::from(bytes.count()) * 8_000_000).div_ceil(rate.max(1));
            Span::from_micros(u64::try_from(if rate == 0 { 0 } else { micros }).unwrap_or(u64::MAX))
        };
        let passing = self.network.link(from, to).latency + time(self.network.bandwidth(from, to));
        let disks = [from, to].map(|place| time(self.network.storage(place).bandwidth));
        disks.into_iter().fold(passing, Span::max)
    }

    /// What a copy uses together with others, and how much that carries.
    pub(super) fn cables(&self, from: u32, to: u32) -> impl Iterator<Item = (Cable, Bandwidth)> + use<> {
        let (a, b) = (from as usize, to as usize);
        let link = self.network.link(a, b).bandwidth.filter(|_| self.network.sharing == Sharing::Shared);
        let cables = [
            (Cable::Link(from.min(to), from.max(to)), link),
            (Cable::Out(from), self.network.uplink(a)),
            (Cable::In(to), self.network.uplink(b)),
            (Cable::Storage(from), self.network.storage(a).bandwidth),
            (Cable::Storage(to), self.network.storage(b).bandwidth),
        ];
        cables.into_iter().filter_map(|(cable, rate)| Some((cable, rate?)))
    }

    /// The name of a place.
    pub(super) fn name(&self, place: u32) -> &str {
        self.places.iter().find(|(_, at)| **at == place).map_or("no place", |(name, _)| name)
    }

    /// The latency of the link of two places.
    pub(super) fn latency(&self, from: u32, to: u32) -> Span {
        self.network.link(from as usize, to as usize).latency
    }

    /// The space of a place, if it is limited.
    pub(super) fn capacity(&self, place: u32) -> Option<Bytes> {
        self.network.storage(place as usize).capacity
    }

    /// What is wrong with a copy that moved from `began` to `ended`, as to when the sites at its ends were away. It breaks off when the network
    /// knows that one has left; what has left its link by then arrives.
    pub(super) fn away(
        &self,
        from: u32,
        to: u32,
        (began, ended): (Time, Time),
        outcome: TransferOutcome,
    ) -> Option<String> {
        let absent = self.absent.as_ref().filter(|_| self.steady)?;
        let of = |place: u32| absent.iter().filter(move |(at, ..)| *at == place);
        let name = |place: u32| self.name(place);
        match outcome {
            TransferOutcome::Unfinished => None,
            TransferOutcome::Lost => {
                let mut gone = of(from).chain(of(to));
                let broken = gone.any(|(_, left, back)| *left <= ended && began <= *back);
                (!broken).then(|| format!("breaks off at {ended} s, and neither is away then"))
            }
            TransferOutcome::Arrived => {
                let passed =
                    Time::from_micros(ended.micros().saturating_sub(self.latency(from, to).micros()));
                // What was read may still be written.
                let reads =
                    if self.network.storage(to as usize).bandwidth.is_some() { began } else { passed };
                let during = |time: Time, (_, left, back): &(u32, Time, Time)| *left < time && time < *back;
                let broken = |until: Time, (_, left, _): &(u32, Time, Time)| began < *left && *left < until;
                let source = of(from).find(|gone| during(began, gone) || broken(reads, gone));
                let target =
                    || of(to).find(|gone| during(began, gone) || broken(passed, gone) || during(ended, gone));
                let (place, left, _) = source.or_else(target)?;
                Some(format!("arrives at {ended} s, and {} is away from {left} s on", name(*place)))
            }
        }
    }
}

/// Which place is away from when to when by the description of the grid, as the network knows it: word of a site takes its latency.
fn absences(platform: &Platform, network: &NetworkSpec) -> Vec<(u32, Time, Time)> {
    let mut absences = Vec::new();
    for (place, site) in (1..).zip(&platform.sites) {
        let latency = network.link(0, place as usize).latency;
        let mut left = None;
        for planned in &site.spec.churn.script {
            match planned.act {
                ChurnAct::LeaveSite => left = left.or(Some(planned.at + latency)),
                ChurnAct::JoinSite => {
                    absences.extend(left.take().map(|left| (place, left, planned.at + latency)));
                }
                _ => {}
            }
        }
        absences.extend(left.map(|left| (place, left, Time::NEVER)));
    }
    absences
}
