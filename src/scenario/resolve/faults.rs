//! Resolves faults of what sites and the grid say to each other, and when a site is taken as lost.

use super::Checker;
use crate::model::{
    BrokerSpec, FaultKind, FaultSpec, Heartbeat, MessageKind, MessageKinds, NetworkSpec, SiteId, SiteSpec,
};
use crate::scenario::keys::{BrokerKeys, FaultKeys};
use crate::scenario::kind::words::FaultWord;
use crate::scenario::names::near;
use crate::scenario::tree::Path;
use crate::units::{Span, Time, grouped};

/// The lease of an assignment, if none is given: HTCondor's.
const LEASE: Span = Span::from_secs(2_400);

/// The time after which a black hole fails a job, if none is given.
const AFTER: Span = Span::from_secs(5);

/// The most reports of a site that one fault may make late.
const MOST_LATE: u64 = 10_000_000;

impl Checker<'_> {
    /// Gives the broker its faults, and the heartbeat that it waits for.
    pub(super) fn faults(
        &mut self,
        written: &[FaultKeys],
        keys: Option<&BrokerKeys>,
        broker: Option<BrokerSpec>,
        sites: &[SiteSpec],
        network: &NetworkSpec,
    ) -> Option<BrokerSpec> {
        let path = Path::default().key("fault");
        let (Some(keys), Some(mut broker)) = (keys, broker) else {
            if !written.is_empty() {
                let message = "faults are between the sites and a broker, and there is none; add `[broker]`";
                self.wrong(&path.item(0), message);
            }
            return None;
        };
        let (faults, interval) = (written.iter().enumerate(), broker.monitoring_interval);
        broker.faults =
            faults.filter_map(|(at, keys)| self.fault(&path.item(at), keys, sites, interval)).collect();
        broker.heartbeat = self.heartbeat(&Path::default().key("broker"), keys, sites.len(), network);
        if broker.heartbeat.is_some() && written.is_empty() {
            let message = "it has no effect: without a `[[fault]]` every report is heard in time";
            self.idle.push(
                self.document.problem(&Path::default().key("broker").key("heartbeat_timeout"), message),
            );
        }
        Some(broker)
    }

    fn fault(
        &mut self,
        path: &Path,
        keys: &FaultKeys,
        sites: &[SiteSpec],
        interval: Span,
    ) -> Option<FaultSpec> {
        let names = || sites.iter().map(|site| site.name.as_str());
        let mut of_sites: Vec<SiteId> = Vec::new();
        for name in keys.site.iter().flat_map(|names| &names.0) {
            match names().position(|known| known == name) {
                Some(at) => of_sites.push(SiteId(at as u32)),
                None => {
                    let message = format!("there is no site `{name}`{}", near(name, names()));
                    self.wrong(&path.key("site"), message);
                }
            }
        }
        if keys.site.as_ref().is_some_and(|names| names.0.is_empty()) {
            self.wrong(&path.key("site"), "name a site, or leave `site` out for all");
        }
        if keys.lasting.is_zero() {
            self.wrong(&path.key("for"), "a fault must last for a time above 0");
        }
        let is_late = matches!(keys.kind, FaultWord::Late | FaultWord::Twice);
        for (key, given) in [("of", keys.of.is_some()), ("delay", keys.delay.is_some())] {
            if given && !is_late {
                self.wrong(&path.key(key), format!("`{key}` is for the kinds `late` and `twice`"));
            }
        }
        if keys.after.is_some() && keys.kind != FaultWord::BlackHole {
            self.wrong(&path.key("after"), "`after` is for the kind `black-hole`");
        }
        if keys.of.as_ref().is_some_and(Vec::is_empty) {
            self.wrong(&path.key("of"), "name a kind of messages, or leave `of` out for all");
        }
        let of: MessageKinds = match &keys.of {
            Some(kinds) => kinds.iter().copied().collect(),
            None => MessageKind::ALL.iter().copied().collect(),
        };
        let delay = || keys.delay;
        if is_late && delay().is_none() {
            let message = "say how much later, such as `delay = \"exponential[mean=5 min]\"`";
            return self.refuse(path, message);
        }
        let kind = match keys.kind {
            FaultWord::Partition => FaultKind::Partition,
            FaultWord::Late => FaultKind::Late { of, delay: delay()? },
            FaultWord::Twice => FaultKind::Twice { of, delay: delay()? },
            FaultWord::Lost => FaultKind::Lost,
            FaultWord::StaleDirectory => FaultKind::StaleDirectory,
            FaultWord::EmptyDirectory => FaultKind::EmptyDirectory,
            FaultWord::Silent => FaultKind::Silent,
            FaultWord::Refuse => FaultKind::Refuse,
            FaultWord::BlackHole => FaultKind::BlackHole { after: keys.after.unwrap_or(AFTER) },
        };
        let reports = keys.lasting.micros().checked_div(interval.micros()).unwrap_or_default();
        if matches!(kind, FaultKind::Late { of, .. } if of.has(MessageKind::Reports)) && reports > MOST_LATE {
            let message = format!(
                "{} reports of a site would be late, each by a time of its own; the most is {}: give a shorter time, or a longer `monitoring_interval`",
                grouped(reports),
                grouped(MOST_LATE)
            );
            self.wrong(&path.key("for"), message);
        }
        let from = Time::ZERO + keys.from;
        Some(FaultSpec { kind, sites: of_sites, from, until: from + keys.lasting })
    }

    fn heartbeat(
        &mut self,
        path: &Path,
        keys: &BrokerKeys,
        sites: usize,
        network: &NetworkSpec,
    ) -> Option<Heartbeat> {
        let Some(timeout) = keys.heartbeat_timeout else {
            if keys.lease.is_some() {
                let message =
                    "a lease ends where no word comes, and nobody waits for one; add `heartbeat_timeout`";
                self.wrong(&path.key("lease"), message);
            }
            return None;
        };
        let at = path.key("heartbeat_timeout");
        let interval = keys.monitoring_interval;
        if interval.is_zero() {
            return self.refuse(
                &at,
                "sites that report at every change may be silent for long; give a `monitoring_interval` above 0 s",
            );
        }
        let slowest = (1..=sites).map(|at| network.link(0, at).latency).max().unwrap_or_default();
        let least = interval + slowest;
        if timeout <= least {
            let message = format!(
                "reports come every {} and take up to {}, so a site would be taken as lost that is well; give more than {}",
                interval.told(),
                slowest.told(),
                least.told()
            );
            self.wrong(&at, message);
        }
        let lease = keys.lease.unwrap_or(LEASE.max(timeout));
        if lease < timeout {
            let message = format!(
                "an assignment cannot be over before its site is taken as lost; give at least the `heartbeat_timeout` of {}",
                timeout.told()
            );
            self.wrong(&path.key("lease"), message);
        }
        Some(Heartbeat { timeout, lease })
    }
}
