//! Resolves sites: machines, power, reservations.

use rustc_hash::FxHashSet;

use super::Checker;
use crate::entity::{EntityError, Site};
use crate::local::{PowerPolicy, SleepRule};
use crate::model::{JobId, Reservation, Reserved, SiteSpec};
use crate::scenario::keys::{OutputKeys, ReservationKeys, SiteKeys};
use crate::scenario::kind::forms::PowerCapKey;
use crate::scenario::names::{near, there};
use crate::scenario::tree::Path;
use crate::units::{Power, Time};

impl Checker<'_> {
    /// The description of a site, without the script of its churn.
    pub(super) fn site(
        &mut self,
        path: &Path,
        keys: &SiteKeys,
        reference: f64,
        output: &OutputKeys,
    ) -> SiteSpec {
        let name = keys.name.clone().unwrap_or_default();
        let partitions = self.partitions(path, keys, reference);
        if partitions.is_empty() {
            let message = "the site has no machines; add `machines = [{ class = \"node\", count = 16 }]`, or `use` a site file";
            self.wrong(path, message);
        }
        let pue = keys.pue;
        if !(1.0..=10.0).contains(&pue) {
            self.wrong(&path.key("pue"), format!("`{pue}` is not a PUE; it must be from 1 to 10"));
        }
        let churn = self.churn(path, keys, &partitions);
        let preemption = self.preemption(path, keys, &partitions);
        let mut spec = SiteSpec {
            name,
            partitions,
            policy: keys.policy.0.clone(),
            order: keys.order,
            overrun: keys.overrun,
            placement: keys.placement.unwrap_or_default(),
            pue_ppm: (pue.clamp(1.0, 10.0) * 1e6).round() as u64,
            tariff: self.tariff(path, keys),
            power: keys.power_policy.0.clone(),
            power_cap: None,
            preemption,
            reservations: Vec::new(),
            reservable: self.reservable(path, keys),
            churn,
            record_machines: output.machines,
            record_segments: output.segments,
            orders: Vec::new(),
        };
        // Batsim's states of machines are made of these records.
        let mut groups = spec.partitions.iter().flat_map(|part| &part.groups);
        spec.record_machines |= output.batsim && groups.any(|group| group.sleep.is_some());
        self.power_cap(&path.key("power_cap"), keys, &mut spec);
        self.unused_of_site(path, keys, &spec);
        let mut reserved: Vec<Reserved> = spec.partitions.iter().map(|_| Reserved::default()).collect();
        for (at, reservation) in keys.reservation.iter().flatten().enumerate() {
            let path = path.key("reservation").item(at);
            self.reservation(&path, reservation, &mut spec, &mut reserved, keys.workload.0.is_some());
        }
        spec
    }

    pub(super) fn name_of_site(&mut self, path: &Path, name: &str, before: &mut FxHashSet<String>) {
        let message = match (name, bad_character(name)) {
            ("", _) => "the site has no name; add `name = \"delft\"`".to_owned(),
            ("portal", _) => "`portal` is reserved for the portal; choose another name".to_owned(),
            ("grid", _) => "`grid` is reserved for jobs that end at no site; choose another name".to_owned(),
            (_, Some(bad)) => {
                format!("`{name}` has `{bad}` in it; names are of letters, digits, `-` and `_`")
            }
            _ if !before.insert(name.to_owned()) => {
                format!("two sites are called `{name}`; names must differ")
            }
            _ => return,
        };
        self.wrong(&path.key("name"), message);
    }

    /// Refuses a value that must be a mistake.
    pub(super) fn beyond_reason(&mut self, path: &Path, value: &str, most: &str) {
        self.wrong(path, format!("{value} is beyond all reason; at most {most}"));
    }

    fn power_cap(&mut self, path: &Path, keys: &SiteKeys, spec: &mut SiteSpec) {
        let part_of = |all: Power, ppm: u64| {
            let milliwatts = u128::from(all.milliwatts()) * u128::from(ppm) / 1_000_000;
            Power::from_milliwatts(u64::try_from(milliwatts).unwrap_or(u64::MAX))
        };
        let cap = keys.power_cap.map(|cap| match cap {
            PowerCapKey::Power(power) => power,
            PowerCapKey::Part(ppm) => part_of(spec.greatest_power(), ppm),
        });
        if let Err(error) = spec.cap_power(cap) {
            self.wrong(path, error.to_string());
            // Other errors are told as if there were none.
            let _ = spec.cap_power(None);
        }
    }

    fn reservation(
        &mut self,
        path: &Path,
        keys: &ReservationKeys,
        spec: &mut SiteSpec,
        reserved: &mut [Reserved],
        has_jobs: bool,
    ) {
        let class = keys.class.as_deref().unwrap_or_default();
        let Some(partition) = spec.partitions.iter().position(|partition| partition.name == class) else {
            if !spec.partitions.is_empty() {
                let classes = || spec.partitions.iter().map(|partition| partition.name.as_str());
                let near = near(class, classes());
                let message = format!("there are no machines `{class}`{near}; {}", there(classes()));
                self.wrong(&path.key("class"), message);
            }
            return;
        };
        let reservation = Reservation {
            name: keys.name.clone().unwrap_or_default(),
            start: Time::ZERO + keys.from,
            end: Time::ZERO + keys.to,
            procs: keys.procs,
            job: keys.job.map(JobId),
        };
        if !has_jobs && reservation.job.is_some() {
            let message = "it is kept for a job of the site's own workload, and the site has none: add `workload`, or leave out `job`";
            return self.wrong(&path.key("job"), message);
        }
        match reserved[partition].add(&spec.partitions[partition], &reservation) {
            Ok(()) => spec.reservations.push((partition, reservation)),
            Err(problem) => self.wrong(path, problem),
        }
    }

    /// Warns of machines that never sleep although they could.
    fn sleep_rules(&mut self, path: &Path, spec: &SiteSpec, power: &dyn PowerPolicy) {
        for part in &spec.partitions {
            let states = part.groups.iter().filter_map(|group| Some((group, group.sleep?)));
            let rules = states.map(|(group, state)| power.sleep(&state, group.idle_machine(part.cores)));
            let rules: Vec<SleepRule> = rules.filter(|rule| *rule != SleepRule::NEVER).collect();
            let (Some(after), Some(reserve)) =
                (rules.iter().map(|rule| rule.after).min(), rules.iter().map(|rule| rule.reserve).max())
            else {
                continue;
            };
            let name = &part.name;
            if let Some(until) = self.calendar.until.filter(|until| after >= *until) {
                let message = format!(
                    "no machine of `{name}` sleeps: it must be idle for {} before, and the run ends at {}",
                    after.told(),
                    until.told()
                );
                self.warn(path, message);
            }
            if reserve >= part.machines() {
                let message = format!(
                    "no machine of `{name}` sleeps: it has {} of them, and {reserve} idle ones are kept awake",
                    part.machines()
                );
                self.warn(path, message);
            }
        }
    }

    /// Checks that the policies exist and have the abilities that the site requires.
    pub(super) fn policy(&mut self, path: &Path, spec: &SiteSpec) {
        match self.policies.power.build(&spec.power) {
            Ok(power) => self.sleep_rules(&path.key("power_policy"), spec, &*power),
            Err(error) => self.no_policy(&path.key("power_policy"), &error),
        }
        match Site::check_policy(spec, &self.policies.local) {
            Ok((policy, able)) => self.unused_preemption(path, spec, (&*policy, able)),
            Err(EntityError::Registry(error)) => self.no_policy(&path.key("policy"), &error),
            Err(EntityError::Unable { problem, .. }) => {
                self.wrong(&path.key("policy"), format!("`{}` {problem}", spec.policy));
            }
            Err(error) => self.wrong(path, error.to_string()),
        }
    }
}

/// The first character that must not be in a name used in keys and events.
pub(super) fn bad_character(name: &str) -> Option<char> {
    name.chars().find(|c| !c.is_alphanumeric() && !matches!(c, '-' | '_'))
}
