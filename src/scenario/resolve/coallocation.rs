//! Jobs at several sites at once: which they are, how the broker reserves processors for them, and what has no effect.

use super::Checker;
use crate::entity::Site;
use crate::local::SleepRule;
use crate::model::{BrokerSpec, CoallocationSpec, Coupling, MessageKind, NetworkSpec, Reservable, SiteSpec};
use crate::scenario::keys::{BrokerKeys, CoallocateKeys, ScenarioKeys, SiteKeys, WorkloadKeys};
use crate::scenario::kind::words::FaultWord;
use crate::scenario::resolved::PlannedWorkload;
use crate::scenario::tree::Path;
use crate::units::Bytes;
use crate::workload::{CoupledSpec, MOST_PARTS};

impl Checker<'_> {
    /// How processors at several sites are reserved.
    pub(super) fn coallocation(&mut self, path: &Path, keys: &BrokerKeys) -> CoallocationSpec {
        let Some(keys) = &keys.coallocation else { return CoallocationSpec::default() };
        let path = path.key("coallocation");
        for (key, is_none) in [
            ("alternatives", keys.alternatives == 0),
            ("lease", keys.lease.is_zero()),
            ("patience", keys.patience.is_zero()),
            ("tries", keys.tries == 0),
        ] {
            if is_none {
                self.wrong(&path.key(key), "give more than 0: no processors could be reserved");
            }
        }
        if keys.patience > keys.lease {
            let message = format!(
                "it is longer than the `lease`, {}: what is held would lapse before the site is asked again",
                keys.lease.written()
            );
            self.wrong(&path.key("patience"), message);
        }
        CoallocationSpec {
            goal: keys.start,
            holding: keys.hold,
            alternatives: keys.alternatives,
            lease: keys.lease,
            patience: keys.patience,
            tries: keys.tries,
        }
    }

    /// What of a site the grid may reserve.
    pub(super) fn reservable(&mut self, path: &Path, keys: &SiteKeys) -> Reservable {
        if !(0.0..=1.0).contains(&keys.reservable) {
            let message =
                format!("{} is no part of the processors: give 0 (none) to 1 (all)", keys.reservable);
            self.wrong(&path.key("reservable"), message);
        }
        let price = keys.reservation_price.as_ref();
        let currency = price.and_then(|price| price.currency.as_deref());
        self.currency(&path.key("reservation_price"), currency, "of a reserved core-hour");
        let price = price.map(|price| price.value).unwrap_or_default();
        Reservable { share_ppm: (keys.reservable.clamp(0.0, 1.0) * 1e6).round() as u64, price }
    }

    /// Which jobs are run in parts.
    pub(super) fn coupled(&mut self, path: &Path, keys: &WorkloadKeys) -> Option<CoupledSpec> {
        let CoallocateKeys { parts, share, notice, within, exchanges, traffic } =
            *keys.coallocate.as_ref()?;
        for (key, given) in [("input", keys.input), ("output", keys.output)] {
            if given.is_some_and(|data| data > Bytes::ZERO) {
                self.wrong(
                    &path.key(key),
                    "jobs that are run in parts have no data; remove it, or `coallocate`",
                );
            }
        }
        for (key, given) in [("deadline", keys.deadline.is_some()), ("budget", keys.budget.is_some())] {
            if given {
                let message = "jobs that are run in parts have no limits; remove it, or `coallocate`";
                self.wrong(&path.key(key), message);
            }
        }
        if keys.malleable.as_ref().is_some_and(|malleable| malleable.spec().is_some()) {
            self.wrong(
                &path.key("malleable"),
                "the parts of a job keep their sizes; remove it, or `coallocate`",
            );
        }
        let path = &path.key("coallocate");
        if !(2..=MOST_PARTS).contains(&parts) {
            return self.refuse(&path.key("parts"), format!("{parts} parts are not from 2 to {MOST_PARTS}"));
        }
        if !(share > 0.0 && share <= 1.0) {
            return self
                .refuse(&path.key("share"), format!("a share of {share} is not above 0 and at most 1"));
        }
        if !(0.0..=1e6).contains(&exchanges) {
            return self
                .refuse(&path.key("exchanges"), format!("{exchanges} is not from 0 to a million a second"));
        }
        let exchanges_ppm = (exchanges * 1e6).round() as u64;
        Some(CoupledSpec { parts, share, coupling: Coupling { notice, within, exchanges_ppm, traffic } })
    }

    /// Checks that there are sites for the parts of the jobs of a workload, and that they are jobs.
    pub(super) fn parts(&mut self, path: &Path, keys: &WorkloadKeys, sites: &[SiteSpec]) {
        let Some(coallocate) = &keys.coallocate else { return };
        let path = &path.key("coallocate");
        if coallocate.parts as usize > sites.len() {
            let message =
                format!("{} parts need as many sites, and there are {}", coallocate.parts, sites.len());
            return self.wrong(&path.key("parts"), message);
        }
        if keys.workflow.is_some() {
            return self.wrong(path, "a workflow is not run in parts; remove `coallocate`");
        }
        let able = sites.iter().filter(|site| self.keeps_reservations(site)).count();
        if able < coallocate.parts as usize && self.problems.is_empty() {
            let sites = match able {
                0 => "no site reserves".to_owned(),
                1 => "only one site reserves".to_owned(),
                _ => format!("only {able} sites reserve"),
            };
            let message = format!(
                "jobs in {} parts are all rejected: {sites} processors for the grid, which takes `reservable` above 0, machines that do not sleep, and a local policy that keeps reservations (`gridemu policies` names them)",
                coallocate.parts
            );
            self.warn(&path.key("parts"), message);
        }
    }

    /// Whether the grid may reserve processors of a site.
    fn keeps_reservations(&self, site: &SiteSpec) -> bool {
        let keeps =
            Site::check_policy(site, &self.policies.local).is_ok_and(|(_, able)| able.keeps_reservations);
        let Ok(power) = self.policies.power.build(&site.power) else { return false };
        let awake = site.partitions.iter().any(|part| {
            let rules = part
                .groups
                .iter()
                .filter_map(|group| Some(power.sleep(&group.sleep?, group.idle_machine(part.cores))));
            rules.filter(|rule| *rule != SleepRule::NEVER).count() == 0
        });
        keeps && awake && site.reservable.share_ppm > 0
    }

    /// Warns of times that are over before an answer can come, so that all jobs in parts are rejected.
    pub(super) fn hasty(
        &mut self,
        broker: &BrokerSpec,
        portal: &[PlannedWorkload],
        network: &NetworkSpec,
        sites: usize,
    ) {
        let Some(parts) = portal.iter().filter_map(|planned| Some(planned.coupled?.parts)).max() else {
            return;
        };
        let path = Path::default().key("broker").key("coallocation");
        let slowest = (1..=sites).map(|at| network.link(0, at).latency).max().unwrap_or_default();
        let CoallocationSpec { patience, lease, .. } = broker.coallocation;
        // To hold and to commit, and the way of the jobs.
        let agreeing = slowest * 4 + broker.overhead * u64::from(parts);
        for (key, given, needs, what) in [
            ("patience", patience, slowest * 2, "an answer of the most distant site"),
            ("lease", lease, agreeing, "to hold, to commit and to send the parts to the most distant site"),
        ] {
            if given <= needs {
                let message = format!(
                    "it is over before it can be used: {what} takes {}; give more, or jobs in parts are rejected",
                    needs.told()
                );
                self.warn(&path.key(key), message);
            }
        }
    }

    /// Warns of what is only for jobs at several sites where there are none, and of prices of what is not to be had.
    pub(super) fn unused_coallocation(&mut self, keys: &ScenarioKeys) {
        let top = Path::default();
        let sites = keys.site.iter().flatten().enumerate();
        let sites: Vec<(Path, &SiteKeys)> =
            sites.map(|(at, site)| (top.key("site").item(at), site)).collect();
        if keys.workload.iter().flatten().any(|workload| workload.coallocate.is_some()) {
            for (path, site) in sites {
                if site.reservable == 0.0 && site.reservation_price.is_some() {
                    let message = "it has no effect: the grid reserves nothing here (`reservable = 0`)";
                    self.warn(&path.key("reservation_price"), message);
                }
            }
            return;
        }
        let none =
            "it has no effect: no workload has `coallocate`, and nothing else is reserved by the broker";
        if keys.broker.as_ref().is_some_and(|broker| broker.coallocation.is_some()) {
            self.warn(&top.key("broker").key("coallocation"), none);
        }
        for (path, site) in sites {
            if site.reservation_price.is_some() {
                self.warn(&path.key("reservation_price"), none);
            }
            if site.reservable < 1.0 {
                self.warn(&path.key("reservable"), none);
            }
        }
        for (at, fault) in keys.fault.iter().flatten().enumerate() {
            let path = top.key("fault").item(at);
            if fault.kind == FaultWord::Lost {
                let message = "it has no effect: only messages about reservations are lost, and no workload has `coallocate`";
                self.warn(&path.key("kind"), message);
            }
            if fault.of.as_deref().is_some_and(|of| of.iter().all(|kind| *kind == MessageKind::Reservations))
            {
                self.warn(&path.key("of"), none);
            }
        }
    }
}
