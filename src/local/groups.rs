//! The groups of a partition's machines: which free processors a job gets, and how fast it is there.

use crate::model::{PartitionSpec, PlacementRule, ProcSet};
use crate::units::Rate;

/// The groups of a partition, in the order in which their processors are given. Without any there is one group.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Groups {
    groups: Vec<Group>,
    /// Whether that is also the order of their numbers.
    in_order: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Group {
    procs: ProcSet,
    /// The allocation blocks that begin in it.
    blocks: ProcSet,
    speed: Rate,
}

impl Groups {
    pub(super) fn new(spec: &PartitionSpec, rule: PlacementRule) -> Self {
        if spec.groups.len() < 2 {
            return Self::default();
        }
        let numbered = spec.numbered().zip(spec.blocks()).map(|((machines, group), blocks)| {
            let procs = ProcSet::range(machines.start * spec.cores, machines.end * spec.cores);
            Some(Group { procs, blocks: ProcSet::range(blocks.start, blocks.end), speed: group.speed })
        });
        let mut numbered: Vec<Option<Group>> = numbered.collect();
        let order = rule.ranked(spec);
        let in_order = order.is_sorted();
        Self { groups: order.into_iter().filter_map(|at| numbered[at].take()).collect(), in_order }
    }

    /// The processors of the allocation blocks that begin in each, in the order in which they are given; none if there is one group.
    pub(super) fn blocks(&self) -> Vec<ProcSet> {
        self.groups.iter().map(|group| group.blocks.clone()).collect()
    }

    /// Whether there are several.
    pub(super) fn several(&self) -> bool {
        !self.groups.is_empty()
    }

    /// So many of the free processors, from the first group on, the lowest numbers first; `None` if there are fewer.
    #[inline]
    pub(super) fn pick(&self, free: &ProcSet, count: u32) -> Option<ProcSet> {
        if self.groups.is_empty() || self.in_order {
            return free.lowest(count);
        }
        self.pick_by_rank(free, count)
    }

    fn pick_by_rank(&self, free: &ProcSet, count: u32) -> Option<ProcSet> {
        let (mut picked, mut left) = (ProcSet::new(), count);
        for group in &self.groups {
            let own = free.intersection(&group.blocks);
            let take = left.min(own.len());
            picked.insert_all(&own.lowest(take)?);
            left -= take;
            if left == 0 {
                break;
            }
        }
        (left == 0).then_some(picked)
    }

    /// How many of the free processors are of each group, in the order in which they are given.
    pub(super) fn count(&self, free: &ProcSet) -> Vec<u32> {
        self.groups.iter().map(|group| free.intersection(&group.blocks).len()).collect()
    }

    /// The speed of the slowest machine of these processors; `None` if there is one group.
    pub(super) fn speed_on(&self, procs: &ProcSet) -> Option<Rate> {
        let there = self.groups.iter().filter(|group| !group.procs.is_disjoint(procs));
        there.map(|group| group.speed).min()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::model::MachineGroup;
    use crate::units::{Power, Price};

    fn group() -> impl Strategy<Value = MachineGroup> {
        (1_u32..5, 1_u64..4, 0_u64..3, 0_u64..3).prop_map(|(machines, speed, price, busy)| MachineGroup {
            speed: Rate::ratio(speed, 2),
            price: Price::from_nanos(price),
            busy: Power::from_milliwatts(busy),
            ..MachineGroup::plain("any", machines)
        })
    }

    proptest! {
        /// What is picked is the beginning of all free processors, sorted by the rank of their block's group and by number.
        #[test]
        fn the_first_of_all_free_ones_by_rank(
            groups in proptest::collection::vec(group(), 1..5), cores in 1_u32..4, unit in 1_u32..4,
            rule in 0_usize..4, blocks in any::<u64>(), count in 0_u32..12,
        ) {
            use PlacementRule::{Cheapest, Fastest, LeastPower, Lowest};
            let rule = [Lowest, Fastest, Cheapest, LeastPower][rule];
            let spec = PartitionSpec { groups, cores, allocation_unit: unit, ..PartitionSpec::plain(1) };
            let all = 0..spec.usable();
            let free: Vec<u32> = all.filter(|proc| blocks >> (proc / unit % 64) & 1 == 1).collect();
            let of = |proc: u32| spec.numbered().position(|(machines, _)| machines.contains(&(proc / cores))).unwrap();
            let order = rule.ranked(&spec);
            let rank = |proc: &u32| (order.iter().position(|at| *at == of(proc / unit * unit)), *proc);
            let mut sorted = free.clone();
            sorted.sort_by_key(rank);
            let count = count * unit;
            let twin = sorted.get(..count as usize).map(|procs| procs.iter().copied().collect::<ProcSet>());
            let fast = Groups::new(&spec, rule);
            let free: ProcSet = free.into_iter().collect();
            let picked = fast.pick(&free, count);
            prop_assert_eq!(&picked, &twin);
            if let Some(picked) = picked.filter(|picked| !picked.is_empty()) {
                let slowest = picked.iter().map(|proc| spec.groups[of(proc)].speed).min();
                prop_assert_eq!(fast.speed_on(&picked).unwrap_or(spec.speed()), slowest.unwrap());
                prop_assert_eq!(spec.speed_on(&picked), slowest.unwrap());
            }
        }
    }
}
