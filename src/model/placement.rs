//! Which free processors of a partition a job gets.

use std::cmp::Reverse;

use serde::{Deserialize, Serialize};

use super::{MachineGroup, PartitionSpec};

/// Which free processors a job gets whose policy does not choose them by number, where a partition has several groups of machines.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PlacementRule {
    /// The lowest numbers: the groups in the order in which they are described.
    #[default]
    Lowest,
    /// The fastest group first.
    Fastest,
    /// The group with the lowest price per core-hour first.
    Cheapest,
    /// The group first that needs the least energy for the same work: busy power over speed.
    LeastPower,
}

impl PlacementRule {
    /// The groups of a partition, by their places, in the order in which their free processors are given. Equal groups keep their order.
    pub fn ranked(self, spec: &PartitionSpec) -> Vec<usize> {
        let of = |at: &usize| -> &MachineGroup { &spec.groups[*at] };
        let mut order: Vec<usize> = (0..spec.groups.len()).collect();
        match self {
            Self::Lowest => {}
            Self::Fastest => order.sort_by_key(|at| Reverse(of(at).speed)),
            Self::Cheapest => order.sort_by_key(|at| of(at).price),
            Self::LeastPower => order.sort_by(|a, b| {
                let (a, b) = (of(a), of(b));
                let energy = |power: &MachineGroup, speed: &MachineGroup| {
                    u128::from(power.busy.milliwatts()) * u128::from(speed.speed.units())
                };
                energy(a, b).cmp(&energy(b, a))
            }),
        }
        order
    }

    /// Its name in scenarios.
    pub const fn name(self) -> &'static str {
        ["lowest", "fastest", "cheapest", "least-power"][self as usize]
    }
}
