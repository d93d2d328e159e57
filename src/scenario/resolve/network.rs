//! Resolves the network between the portal and the sites.

use std::collections::BTreeMap;

use rustc_hash::FxHashMap;

use super::Checker;
use crate::model::{DataRates, Link, NetworkSpec, SiteSpec, StorageSpec};
use crate::scenario::keys::{LinkKeys, NetworkKeys, SiteKeys};
use crate::scenario::kind::words::{Or, Unlimited};
use crate::scenario::names::{listed, near, there};
use crate::scenario::tree::Path;
use crate::units::{Bandwidth, Bytes, Span};

/// The name of the portal in links.
const PORTAL: &str = "portal";

/// The sites' places by name.
type Places<'a> = FxHashMap<&'a str, usize>;

impl Checker<'_> {
    pub(super) fn network(
        &mut self,
        keys: &NetworkKeys,
        sites: &[SiteSpec],
        has_broker: bool,
    ) -> NetworkSpec {
        let path = Path::default().key("network");
        self.bandwidth(&path, "bandwidth", keys.bandwidth);
        let everywhere = keys.latency.map(|latency| link(latency, keys.bandwidth));
        let places = sites.iter().zip(1..).map(|(site, at)| (site.name.as_str(), at)).collect();
        let mut own: BTreeMap<(usize, usize), Link> = BTreeMap::new();
        for (at, written) in keys.link.iter().flatten().enumerate() {
            let path = path.key("link").item(at);
            let Some((pair, link)) = self.link(&path, written, sites, &places) else { continue };
            if own.insert(pair, link).is_some() {
                let message = format!("`{}` already have a link", written.between.join("` and `"));
                self.wrong(&path.key("between"), message);
            }
        }
        let (uplinks, data) = (self.uplinks(&path, keys, sites, &places), self.data(&path, keys));
        let network =
            NetworkSpec { everywhere, own, sharing: keys.links, uplinks, data, ..NetworkSpec::default() };
        if everywhere.is_some() {
            return network;
        }
        let lonely: Vec<&str> = sites
            .iter()
            .enumerate()
            .filter(|(at, _)| !network.own.contains_key(&(0, at + 1)))
            .map(|(_, site)| site.name.as_str())
            .collect();
        if has_broker && !lonely.is_empty() {
            let message = format!(
                "nothing connects the portal with {}; give the network a `latency`, or add `[[network.link]]` with \
                 `between = [\"portal\", \"{}\"]`",
                listed(lonely.iter().copied()),
                lonely[0]
            );
            self.wrong(&path, message);
        }
        network
    }

    /// What moving data takes.
    fn data(&mut self, path: &Path, keys: &NetworkKeys) -> DataRates {
        if keys.carbon.is_some() && keys.energy.is_none() {
            self.wrong(&path.key("carbon"), "an intensity without an `energy` of moved data has no effect");
        }
        let currency = keys.price.as_ref().and_then(|price| price.currency.as_deref());
        self.currency(&path.key("price"), currency, "of moved data");
        let price = keys.price.as_ref().map(|price| price.value);
        DataRates { energy: keys.energy.unwrap_or_default(), price, carbon: keys.carbon }
    }

    fn link(
        &mut self,
        path: &Path,
        keys: &LinkKeys,
        sites: &[SiteSpec],
        places: &Places<'_>,
    ) -> Option<((usize, usize), Link)> {
        let between = path.key("between");
        let [a, b] = keys.between.as_slice() else {
            return self.refuse(&between, "a link is between two places, such as `[\"portal\", \"delft\"]`");
        };
        let mut place = |name| places.get(name).copied().or_else(|| self.place(&between, name, sites));
        let (a, b) = (place(a.as_str())?, place(b.as_str())?);
        if a == b {
            return self.refuse(&between, format!("a link cannot connect `{}` with itself", keys.between[0]));
        }
        let Some(latency) = keys.latency else {
            return self.refuse(path, "neither the link nor the network has a `latency`");
        };
        self.bandwidth(path, "bandwidth", keys.bandwidth);
        Some(((a.min(b), a.max(b)), link(latency, keys.bandwidth)))
    }

    /// The number of the place of this name.
    pub(super) fn place(&mut self, path: &Path, name: &str, sites: &[SiteSpec]) -> Option<usize> {
        if name == PORTAL {
            return Some(0);
        }
        let found = sites.iter().position(|site| site.name == *name).map(|at| at + 1);
        if found.is_none() {
            let names = || sites.iter().map(|site| site.name.as_str()).chain([PORTAL]);
            self.wrong(
                path,
                format!("there is no place `{name}`{}; {}", near(name, names()), there(names())),
            );
        }
        found
    }

    /// The storage of each place; none at all if nobody has a limit.
    pub(super) fn storages(&mut self, sites: &[SiteKeys]) -> Vec<StorageSpec> {
        let mut storages = vec![StorageSpec::default(); sites.len() + 1];
        for (at, site) in sites.iter().enumerate() {
            let path = Path::default().key("site").item(at).key("storage");
            let Some(keys) = &site.storage else { continue };
            self.bandwidth(&path, "bandwidth", keys.bandwidth);
            if keys.capacity.value() == Some(Bytes::ZERO) {
                self.wrong(&path.key("capacity"), "a capacity must be above 0, or `unlimited`");
            }
            storages[at + 1] =
                StorageSpec { bandwidth: keys.bandwidth.value(), capacity: keys.capacity.value() };
        }
        if storages.iter().all(|storage| *storage == StorageSpec::default()) { Vec::new() } else { storages }
    }

    /// The uplink of each place; none at all if nobody has a limit.
    fn uplinks(
        &mut self,
        path: &Path,
        keys: &NetworkKeys,
        sites: &[SiteSpec],
        places: &Places<'_>,
    ) -> Vec<Option<Bandwidth>> {
        self.bandwidth(path, "uplink", keys.uplink);
        let mut own = BTreeMap::new();
        for (at, written) in keys.place.iter().flatten().enumerate() {
            let path = path.key("place").item(at);
            self.bandwidth(&path, "uplink", written.uplink);
            let known = places.get(written.name.as_str()).copied();
            let place = known.or_else(|| self.place(&path.key("name"), &written.name, sites));
            let Some(place) = place else { continue };
            if own.insert(place, written.uplink.value()).is_some() {
                self.wrong(&path.key("name"), format!("`{}` already has a table", written.name));
            }
        }
        let common = |place: usize| keys.uplink.value().filter(|_| place > 0);
        let all = (0..=sites.len()).map(|place| own.get(&place).copied().unwrap_or_else(|| common(place)));
        let all: Vec<_> = all.collect();
        if all.iter().all(Option::is_none) { Vec::new() } else { all }
    }

    fn bandwidth(&mut self, path: &Path, key: &str, bandwidth: Or<Unlimited, Bandwidth>) {
        if bandwidth.value().is_some_and(|bandwidth| bandwidth.bits() == 0) {
            let message = "a bandwidth must be above 0, or `unlimited`";
            self.wrong(&path.key(key), message);
        }
    }
}

fn link(latency: Span, bandwidth: Or<Unlimited, Bandwidth>) -> Link {
    Link { latency, bandwidth: bandwidth.value() }
}
