//! The description of a partition: groups of identical machines.

use std::ops::Range;

use serde::{Deserialize, Serialize};

use super::{Embodied, Equipment, Needs, PowerPart, ProcSet, SleepSpec};
use crate::units::{Power, Price, Rate, Span, Work};

/// Machines of a site that a job runs inside: one or more groups of identical machines.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(into = "WrittenPartition", from = "WrittenPartition")]
pub struct PartitionSpec {
    /// Name, unique in its site.
    pub name: String,
    /// Its groups, at least one. Machines are numbered group by group.
    pub groups: Vec<MachineGroup>,
    /// The number of machines, the last ones, that are down at the beginning.
    pub absent: u32,
    /// Processors (cores) of a machine.
    pub cores: u32,
    /// The allocation unit: processors are allocated in blocks of this many.
    pub allocation_unit: u32,
    /// The most processors that may be in use at once, if a power cap of the site keeps others back.
    pub most_in_use: Option<u32>,
    /// Its part of a power cap of the site.
    pub power_part: Option<PowerPart>,
}

/// Identical machines of a partition.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MachineGroup {
    /// The name of the machine class.
    pub class: String,
    /// The number of machines.
    pub machines: u32,
    /// Speed of a processor; a trace's run times are at [`Rate::FULL`].
    pub speed: Rate,
    /// Power of an idle core.
    pub idle: Power,
    /// Power of a busy core.
    pub busy: Power,
    /// Price per core-hour.
    pub price: Price,
    /// What a machine has beyond processors.
    pub equipment: Equipment,
    /// The state in which its machines sleep, if they have one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sleep: Option<SleepSpec>,
    /// Power of a machine by its load, at equal steps from none to all cores busy, at least two; otherwise it is linear between idle and busy
    /// cores.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by_load: Option<Vec<Power>>,
    /// The carbon of making a machine, if it is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub embodied: Option<Embodied>,
}

/// A partition as it is written: one group of the partition's name is part of it.
#[derive(Serialize, Deserialize)]
struct WrittenPartition {
    name: String,
    machines: u32,
    absent: u32,
    cores: u32,
    speed: Rate,
    allocation_unit: u32,
    idle: Power,
    busy: Power,
    price: Price,
    equipment: Equipment,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    most_in_use: Option<u32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    power_part: Option<PowerPart>,
    /// All groups, unless there is one, which has the name of the partition and no more than powers.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    groups: Vec<MachineGroup>,
}

impl From<PartitionSpec> for WrittenPartition {
    fn from(spec: PartitionSpec) -> Self {
        let PartitionSpec { name, mut groups, absent, cores, allocation_unit, most_in_use, power_part } =
            spec;
        let first = groups.first().cloned().unwrap_or_else(|| MachineGroup::plain(&name, 0));
        if groups.len() == 1 && first.class == name && first.is_plain() {
            groups.clear();
        }
        let MachineGroup { machines, speed, idle, busy, price, equipment, .. } = first;
        Self {
            name,
            machines,
            absent,
            cores,
            speed,
            allocation_unit,
            idle,
            busy,
            price,
            equipment,
            most_in_use,
            power_part,
            groups,
        }
    }
}

impl From<WrittenPartition> for PartitionSpec {
    fn from(written: WrittenPartition) -> Self {
        let WrittenPartition { name, machines, speed, idle, busy, price, equipment, mut groups, .. } =
            written;
        if groups.is_empty() {
            let class = name.clone();
            groups.push(MachineGroup {
                class,
                machines,
                speed,
                idle,
                busy,
                price,
                equipment,
                ..MachineGroup::plain("", 0)
            });
        }
        let WrittenPartition { absent, cores, allocation_unit, most_in_use, power_part, .. } = written;
        Self { name, groups, absent, cores, allocation_unit, most_in_use, power_part }
    }
}

impl MachineGroup {
    /// So many machines of speed 1, without power and price.
    pub fn plain(class: &str, machines: u32) -> Self {
        Self {
            class: class.to_owned(),
            machines,
            speed: Rate::FULL,
            idle: Power::ZERO,
            busy: Power::ZERO,
            price: Price::ZERO,
            equipment: Equipment::default(),
            sleep: None,
            by_load: None,
            embodied: None,
        }
    }

    /// Whether it neither sleeps nor has a power by load or embodied carbon.
    const fn is_plain(&self) -> bool {
        self.sleep.is_none() && self.by_load.is_none() && self.embodied.is_none()
    }
}

impl MachineGroup {
    /// Power of an idle machine of so many cores.
    pub fn idle_machine(&self, cores: u32) -> Power {
        Power::from_milliwatts(self.idle.milliwatts().saturating_mul(u64::from(cores)))
    }
}

impl PartitionSpec {
    /// `processors` machines of one core each, speed 1, no power, no price.
    pub fn plain(processors: u32) -> Self {
        Self::of(MachineGroup::plain("default", processors))
    }

    /// One group of machines of one core each, which it is named after.
    pub fn of(group: MachineGroup) -> Self {
        Self {
            name: group.class.clone(),
            groups: vec![group],
            absent: 0,
            cores: 1,
            allocation_unit: 1,
            most_in_use: None,
            power_part: None,
        }
    }

    /// Whether its part of a power cap is kept by counting watts from the beginning.
    pub(crate) fn counts_watts(&self) -> bool {
        self.power_part.is_some_and(|part| part.in_watts)
    }

    /// The number of machines of all groups.
    pub fn machines(&self) -> u32 {
        self.groups.iter().fold(0, |sum, group| sum.saturating_add(group.machines))
    }

    /// Machines × cores.
    pub fn processors(&self) -> u32 {
        self.machines().saturating_mul(self.cores)
    }

    /// The speed of a processor of the slowest group: what a job gets at least, wherever it runs.
    pub fn speed(&self) -> Rate {
        self.groups.iter().map(|group| group.speed).min().unwrap_or(Rate::FULL)
    }

    /// The speed of a processor of the fastest group.
    pub fn fastest(&self) -> Rate {
        self.groups.iter().map(|group| group.speed).max().unwrap_or(Rate::FULL)
    }

    /// The speed of the slowest machine that any of these processors belongs to: a job on them runs at it.
    pub fn speed_on(&self, procs: &ProcSet) -> Rate {
        let cores = self.cores.max(1);
        if self.groups.len() < 2 {
            return self.speed();
        }
        let there = self
            .numbered()
            .filter(|(machines, _)| procs.iter().any(|proc| machines.contains(&(proc / cores))));
        there.map(|(_, group)| group.speed).min().unwrap_or(self.speed())
    }

    /// How long on its fastest machines what takes this time on its slowest.
    pub fn at_best(&self, time: Span) -> Span {
        if self.groups.len() < 2 {
            return time;
        }
        let work = u128::from(time.micros()) * u128::from(self.speed().units());
        Work::from_units(work).span_at(self.fastest()).unwrap_or(Span::MAX)
    }

    /// The speeds of all its processors that can be allocated, in sum, in units of 2⁻²⁰.
    pub fn total_speed(&self) -> u128 {
        let of_group = |(group, blocks): (&MachineGroup, Range<u32>)| {
            u128::from(blocks.end - blocks.start) * u128::from(group.speed.units())
        };
        self.groups.iter().zip(self.blocks()).map(of_group).sum()
    }

    /// The prices of all processors per core-hour in sum, in units of their greatest common divisor: what a charge is counted in.
    pub fn price_units(&self) -> u128 {
        const fn divisor(a: u64, b: u64) -> u64 {
            if b == 0 { a } else { divisor(b, a % b) }
        }
        let unit = self.groups.iter().fold(0, |unit, group| divisor(unit, group.price.nanos()));
        let of = |group: &MachineGroup| {
            let processors = u128::from(group.machines) * u128::from(self.cores);
            processors * u128::from(group.price.nanos().checked_div(unit).unwrap_or(1))
        };
        self.groups.iter().map(of).sum()
    }

    /// Power of an idle core, in the mean over all machines.
    pub fn idle(&self) -> Power {
        Power::from_milliwatts(self.mean(|group| group.idle.milliwatts()))
    }

    /// Power of a busy core, in the mean over all machines.
    pub fn busy(&self) -> Power {
        Power::from_milliwatts(self.mean(|group| group.busy.milliwatts()))
    }

    /// Price per core-hour, in the mean over all machines.
    pub fn price(&self) -> Price {
        Price::from_nanos(self.mean(|group| group.price.nanos()))
    }

    /// The mean of a quantity over all machines, rounded down.
    fn mean(&self, of: impl Fn(&MachineGroup) -> u64) -> u64 {
        let whole = |group: &MachineGroup| u128::from(group.machines) * u128::from(of(group));
        let sum: u128 = self.groups.iter().map(whole).sum();
        match self.groups.as_slice() {
            [one] => of(one),
            _ => (sum / u128::from(self.machines().max(1))) as u64,
        }
    }

    /// Each group with its machines by number.
    pub fn numbered(&self) -> impl Iterator<Item = (Range<u32>, &MachineGroup)> {
        let mut next = 0_u32;
        self.groups.iter().map(move |group| {
            let first = next;
            next = next.saturating_add(group.machines);
            (first..next, group)
        })
    }

    /// The processors of each group that can be allocated; an allocation block on several groups belongs to the first of them.
    pub fn blocks(&self) -> impl Iterator<Item = Range<u32>> {
        let (unit, usable) = (self.allocation_unit.max(1), self.usable());
        let end = move |machine: u32| machine.saturating_mul(self.cores).next_multiple_of(unit).min(usable);
        self.numbered().map(move |(machines, _)| end(machines.start)..end(machines.end))
    }

    /// The group of a machine.
    pub fn group_of(&self, machine: u32) -> Option<&MachineGroup> {
        self.numbered().find(|(machines, _)| machines.contains(&machine)).map(|(_, group)| group)
    }

    /// What every machine of it has: the least memory, the tags of all groups.
    pub fn equipment(&self) -> Equipment {
        let mut least = self.groups.first().map(|group| group.equipment.clone()).unwrap_or_default();
        for group in self.groups.iter().skip(1) {
            least.memory = least.memory.into_iter().chain(group.equipment.memory).min();
            least.tags.retain(|tag| group.equipment.tags.contains(tag));
        }
        least
    }

    /// The processors of whole allocation units; the rest of the last block is never allocated.
    pub fn usable(&self) -> u32 {
        self.processors() / self.allocation_unit.max(1) * self.allocation_unit.max(1)
    }

    /// The most processors that jobs and reservations may have at once: those of whole allocation units, less what a power cap keeps back.
    pub fn most(&self) -> u32 {
        self.most_in_use.map_or(self.usable(), |most| most.min(self.usable()))
    }

    /// The processors that a request for `procs` gets: whole allocation units.
    pub fn rounded(&self, procs: u32) -> u32 {
        if self.allocation_unit <= 1 {
            return procs;
        }
        procs.div_ceil(self.allocation_unit).saturating_mul(self.allocation_unit)
    }

    /// The fewest machines that have the processors that a request for `procs` gets.
    pub fn machines_for(&self, procs: u32) -> u32 {
        self.rounded(procs).div_ceil(self.cores.max(1))
    }

    /// Whether any machines that a job of so many processors may get have what it needs: each group has.
    pub fn meets(&self, procs: u32, needs: &Needs) -> bool {
        let machines = self.machines_for(procs);
        self.groups.iter().all(|group| needs.met_by(&group.equipment, machines))
    }

    /// Whether with all its machines up it could run what requests so many processors and has these needs.
    pub fn could_run(&self, procs: u32, needs: &Needs) -> bool {
        self.rounded(procs) <= self.most() && self.meets(procs, needs)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::units::Bytes;

    fn group(class: &str, machines: u32, speed: u64, memory: Option<u64>, tags: &[&str]) -> MachineGroup {
        let tags = tags.iter().map(|tag| (*tag).to_owned()).collect();
        let equipment = Equipment { memory: memory.map(Bytes::new), tags };
        let (speed, busy) = (Rate::ratio(speed, 10), Power::from_milliwatts(speed * 1_000));
        MachineGroup { speed, busy, equipment, ..MachineGroup::plain(class, machines) }
    }

    /// Three machines of speed 2 and one of speed 1: a job counts on the slowest, on what all have, and on the mean power,
    /// (3 × 20 W + 10 W) / 4.
    #[test]
    fn a_partition_has_what_all_its_groups_have() {
        let groups = vec![
            group("new", 3, 20, Some(64), &["gpu", "ssd"]),
            group("old", 1, 10, Some(16), &["ssd"]),
            group("unknown", 0, 30, None, &["ssd"]),
        ];
        let mut part =
            PartitionSpec { name: "batch".to_owned(), groups, cores: 2, ..PartitionSpec::plain(1) };
        assert_eq!((part.machines(), part.processors(), part.speed()), (4, 8, Rate::FULL));
        let class = |machine| part.group_of(machine).map(|group| group.class.as_str());
        assert_eq!([0, 2, 3, 4].map(class), [Some("new"), Some("new"), Some("old"), None]);
        assert_eq!(part.busy(), Power::from_milliwatts(17_500));
        assert_eq!(part.equipment(), group("", 0, 1, Some(16), &["ssd"]).equipment);
        let needs = |memory| Needs { memory: Some(Bytes::new(memory)), tags: ["ssd".to_owned()].into() };
        assert!(part.meets(4, &needs(32)) && !part.meets(2, &needs(32)));
        let again: PartitionSpec = serde_json::from_str(&serde_json::to_string(&part).unwrap()).unwrap();
        assert_eq!(again, part);
        part.groups.truncate(1);
        let renamed = PartitionSpec { name: "new".to_owned(), ..part.clone() };
        let json = [&part, &renamed].map(|part| serde_json::to_string(part).unwrap());
        assert_eq!(json.each_ref().map(|json| json.contains("groups")), [true, false]);
        for (json, part) in json.iter().zip([part, renamed]) {
            assert_eq!(serde_json::from_str::<PartitionSpec>(json).unwrap(), part);
        }
    }
}
