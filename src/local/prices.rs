//! The price and the power of processor time, and what was metered until they last changed.

use std::ops::Add;

use serde::{Deserialize, Serialize};

use super::settings::Settings;
use crate::model::{PartitionSpec, SiteTariff};
use crate::platform::{Amounts, Drawn, ProcTime, Tariff};
use crate::units::{Carbon, Money, Power, Price};

/// What the account of a partition depends on, beside its machines.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Prices {
    /// Power of an idle core, of a busy core, and price of a core-hour, of each group.
    pub(super) groups: Vec<(Power, Power, Price)>,
    /// Power of a machine by its load, of each group.
    pub(super) by_load: Vec<Option<Vec<Power>>>,
    pub(super) tariff: SiteTariff,
    pub(super) pue_ppm: u64,
}

impl Prices {
    /// Those of a partition of this site.
    pub(super) fn of(spec: &PartitionSpec, settings: &Settings) -> Self {
        let groups = spec.groups.iter().map(|group| (group.idle, group.busy, group.price));
        let by_load = spec.groups.iter().map(|group| group.by_load.clone()).collect();
        Self { groups: groups.collect(), by_load, tariff: settings.tariff.clone(), pue_ppm: settings.pue_ppm }
    }

    /// The tariff of a partition with these prices.
    pub(super) fn tariff(&self, spec: &PartitionSpec) -> Tariff {
        let mut spec = spec.clone();
        for (group, (idle, busy, price)) in spec.groups.iter_mut().zip(&self.groups) {
            (group.idle, group.busy, group.price) = (*idle, *busy, *price);
        }
        Tariff::new(&spec, &self.tariff, self.pue_ppm)
    }
}

/// The meter of a partition: what was drawn since prices last changed, and what it read until then.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Meter {
    /// Drawn by jobs beyond what their processors draw when idle.
    pub(super) dynamic: Drawn,
    /// What machines drew without any job, up to the instant until which the partition is settled.
    pub(super) standing: Standing,
    /// The same up to the end of the account.
    pub(super) counted: Standing,
    /// What it read when prices last changed.
    pub(super) before: Reading,
}

/// What machines drew beside jobs.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Standing {
    /// Machines that are awake, as if they were idle.
    pub(super) awake: Drawn,
    /// What jobs draw beyond idle where that goes by the load of machines.
    pub(super) loaded: Drawn,
    /// Machines that sleep.
    pub(super) asleep: Drawn,
    /// Machines on their way to sleep and back.
    pub(super) transitions: Drawn,
    /// The time of the processors of machines that were not awake, without what reservations held: a part of the idle time.
    pub(super) dormant: ProcTime,
}

/// What a meter reads.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Reading {
    /// What the machines drew.
    pub(super) meter: Amounts,
    /// Of this, what machines drew that slept.
    pub(super) asleep: Amounts,
    /// Of this, what machines drew on their way to sleep and back.
    pub(super) transitions: Amounts,
    /// The cost of the facility's energy, if electricity has a price.
    pub(super) electricity: Option<Money>,
    /// The carbon that it caused, if the intensity is known.
    pub(super) carbon: Option<Carbon>,
}

impl Meter {
    /// What it reads.
    pub(super) fn reading(&self, tariff: &Tariff) -> Reading {
        let mut drawn = self.dynamic;
        let Standing { awake, loaded, asleep, transitions, .. } = &self.counted;
        [awake, loaded, asleep, transitions].into_iter().for_each(|standing| drawn.merge(standing));
        let mut reading = self.before;
        reading.meter += tariff.amounts(&drawn);
        reading.asleep += tariff.amounts(asleep);
        reading.transitions += tariff.amounts(transitions);
        Reading {
            electricity: sum(self.before.electricity, tariff.electricity(&drawn)),
            carbon: sum(self.before.carbon, tariff.carbon(&drawn)),
            ..reading
        }
    }

    /// Begins anew under other prices.
    pub(super) fn close(&mut self, tariff: &Tariff) {
        let dormant = |standing: &Standing| Standing { dormant: standing.dormant, ..Standing::default() };
        *self = Self {
            before: self.reading(tariff),
            standing: dormant(&self.standing),
            counted: dormant(&self.counted),
            dynamic: Drawn::default(),
        };
    }
}

fn sum<T: Add<Output = T>>(before: Option<T>, after: Option<T>) -> Option<T> {
    match (before, after) {
        (Some(before), Some(after)) => Some(before + after),
        (before, after) => before.or(after),
    }
}
