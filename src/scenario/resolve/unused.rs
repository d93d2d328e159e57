//! Finds what is valid and has no effect, which `gridemu check` tells with its place.

use super::Checker;
use crate::model::{BrokerSpec, DataRates, Level, PerKwh, PlacementRule, SiteSpec, SiteTariff};
use crate::scenario::keys::{NetworkKeys, SiteKeys};
use crate::scenario::names::listed;
use crate::scenario::resolved::PlannedWorkload;
use crate::scenario::tree::Path;
use crate::scenario::workload::Workload;
use crate::units::{Bytes, Span};

impl Checker<'_> {
    /// Of the machines of a site, and of what is said of their power.
    pub(super) fn unused_of_site(&mut self, path: &Path, keys: &SiteKeys, site: &SiteSpec) {
        let several = || site.partitions.iter().filter(|part| part.groups.len() > 1);
        if site.placement != PlacementRule::default() && several().next().is_none() {
            let message = "it has no effect: no partition has machines of several classes";
            self.warn(&path.key("placement"), message);
        }
        let greatest = site.greatest_power();
        if let Some(cap) = site.power_cap.filter(|cap| *cap >= greatest) {
            let message = format!("it has no effect: the machines draw {greatest} at most, and it is {cap}");
            self.warn(&path.key("power_cap"), message);
        }
        self.unused_states(path, keys, site);
        for part in several() {
            let least = part.equipment();
            let more = part.groups.iter().filter(|group| group.equipment != least);
            let more: Vec<&str> = more.map(|group| group.class.as_str()).collect();
            let of_more =
                |machines: &&str| keys.machines.iter().flatten().position(|of| of.class == **machines);
            if let Some(at) = more.first().and_then(of_more) {
                let message = format!(
                    "what {} of `{}` {} of memory and tags more than the other classes has no effect: a task must fit all of them",
                    listed(more.iter().copied()),
                    part.name,
                    if more.len() == 1 { "has" } else { "have" },
                );
                self.warn(&path.key("machines").item(at), message);
            }
        }
    }

    /// Of sleep states, levels and the power policy, which need each other.
    fn unused_states(&mut self, path: &Path, keys: &SiteKeys, site: &SiteSpec) {
        let machines = || keys.machines.iter().flatten();
        let with_state: Vec<usize> =
            machines().enumerate().filter(|(_, class)| class.sleep.is_some()).map(|(at, _)| at).collect();
        let policy = path.key("power_policy");
        match (site.power.name.as_str(), with_state.is_empty()) {
            ("always-on", false) => {
                for at in with_state {
                    let message = "it has no effect: under `power_policy = \"always-on\"` no machine sleeps";
                    self.warn(&path.key("machines").item(at).key("sleep"), message);
                }
            }
            ("lowest-level", _) => self.unused_levels(&policy, keys, site),
            ("always-on", true) | (_, false) => {}
            (_, true) => self.warn(&policy, "it has no effect: no class of machines has a `sleep` state"),
        }
    }

    /// Of a power policy that chooses levels where no machine has any, unless its machines sleep under it, or none is within its bound.
    fn unused_levels(&mut self, path: &Path, keys: &SiteKeys, site: &SiteSpec) {
        let machines = || keys.machines.iter().flatten();
        let has_levels = || machines().filter(|class| class.levels.as_ref().is_some_and(|of| !of.is_empty()));
        if has_levels().next().is_none() {
            let may_sleep = site.power.params.get("after").is_some_and(|after| after != "never");
            if !(may_sleep && machines().any(|class| class.sleep.is_some())) {
                self.warn(path, "it has no effect: no class of machines has `levels`");
            }
            return;
        }
        // A policy that does not exist is told elsewhere.
        let Ok(policy) = self.policies.power.build(&site.power) else { return };
        let mut least = f64::INFINITY;
        for class in has_levels() {
            let share = class.frequency_share.unwrap_or(1.0);
            let levels = class.levels.iter().flatten();
            let slower = levels.map(|level| {
                Level { frequency: level.frequency, busy: site.greatest_power() }.slowdown(share)
            });
            let slowdowns: Vec<f64> = std::iter::once(1.0).chain(slower).collect();
            if policy.level(&slowdowns) != Some(0) {
                return;
            }
            least = slowdowns[1..].iter().copied().fold(least, f64::min);
        }
        let message = format!(
            "no machine runs at a lower level: at the highest of them a job takes {least:.4} times as long, more than the `slowdown` allows"
        );
        self.warn(path, message);
    }

    /// Of what a broker policy looks at, and of what moved data takes: nothing has it, nothing changes, or nothing moves.
    pub(super) fn unused_of_grid(
        &mut self,
        network: &NetworkKeys,
        rates: &DataRates,
        broker: Option<&BrokerSpec>,
        sites: &[SiteSpec],
        portal: &[PlannedWorkload],
    ) {
        if let Some(broker) = broker {
            self.unused_of_broker(broker, sites);
        }
        let moves = |planned: &PlannedWorkload| {
            planned.input > Bytes::ZERO
                || planned.output > Bytes::ZERO
                || matches!(planned.workload, Workload::Workflows(_))
        };
        if !rates.is_none() && !portal.iter().any(moves) {
            for (key, given) in [("energy", network.energy.is_some()), ("price", network.price.is_some())] {
                if given {
                    let message = "it has no effect: no workload has data (`input`, `output`) or files";
                    self.warn(&Path::default().key("network").key(key), message);
                }
            }
        }
    }

    fn unused_of_broker(&mut self, BrokerSpec { policy, .. }: &BrokerSpec, sites: &[SiteSpec]) {
        let param = |key: &str| policy.params.get(key).map(String::as_str);
        let weighs = |key: &str| param(key).is_some_and(|written| written.parse() != Ok(0.0));
        let electricity = |tariff: &SiteTariff| tariff.electricity.is_some();
        let carbon = |tariff: &SiteTariff| tariff.carbon.is_some();
        let (wanted, knows): (_, &dyn Fn(&SiteTariff) -> bool) = match policy.name.as_str() {
            "cheapest" if param("of") == Some("electricity") => ("price of electricity", &electricity),
            "lowest-carbon" => ("carbon intensity", &carbon),
            "weighted" if weighs("carbon") => ("carbon intensity", &carbon),
            "cheapest" => ("price of processors", &|_| true),
            _ => return,
        };
        let path = Path::default().key("broker").key("policy");
        if !sites.iter().any(|site| knows(&site.tariff)) {
            return self.warn(&path, format!("`{policy}` has nothing to compare: no site has a {wanted}"));
        }
        let varies = |site: &SiteSpec| {
            let SiteTariff {
                price_by_hour, electricity, electricity_by_hour, carbon, carbon_by_hour, ..
            } = &site.tariff;
            let changes = |of: &Option<PerKwh>| matches!(of, Some(PerKwh::Day(_) | PerKwh::Trace { .. }));
            match wanted {
                "price of processors" => price_by_hour.is_some(),
                "carbon intensity" => carbon_by_hour.is_some() || changes(carbon),
                _ => electricity_by_hour.is_some() || changes(electricity),
            }
        };
        let horizon = param("horizon").and_then(|horizon| horizon.parse::<Span>().ok());
        let waits = horizon.is_some_and(|horizon| !horizon.is_zero());
        if waits && !sites.iter().any(varies) {
            let message =
                format!("`horizon` finds no better hour: at every site the {wanted} is the same at any hour");
            self.warn(&path, message);
        }
    }
}
