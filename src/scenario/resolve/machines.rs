//! Resolves the machines of a site: classes, and the partitions that they form.

use std::collections::BTreeSet;

use super::Checker;
use super::energy::at_site;
use super::power::memory_power;
use super::site::bad_character;
use crate::model::{Equipment, MAX_PROCESSORS, MachineGroup, PartitionSpec, SleepSpec};
use crate::scenario::keys::{MachineKeys, SiteKeys, SleepKeys};
use crate::scenario::kind::forms::PowerKey;
use crate::scenario::kind::quantity::Quantity;
use crate::scenario::tree::Path;
use crate::units::{Bytes, Power, Rate, Span};

/// The most that [`PartitionSpec::price_units`] may be: times shares (2²⁰), factors by the hour (2¹⁴) and the microseconds of a century (2⁵²)
/// it is the charge of a job, which has 128 bits.
const MOST_PRICE_UNITS: u128 = 1 << 42;

impl Checker<'_> {
    /// The partitions of a site: classes that name the same partition form it together, any other class is one of its own.
    pub(super) fn partitions(&mut self, path: &Path, keys: &SiteKeys, reference: f64) -> Vec<PartitionSpec> {
        let mut partitions: Vec<PartitionSpec> = Vec::new();
        let classes = keys.machines.as_deref().unwrap_or_default();
        for (at, machines) in classes.iter().enumerate() {
            let path = path.key("machines").item(at);
            let mut spec = self.machines(&path, machines, reference);
            let currency = machines.price.currency.as_deref();
            self.currency(&path.key("price"), currency, &at_site(keys.name.as_deref().unwrap_or_default()));
            self.at_level(&path, machines, keys, &mut spec);
            if classes[..at].iter().any(|other| other.class == machines.class) {
                let message =
                    format!("the class `{}` is there twice; give one of them another name", machines.class);
                self.wrong(&path.key("class"), message);
            }
            let Some(name) = &machines.partition else {
                partitions.push(spec);
                continue;
            };
            self.name_of_partition(&path, name, classes);
            match partitions.iter_mut().find(|other| other.name == *name) {
                Some(whole) => self.join(&path, whole, spec),
                None => partitions.push(PartitionSpec { name: name.clone(), ..spec }),
            }
        }
        partitions
    }

    fn name_of_partition(&mut self, path: &Path, name: &str, classes: &[MachineKeys]) {
        let message = if name.is_empty() {
            "the partition has no name".to_owned()
        } else if let Some(bad) = bad_character(name) {
            format!("`{name}` has `{bad}` in it; partitions are of letters, digits, `-` and `_`")
        } else if classes.iter().any(|other| other.class == name && other.partition.as_deref() != Some(name))
        {
            format!(
                "there is a class `{name}`, which is a partition of its own; choose another name, or give the class this partition"
            )
        } else {
            return;
        };
        self.wrong(&path.key("partition"), message);
    }

    /// Adds the machines of a class to its partition.
    fn join(&mut self, path: &Path, whole: &mut PartitionSpec, spec: PartitionSpec) {
        let first = || whole.groups.first().map_or("", |group| group.class.as_str());
        for (key, own, of_first) in [
            ("cores", spec.cores, whole.cores),
            ("allocation_unit", spec.allocation_unit, whole.allocation_unit),
        ] {
            if own != of_first {
                let message = format!(
                    "the machines of a partition have the same `{key}`: {own} here, {of_first} in `{}`, the first class of `{}`",
                    first(),
                    whole.name
                );
                self.wrong(&path.key(key), message);
            }
        }
        // The last machines are absent, so all of a class that is not the last one there.
        if whole.absent > 0 && spec.absent < spec.machines() {
            let message = format!(
                "machines of an earlier class of `{}` are absent; those that are absent must be the last of the partition",
                whole.name
            );
            self.wrong(&path.key("absent"), message);
        }
        let processors = u64::from(whole.processors()) + u64::from(spec.processors());
        if processors > u64::from(MAX_PROCESSORS) {
            let message =
                format!("`{}` has {processors} processors with it; the most is {MAX_PROCESSORS}", whole.name);
            self.wrong(&path.key("count"), message);
            return;
        }
        whole.absent += spec.absent;
        whole.groups.extend(spec.groups);
        if whole.price_units() > MOST_PRICE_UNITS {
            let message = format!(
                "the prices of the classes of `{}` have no common unit that is coarse enough for its {} processors; round them to fewer digits",
                whole.name,
                whole.processors()
            );
            self.wrong(&path.key("price"), message);
        }
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
        let by_load = self.power_by_load(path, keys);
        let (idle, busy) = match by_load.as_deref() {
            Some([idle, .., busy]) => {
                (per_core(PowerKey::Machine(*idle), cores), per_core(PowerKey::Machine(*busy), cores))
            }
            _ => {
                let memory = memory_power(keys);
                let of = |key| per_core(key, cores) + per_core(PowerKey::Machine(memory), cores);
                (of(keys.idle), of(keys.busy))
            }
        };
        if idle > busy && by_load.is_none() {
            let message = format!("{} idle is more than {} busy", keys.idle, keys.busy);
            self.wrong(&path.key("idle"), message);
        }
        if busy > Power::from_milliwatts(1_000_000_000) {
            self.beyond_reason(&path.key("busy"), &format!("{} a core", busy.text()), "1000 kW");
        } else if u128::from(busy.milliwatts()) * u128::from(processors) > 10_000_000_000_000 {
            let all = format!("{} a core of {processors}", busy.text());
            self.beyond_reason(&path.key("busy"), &all, "10 GW for the class");
        }
        let price = keys.price.value;
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
            by_load,
            embodied: self.embodied(path, keys),
        };
        PartitionSpec {
            name: keys.class.clone(),
            groups: vec![group],
            absent: absent.min(count),
            cores,
            allocation_unit,
            most_in_use: None,
            power_part: None,
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
        if let Some(until) = self.calendar.until.filter(|until| spec.wake >= *until) {
            let message = format!(
                "a machine that sleeps takes {} to wake up, and the run ends at {}: no job can get it",
                spec.wake.told(),
                until.told()
            );
            self.warn(&path.key("wake"), message);
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
}

/// Power per core, to the nearest milliwatt.
pub(super) fn per_core(power: PowerKey, cores: u32) -> Power {
    match power {
        PowerKey::Core(power) => power,
        PowerKey::Machine(power) => {
            let cores = u64::from(cores.max(1));
            Power::from_milliwatts(power.milliwatts().saturating_add(cores / 2) / cores)
        }
    }
}
