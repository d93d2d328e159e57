//! Resolves sites: machines, power, reservations, random churn.

use std::collections::BTreeSet;

use super::Checker;
use crate::entity::{EntityError, Site};
use crate::model::{
    CheckpointInterval, Checkpointing, ChurnSpec, Equipment, MAX_PROCESSORS, MachineGroup, PartitionSpec,
    RandomChurn, Reservation, SiteError, SiteSpec, SleepSpec,
};
use crate::scenario::keys::{ChurnKeys, MachineKeys, OutputKeys, ReservationKeys, SiteKeys, SleepKeys};
use crate::scenario::kind::forms::PowerKey;
use crate::scenario::kind::quantity::Quantity;
use crate::scenario::kind::words::{Best, Or};
use crate::scenario::names::{near, there};
use crate::scenario::tree::Path;
use crate::units::{Bytes, Power, Rate, Span, Time};

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
        let mut partitions: Vec<PartitionSpec> = Vec::new();
        for (at, machines) in keys.machines.iter().flatten().enumerate() {
            let path = path.key("machines").item(at);
            let spec = self.machines(&path, machines, reference);
            if partitions.iter().any(|other| other.name == spec.name) {
                let message =
                    format!("the class `{}` is there twice; give one of them another name", spec.name);
                self.wrong(&path.key("class"), message);
            }
            partitions.push(spec);
        }
        if partitions.is_empty() {
            let message = "the site has no machines; add `machines = [{ class = \"node\", count = 16 }]`, or `use` a site file";
            self.wrong(path, message);
        }
        let pue = keys.pue;
        if !(1.0..=10.0).contains(&pue) {
            self.wrong(&path.key("pue"), format!("`{pue}` is not a PUE; it must be from 1 to 10"));
        }
        let mut spec = SiteSpec {
            name,
            partitions,
            policy: keys.policy.0.clone(),
            order: keys.order,
            overrun: keys.overrun,
            pue_ppm: (pue.clamp(1.0, 10.0) * 1e6).round() as u64,
            tariff: self.tariff(path, keys),
            power: keys.power_policy.0.clone(),
            reservations: Vec::new(),
            churn: match &keys.churn {
                Or::Value(churn) => self.churn(&path.key("churn"), churn),
                Or::Word(_) => ChurnSpec::default(),
            },
            record_machines: output.machines,
            record_segments: output.segments,
            orders: Vec::new(),
        };
        for (at, reservation) in keys.reservation.iter().flatten().enumerate() {
            self.reservation(&path.key("reservation").item(at), reservation, &mut spec);
        }
        spec
    }

    pub(super) fn name_of_site(&mut self, path: &Path, name: &str, before: &[SiteSpec]) {
        let message = match (name, bad_character(name)) {
            ("", _) => "the site has no name; add `name = \"delft\"`".to_owned(),
            ("portal", _) => "`portal` is reserved for the portal; choose another name".to_owned(),
            ("grid", _) => "`grid` is reserved for jobs that end at no site; choose another name".to_owned(),
            (_, Some(bad)) => {
                format!("`{name}` has `{bad}` in it; names are of letters, digits, `-` and `_`")
            }
            _ if before.iter().any(|other| other.name == name) => {
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

    fn machines(&mut self, path: &Path, keys: &MachineKeys, reference: f64) -> PartitionSpec {
        let (count, cores, allocation_unit) = (keys.count, keys.cores, keys.allocation_unit);
        if keys.class.is_empty() {
            self.wrong(&path.key("class"), "the class has no name");
        } else if let Some(bad) = bad_character(&keys.class) {
            let problem =
                format!("`{}` has `{bad}` in it; classes are of letters, digits, `-` and `_`", keys.class);
            self.wrong(&path.key("class"), problem);
        }
        let processors = u64::from(count) * u64::from(cores);
        match (count, cores) {
            (0, _) => self.wrong(&path.key("count"), "the number of machines must be 1 or more"),
            (_, 0) => self.wrong(&path.key("cores"), "the number of cores must be 1 or more"),
            _ if processors > u64::from(MAX_PROCESSORS) => {
                let message = format!(
                    "{count} machines of {cores} cores are {processors}; the most is {MAX_PROCESSORS}"
                );
                self.wrong(&path.key("count"), message);
            }
            _ => {}
        }
        if processors > 0 && (allocation_unit == 0 || u64::from(allocation_unit) > processors) {
            let message = format!(
                "an allocation unit of {allocation_unit} does not fit {processors} processors; it must be 1 to {processors}"
            );
            self.wrong(&path.key("allocation_unit"), message);
        }
        let absent = keys.absent.value().unwrap_or(count);
        if absent > count {
            self.wrong(&path.key("absent"), format!("{absent} of {count} machines cannot be absent"));
        }
        let (idle, busy) = (per_core(keys.idle, cores), per_core(keys.busy, cores));
        if idle > busy {
            let message = format!("{} idle is more than {} busy", keys.idle, keys.busy);
            self.wrong(&path.key("idle"), message);
        }
        if busy > Power::from_milliwatts(1_000_000_000) {
            self.beyond_reason(&path.key("busy"), &format!("{} a core", busy.text()), "1000 kW");
        } else if u128::from(busy.milliwatts()) * u128::from(processors) > 10_000_000_000_000 {
            let all = format!("{} a core of {processors}", busy.text());
            self.beyond_reason(&path.key("busy"), &all, "10 GW for the class");
        }
        let price = keys.price;
        if price.nanos() > 1_000_000_000_000_000_000 {
            self.beyond_reason(&path.key("price"), &price.text(), "1000000000");
        }
        let group = MachineGroup {
            class: keys.class.clone(),
            machines: count,
            speed: self.speed(path, keys, reference),
            idle,
            busy,
            price,
            equipment: self.equipment(path, keys),
            sleep: keys
                .sleep
                .as_ref()
                .map(|sleep| self.sleep(&path.key("sleep"), sleep, (idle, busy), cores)),
        };
        PartitionSpec {
            name: keys.class.clone(),
            groups: vec![group],
            absent: absent.min(count),
            cores,
            allocation_unit,
        }
    }

    /// The sleep state of machines with so many cores of this power.
    fn sleep(
        &mut self,
        path: &Path,
        keys: &SleepKeys,
        (idle, busy): (Power, Power),
        cores: u32,
    ) -> SleepSpec {
        let machine =
            |core: Power| Power::from_milliwatts(core.milliwatts().saturating_mul(u64::from(cores)));
        let (idle, busy) = (machine(idle), machine(busy));
        if keys.power >= idle {
            let message =
                format!("a machine draws {} asleep and {} idle; sleep saves nothing", keys.power, idle);
            self.wrong(&path.key("power"), message);
        }
        let spec = SleepSpec {
            asleep: keys.power,
            wake: keys.wake,
            waking: keys.waking.unwrap_or(busy),
            fall: keys.fall,
            falling: keys.falling.unwrap_or(idle),
        };
        for (key, span) in [("wake", spec.wake), ("fall", spec.fall)] {
            if span > Span::from_secs(86_400) {
                self.beyond_reason(&path.key(key), &span.text(), "a day");
            }
        }
        for (key, power) in [("waking", spec.waking), ("falling", spec.falling)] {
            if power.milliwatts() > busy.milliwatts().saturating_mul(10) {
                self.beyond_reason(&path.key(key), &power.text(), "ten times that of a busy machine");
            }
        }
        spec
    }

    /// What a machine has beyond processors.
    fn equipment(&mut self, path: &Path, keys: &MachineKeys) -> Equipment {
        if keys.memory == Some(Bytes::ZERO) {
            self.wrong(
                &path.key("memory"),
                "a machine has more memory than none; leave it out if it is not known",
            );
        }
        let mut tags = BTreeSet::new();
        for (at, tag) in keys.tags.iter().flatten().enumerate() {
            let problem = match tag.as_str() {
                "" => "a tag is a word such as `gpu`".to_owned(),
                _ if tags.insert(tag.clone()) => continue,
                _ => format!("the tag `{tag}` is there twice"),
            };
            self.wrong(&path.key("tags").item(at), problem);
        }
        Equipment { memory: keys.memory, tags }
    }

    fn speed(&mut self, path: &Path, keys: &MachineKeys, reference: f64) -> Rate {
        let (key, speed, described) = match (keys.mips, keys.speed) {
            (Some(_), Some(_)) => {
                self.wrong(
                    &path.key("speed"),
                    "`mips` and `speed` both give the speed of a core; remove one",
                );
                return Rate::FULL;
            }
            (Some(mips), None) => {
                let speed = mips / reference;
                let at = format!("{mips} MIPS at `reference_mips = {reference}` are a speed of {speed}");
                ("mips", speed, at)
            }
            (None, speed) => {
                let speed = speed.unwrap_or(1.0);
                ("speed", speed, format!("`{speed}` is not a speed"))
            }
        };
        let rate = Rate::from_f64(speed).filter(|_| (0.001..=1e6).contains(&speed));
        rate.unwrap_or_else(|| {
            self.wrong(&path.key(key), format!("{described}; it must be from 0.001 to 1000000"));
            Rate::FULL
        })
    }

    fn reservation(&mut self, path: &Path, keys: &ReservationKeys, spec: &mut SiteSpec) {
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
        };
        spec.reservations.push((partition, reservation));
        // Other errors have been reported before.
        if let Err(SiteError::Reservation { problem, .. }) = spec.check() {
            self.wrong(path, problem);
            spec.reservations.pop();
        }
    }

    fn churn(&mut self, path: &Path, keys: &ChurnKeys) -> ChurnSpec {
        let random = match (keys.up, keys.down) {
            (Some(up), Some(down)) => Some(RandomChurn { up, down }),
            (None, None) => None,
            (Some(_), None) => self.refuse(path, "`up` needs `down`: otherwise machines never come back"),
            (None, Some(_)) => self.refuse(path, "`down` needs `up`: otherwise machines never leave"),
        };
        if let Some(RandomChurn { up, down }) = random {
            let shortest = if up.mean() < down.mean() { "up" } else { "down" };
            let (cycle, who) = (up.mean() + down.mean(), "each machine leaves and comes back");
            let instead = "means of minutes or more are usual, such as `exponential[mean=45 h]`";
            self.fine(&path.key(shortest), cycle, who, instead);
        }
        let interval = match keys.checkpoint {
            Or::Word(Best::None) => None,
            Or::Word(Best::Young) => Some(CheckpointInterval::Young),
            Or::Word(Best::Daly) => Some(CheckpointInterval::Daly),
            Or::Value(span) => Some(CheckpointInterval::Every(span)),
        };
        if keys.checkpoint == Or::Value(Span::ZERO) {
            let message = "the interval must be above 0, or `none`";
            self.wrong(&path.key("checkpoint"), message);
        }
        let cost = keys.checkpoint_cost;
        let computed = matches!(keys.checkpoint, Or::Word(Best::Young | Best::Daly));
        if computed && random.is_none() {
            let message = "this interval depends on the mean up time of machines; add `up` and `down`, or give an interval";
            self.wrong(&path.key("checkpoint"), message);
        }
        if computed && cost.is_zero() {
            let message =
                "checkpoints without cost would be written continuously; give a cost, such as `60 s`";
            self.wrong(&path.key("checkpoint_cost"), message);
        }
        if keys.attempts == 0 {
            self.wrong(&path.key("attempts"), "a job needs at least one attempt");
        }
        ChurnSpec {
            random,
            script: Vec::new(),
            on_failure: keys.on_failure,
            return_queued: keys.return_queued,
            attempts: Some(keys.attempts),
            checkpoint: interval.map(|interval| Checkpointing { interval, cost }),
        }
    }

    /// Checks that the policies exist and have the abilities that the site requires.
    pub(super) fn policy(&mut self, path: &Path, spec: &SiteSpec) {
        if let Err(error) = self.policies.power.build(&spec.power) {
            self.no_policy(&path.key("power_policy"), &error);
        }
        match Site::check_policy(spec, &self.policies.local) {
            Ok(_) => {}
            Err(EntityError::Registry(error)) => self.no_policy(&path.key("policy"), &error),
            Err(EntityError::Unable { problem, .. }) => {
                self.wrong(&path.key("policy"), format!("`{}` {problem}", spec.policy));
            }
            Err(error) => self.wrong(path, error.to_string()),
        }
    }
}

/// The first character that must not be in a name used in keys and events.
fn bad_character(name: &str) -> Option<char> {
    name.chars().find(|c| !c.is_alphanumeric() && !matches!(c, '-' | '_'))
}

/// Power per core, to the nearest milliwatt.
fn per_core(power: PowerKey, cores: u32) -> Power {
    match power {
        PowerKey::Core(power) => power,
        PowerKey::Machine(power) => {
            let cores = u64::from(cores.max(1));
            Power::from_milliwatts(power.milliwatts().saturating_add(cores / 2) / cores)
        }
    }
}
