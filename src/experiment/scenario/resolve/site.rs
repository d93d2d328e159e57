//! Sites: machines, power, reservations, churn by chance.

use super::{Checker, near, there};
use crate::entity::{EntityError, Site};
use crate::experiment::scenario::keys::{
    Absent, Checkpoint, ChurnKeys, ElectricityKey, HoursKey, MachineKeys, OutputKeys, PowerKey,
    ReservationKeys, SiteKeys,
};
use crate::experiment::scenario::quantity::{Or, Quantity};
use crate::experiment::scenario::tree::Path;
use crate::model::{
    CheckpointInterval, Checkpointing, ChurnSpec, DayRates, MAX_PROCESSORS, Named, PartitionSpec,
    RandomChurn, Reservation, SiteError, SiteSpec, SiteTariff,
};
use crate::units::{Power, Rate, Span, Time};

impl Checker<'_> {
    /// A site's description, without the script of its churn.
    pub(super) fn site(
        &mut self,
        path: &Path,
        keys: &SiteKeys,
        reference: f64,
        output: &OutputKeys,
    ) -> SiteSpec {
        let name = keys.name.clone().unwrap_or_default();
        let mut partitions: Vec<PartitionSpec> = Vec::new();
        for (at, machines) in keys.machines.iter().flatten().enumerate() {
            let path = path.key("machines").item(at);
            let spec = self.machines(&path, machines, reference);
            if partitions.iter().any(|other| other.name == spec.name) {
                let said = format!("the class `{}` is there twice; give one of them another name", spec.name);
                self.wrong(&path.key("class"), said);
            }
            partitions.push(spec);
        }
        if partitions.is_empty() {
            let said = "the site has no machines; say `machines = [{ class = \"node\", count = 16 }]`, or `use` a site file";
            self.wrong(path, said);
        }
        let pue = keys.pue.unwrap_or(1.0);
        if !(1.0..=10.0).contains(&pue) {
            self.wrong(&path.key("pue"), format!("`{pue}` is no PUE; it must be from 1 to 10"));
        }
        let mut spec = SiteSpec {
            name,
            partitions,
            policy: keys.policy.clone().unwrap_or_else(|| Named::bare("easy")),
            order: keys.order.unwrap_or_default(),
            overrun: keys.overrun.unwrap_or(false),
            pue_ppm: (pue.clamp(1.0, 10.0) * 1e6).round() as u64,
            tariff: self.tariff(path, keys),
            reservations: Vec::new(),
            churn: match &keys.churn {
                Some(Or::Table(churn)) => self.churn(&path.key("churn"), churn),
                _ => ChurnSpec::default(),
            },
            record_machines: output.machines.unwrap_or(false),
            record_segments: output.segments.unwrap_or(true),
            orders: Vec::new(),
        };
        for (at, reservation) in keys.reservation.iter().flatten().enumerate() {
            self.reservation(&path.key("reservation").item(at), reservation, &mut spec);
        }
        spec
    }

    pub(super) fn name_of_site(&mut self, path: &Path, name: &str, before: &[SiteSpec]) {
        let path = path.key("name");
        if name.is_empty() {
            self.wrong(&path, "the site has no name; say `name = \"delft\"`");
        } else if name == "portal" {
            self.wrong(&path, "`portal` is where grid users submit; call the site something else");
        } else if name == "grid" {
            self.wrong(
                &path,
                "`grid` is where jobs end that no site has taken; call the site something else",
            );
        } else if let Some(bad) = bad_character(name) {
            self.wrong(
                &path,
                format!("`{name}` has `{bad}` in it; names are of letters, digits, `-` and `_`"),
            );
        } else if before.iter().any(|other| other.name == name) {
            self.wrong(&path, format!("two sites are called `{name}`; names must differ"));
        }
    }

    fn machines(&mut self, path: &Path, keys: &MachineKeys, reference: f64) -> PartitionSpec {
        let (count, cores) = (keys.count.unwrap_or(1), keys.cores.unwrap_or(1));
        if let Some(bad) =
            bad_character(&keys.class).map(String::from).or(keys.class.is_empty().then(String::new))
        {
            let said =
                format!("`{}` has `{bad}` in it; classes are of letters, digits, `-` and `_`", keys.class);
            self.wrong(
                &path.key("class"),
                if bad.is_empty() { "the class has no name".to_owned() } else { said },
            );
        }
        let processors = u64::from(count) * u64::from(cores);
        match (count, cores) {
            (0, _) => self.wrong(&path.key("count"), "0 machines run nothing; say 1 or more"),
            (_, 0) => self.wrong(&path.key("cores"), "a machine of 0 cores runs nothing; say 1 or more"),
            _ if processors > u64::from(MAX_PROCESSORS) => {
                let said = format!(
                    "{count} machines of {cores} cores are {processors}; the most is {MAX_PROCESSORS}"
                );
                self.wrong(&path.key("count"), said);
            }
            _ => {}
        }
        let quantum = keys.quantum.unwrap_or(1);
        if processors > 0 && (quantum == 0 || u64::from(quantum) > processors) {
            let said = format!(
                "blocks of {quantum} processors cannot be given of {processors}; say 1 to {processors}"
            );
            self.wrong(&path.key("quantum"), said);
        }
        let absent = match keys.absent.unwrap_or(Absent::Of(0)) {
            Absent::All => count,
            Absent::Of(number) => number,
        };
        if absent > count {
            self.wrong(&path.key("absent"), format!("{absent} of {count} machines cannot be absent"));
        }
        let (idle, busy) = (self.power(keys.idle, cores), self.power(keys.busy, cores));
        if idle > busy {
            let shown = |power: Option<PowerKey>| power.map(|power| power.to_string()).unwrap_or_default();
            let said = format!("{} idle is more than {} busy", shown(keys.idle), shown(keys.busy));
            self.wrong(&path.key("idle"), said);
        }
        if busy > Power::from_milliwatts(1_000_000_000) {
            self.wrong(
                &path.key("busy"),
                format!("{} a core is beyond all reason; at most 1000 kW", busy.text()),
            );
        }
        let price = keys.price.unwrap_or_default().0;
        if price.nanos() > 1_000_000_000_000_000_000 {
            self.wrong(
                &path.key("price"),
                format!("{} is beyond all reason; at most 1000000000", price.text()),
            );
        }
        PartitionSpec {
            name: keys.class.clone(),
            machines: count,
            absent: absent.min(count),
            cores,
            speed: self.speed(path, keys, reference),
            quantum,
            idle,
            busy,
            price,
        }
    }

    fn speed(&mut self, path: &Path, keys: &MachineKeys, reference: f64) -> Rate {
        let (key, speed) = match (keys.mips, keys.speed) {
            (Some(_), Some(_)) => {
                self.wrong(
                    &path.key("speed"),
                    "`mips` and `speed` both say how fast a core is; leave one out",
                );
                return Rate::FULL;
            }
            (Some(mips), None) => ("mips", mips / reference),
            (None, speed) => ("speed", speed.unwrap_or(1.0)),
        };
        match Rate::from_f64(speed).filter(|_| (0.001..=1e6).contains(&speed)) {
            Some(rate) => rate,
            None => {
                let of = match keys.mips {
                    Some(mips) => {
                        format!("{mips} MIPS at `reference_mips = {reference}` are a speed of {speed}")
                    }
                    None => format!("`{speed}` is no speed"),
                };
                self.wrong(&path.key(key), format!("{of}; it must be from 0.001 to 1000000"));
                Rate::FULL
            }
        }
    }

    /// Power of a core, to the nearest milliwatt.
    fn power(&mut self, key: Option<PowerKey>, cores: u32) -> Power {
        match key {
            None => Power::ZERO,
            Some(PowerKey::Core(power)) => power,
            Some(PowerKey::Machine(power)) => {
                let cores = u64::from(cores.max(1));
                Power::from_milliwatts(power.milliwatts().saturating_add(cores / 2) / cores)
            }
        }
    }

    fn tariff(&mut self, path: &Path, keys: &SiteKeys) -> SiteTariff {
        let hours = |key: Option<HoursKey>| key.map(|hours| hours.0).filter(|rates| *rates != DayRates::FLAT);
        let electricity = match keys.electricity {
            Some(ElectricityKey::Of(price)) => Some(price.0),
            _ => None,
        };
        let tariff = SiteTariff {
            price_by_hour: hours(keys.price_by_hour),
            electricity,
            electricity_by_hour: hours(keys.electricity_by_hour),
            starts_at: keys.starts_at.map(|time| time.0).unwrap_or_default(),
        };
        if tariff.starts_at >= Span::from_secs(86_400) {
            let said = format!("`{}` is no time of day; it must be less than 24 h", tariff.starts_at.text());
            self.wrong(&path.key("starts_at"), said);
        }
        if tariff.electricity_by_hour.is_some() && electricity.is_none() {
            let said = "factors need a price to multiply; say `electricity = \"0.25/kWh\"` too";
            self.wrong(&path.key("electricity_by_hour"), said);
        }
        if let Some(price) = electricity.filter(|price| price.nanos() > 100_000_000_000_000) {
            self.wrong(
                &path.key("electricity"),
                format!("{} is beyond all reason; at most 100000/kWh", price.text()),
            );
        }
        tariff
    }

    fn reservation(&mut self, path: &Path, keys: &ReservationKeys, spec: &mut SiteSpec) {
        let class = keys.class.as_deref().unwrap_or_default();
        let Some(partition) = spec.partitions.iter().position(|partition| partition.name == class) else {
            if !spec.partitions.is_empty() {
                let classes = || spec.partitions.iter().map(|partition| partition.name.as_str());
                let near = near(class, classes());
                let said = format!("there are no machines `{class}`{near}; {}", there(classes()));
                self.wrong(&path.key("class"), said);
            }
            return;
        };
        let reservation = Reservation {
            name: keys.name.clone().unwrap_or_default(),
            start: Time::ZERO + keys.from.0,
            end: Time::ZERO + keys.to.0,
            procs: keys.procs,
        };
        spec.reservations.push((partition, reservation));
        // The others have been checked before.
        if let Err(SiteError::Reservation { problem, .. }) = spec.check() {
            self.wrong(path, problem);
            spec.reservations.pop();
        }
    }

    fn churn(&mut self, path: &Path, keys: &ChurnKeys) -> ChurnSpec {
        let random = match (keys.up, keys.down) {
            (Some(up), Some(down)) => Some(RandomChurn { up: up.0, down: down.0 }),
            (None, None) => None,
            (Some(_), None) => {
                self.wrong(path, "machines go after `up` but never come back; say `down` too");
                None
            }
            (None, Some(_)) => {
                self.wrong(
                    path,
                    "`down` says how long machines stay away, but nothing says when they go; say `up` too",
                );
                None
            }
        };
        let interval = match keys.checkpoint.unwrap_or_default() {
            Checkpoint::None => None,
            Checkpoint::Young => Some(CheckpointInterval::Young),
            Checkpoint::Daly => Some(CheckpointInterval::Daly),
            Checkpoint::Every(span) => Some(CheckpointInterval::Every(span)),
        };
        let cost = keys.checkpoint_cost.map(|cost| cost.0).unwrap_or_default();
        if let (Some(CheckpointInterval::Young | CheckpointInterval::Daly), None) = (interval, random) {
            let said =
                "the best interval follows from how often machines fail; say `up` and `down`, or an interval";
            self.wrong(&path.key("checkpoint"), said);
        }
        if matches!(interval, Some(CheckpointInterval::Young | CheckpointInterval::Daly)) && cost.is_zero() {
            let said = "checkpoints that cost nothing would be written all the time; say what one takes, such as `60 s`";
            self.wrong(&path.key("checkpoint_cost"), said);
        }
        let attempts = keys.attempts;
        if attempts == Some(0) {
            self.wrong(&path.key("attempts"), "a job needs at least one attempt");
        }
        ChurnSpec {
            random,
            script: Vec::new(),
            running: keys.running.unwrap_or_default(),
            return_queued: keys.return_queued.unwrap_or(false),
            attempts,
            checkpoint: interval.map(|interval| Checkpointing { interval, cost }),
        }
    }

    /// Checks that the policy exists and can do what the site asks of it.
    pub(super) fn policy(&mut self, path: &Path, spec: &SiteSpec) {
        match Site::check_policy(spec, self.registry) {
            Ok(_) => {}
            Err(EntityError::Registry(error)) => self.no_policy(&path.key("policy"), &error),
            Err(EntityError::Unable { problem, .. }) => {
                self.wrong(&path.key("policy"), format!("`{}` {problem}", spec.policy));
            }
            Err(error) => self.wrong(path, error.to_string()),
        }
    }
}

/// What cannot be in a name that stands in keys and events.
fn bad_character(name: &str) -> Option<char> {
    name.chars().find(|c| !c.is_alphanumeric() && !matches!(c, '-' | '_'))
}
