//! What machines draw by their load, where that is not in proportion to their busy cores.
//!
//! What a machine draws beyond idle is split equally over its busy cores at each instant. So what a job draws depends on who else is there: each
//! machine keeps the integral of its power per busy core, and a job draws the differences of these integrals.

use serde::{Deserialize, Serialize};

use crate::model::{PartitionSpec, ProcSet};
use crate::platform::{Draw, Drawn, Tariff};
use crate::units::{Power, Rate, Time};

/// The loads of the machines of a partition.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Loads {
    cores: u32,
    /// The first machine of each group, and what a machine draws beyond idle, at equal steps of load.
    groups: Vec<(u32, Vec<u64>)>,
    /// For each group what a machine draws beyond idle with so many busy cores, and per busy core; see [`Loads::tabulate`].
    #[serde(skip)]
    tables: Vec<Vec<(Draw, Draw)>>,
    machines: Vec<Load>,
    busy: ProcSet,
    /// What all machines draw beyond idle.
    total: Draw,
}

/// The load of a machine.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
struct Load {
    /// Busy cores.
    busy: u32,
    /// What it draws beyond idle, per busy core.
    per_core: Draw,
    /// The integral of this, up to an instant.
    drawn: Drawn,
    until: Time,
}

impl Loads {
    /// Those of a partition without jobs, if any of its groups needs them.
    pub(super) fn of(spec: &PartitionSpec) -> Option<Box<Self>> {
        spec.groups.iter().any(|group| group.by_load.is_some()).then(|| {
            let beyond = |points: &[Power]| {
                let idle = points.first().map_or(0, |point| point.milliwatts());
                points.iter().map(|point| point.milliwatts().saturating_sub(idle)).collect()
            };
            let machine = |core: Power| Power::from_milliwatts(core.milliwatts() * u64::from(spec.cores));
            let groups = spec.numbered().map(|(machines, group)| {
                let points = match &group.by_load {
                    Some(points) => beyond(points),
                    None => beyond(&[machine(group.idle), machine(group.busy)]),
                };
                (machines.start, points)
            });
            let mut loads = Self {
                cores: spec.cores,
                groups: groups.collect(),
                tables: Vec::new(),
                machines: vec![Load::default(); spec.machines() as usize],
                busy: ProcSet::new(),
                total: 0,
            };
            loads.tabulate();
            Box::new(loads)
        })
    }

    /// Computes what is not saved.
    pub(super) fn tabulate(&mut self) {
        let table = |points: &[u64]| {
            let with = |busy| {
                let drawn = drawn_at(points, busy, self.cores);
                (drawn, drawn.checked_div(Draw::from(busy)).unwrap_or(0))
            };
            (0..=self.cores).map(with).collect()
        };
        self.tables = self.groups.iter().map(|(_, points)| table(points)).collect();
    }

    /// What all machines draw beyond idle.
    pub(super) const fn total(&self) -> Draw {
        self.total
    }

    /// Processors are busy from now on, or no longer.
    pub(super) fn change(&mut self, procs: &ProcSet, busy: bool, now: Time, tariff: &Tariff) {
        let changed = if busy {
            let mut idle = procs.clone();
            idle.remove_all(&self.busy);
            self.busy.insert_all(&idle);
            idle
        } else {
            let gone = procs.intersection(&self.busy);
            self.busy.remove_all(&gone);
            gone
        };
        for (at, count) in changed.blocks(self.cores) {
            self.follow(at, now, tariff);
            let group = self.groups.partition_point(|(first, _)| *first <= at).saturating_sub(1);
            let (table, load) = (&self.tables[group], &mut self.machines[at as usize]);
            self.total -= table[load.busy as usize].0;
            load.busy = if busy { load.busy + count } else { load.busy - count };
            let (drawn, per_core) = table[load.busy as usize];
            self.total += drawn;
            load.per_core = per_core;
        }
    }

    /// The integral of what these processors have drawn beyond idle since the beginning, as if they had always been busy when their
    /// machines had busy cores.
    pub(super) fn drawn(&mut self, procs: &ProcSet, now: Time, tariff: &Tariff) -> Drawn {
        let mut drawn = Drawn::default();
        for (at, count) in procs.blocks(self.cores) {
            self.follow(at, now, tariff);
            drawn.merge_times(&self.machines[at as usize].drawn, count);
        }
        drawn
    }

    /// Extends the integral of a machine to `now`.
    fn follow(&mut self, machine: u32, now: Time, tariff: &Tariff) {
        let load = &mut self.machines[machine as usize];
        if load.per_core > 0 && load.until < now {
            load.drawn.add(load.per_core, &tariff.stretch(load.until, now));
        }
        load.until = now;
    }
}

/// What a machine draws beyond idle with so many busy cores, rounded down.
fn drawn_at(points: &[u64], busy: u32, cores: u32) -> Draw {
    let (steps, cores) = (points.len().saturating_sub(1) as u64, u64::from(cores.max(1)));
    let at = u64::from(busy) * steps;
    let (step, part) = (at / cores, at % cores);
    let point = |step: u64| Draw::from(points.get(step as usize).copied().unwrap_or_default());
    let base = point(step) << Rate::BITS;
    if part == 0 {
        return base;
    }
    base + ((point(step + 1) - point(step)) << Rate::BITS) * Draw::from(part) / Draw::from(cores)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::MachineGroup;

    /// The HP ProLiant ML110 G5, from SPECpower, in tenths of a watt.
    const G5: [u64; 11] = [937, 970, 1010, 1050, 1100, 1160, 1210, 1250, 1290, 1330, 1350];

    fn joules(drawn: &Drawn) -> f64 {
        drawn.energy().nanojoules() as f64 / 1e9
    }

    fn partition(cores: u32) -> PartitionSpec {
        let by_load = Some(G5.map(|tenths| Power::from_milliwatts(tenths * 100)).to_vec());
        PartitionSpec { cores, ..PartitionSpec::of(MachineGroup { by_load, ..MachineGroup::plain("g5", 2) }) }
    }

    #[test]
    fn half_the_load_draws_what_the_table_says() {
        let points: Vec<u64> = G5.iter().map(|tenths| (tenths - 937) * 100).collect();
        let watts = |busy, cores| (drawn_at(&points, busy, cores) >> Rate::BITS) as f64 / 1e3;
        // 116 W at 50 %, and between 30 % and 40 % three quarters of the way at 37.5 %: 105 + 0.75 × 5.
        assert_eq!((watts(1, 2), watts(3, 8), watts(8, 8)), (22.3, 15.05, 41.3));
        assert_eq!(watts(0, 8), 0.0);
    }

    #[test]
    fn what_a_machine_draws_is_split_over_its_busy_cores() {
        let (spec, second) = (partition(2), |seconds| Time::from_secs(seconds));
        let (tariff, mut loads) = (Tariff::of(&spec), Loads::of(&spec).expect("a table"));
        let (one, two) = (ProcSet::range(0, 1), ProcSet::range(1, 2));
        loads.change(&one, true, second(0), &tariff);
        assert_eq!(joules(&loads.drawn(&one, second(10), &tariff)), 223.0);
        // Another job comes: 41.3 W for both.
        let before = loads.drawn(&two, second(10), &tariff);
        loads.change(&two, true, second(10), &tariff);
        loads.change(&one, true, second(10), &tariff);
        let mut drawn = loads.drawn(&two, second(20), &tariff);
        drawn.remove(&before);
        assert_eq!(joules(&drawn), 206.5);
        assert_eq!(joules(&loads.drawn(&one, second(20), &tariff)), 429.5);
        loads.change(&ProcSet::range(0, 4), false, second(20), &tariff);
        assert_eq!(loads.total(), 0);
        assert_eq!(joules(&loads.drawn(&one, second(99), &tariff)), 429.5);
    }
}
