//! The price and the power of processor time, and the account as it stood when they last changed.

use serde::{Deserialize, Serialize};

use crate::model::{MachineGroup, PartitionSpec, SiteTariff};
use crate::platform::{Tariff, Usage};
use crate::units::{Energy, Money, Power, Price};

/// The price and the power of processor time.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Prices {
    pub(super) idle: Power,
    pub(super) busy: Power,
    pub(super) price: Price,
    pub(super) tariff: SiteTariff,
    pub(super) pue_ppm: u64,
}

impl Prices {
    /// The tariff of a partition with these prices.
    pub(super) fn tariff(&self, spec: &PartitionSpec) -> Tariff {
        let Self { idle, busy, price, tariff, pue_ppm } = self.clone();
        let group = MachineGroup { idle, busy, price, ..MachineGroup::plain(&spec.name, spec.machines()) };
        Tariff::new(&PartitionSpec { groups: vec![group], ..spec.clone() }, &tariff, pue_ppm)
    }
}

/// The account as it stood when prices last changed: earlier use is not charged again.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Closed {
    /// The account up to the change: all busy time of whatever kind is under `useful`, including that of jobs which still run.
    pub(super) until: Usage,
    pub(super) meter: Energy,
    pub(super) electricity: Option<Money>,
}

impl Closed {
    /// The part of an account since the change.
    fn rest(&self, usage: &Usage) -> Usage {
        Usage {
            from: self.until.to,
            to: usage.to.max(self.until.to),
            processors: usage.processors,
            useful: usage.busy().saturating_sub(self.until.useful),
            down: usage.down.saturating_sub(self.until.down),
            busy_weighed: usage.busy_weighed.saturating_sub(self.until.busy_weighed),
            down_weighed: usage.down_weighed.saturating_sub(self.until.down_weighed),
            ..Usage::default()
        }
    }
}

/// The energy of an account's processors and its cost: up to the last change of prices, by the prices of that time.
pub(super) fn metered(usage: &Usage, closed: Option<&Closed>, tariff: &Tariff) -> (Energy, Option<Money>) {
    let Some(closed) = closed else {
        return (tariff.meter(usage.busy(), usage.powered()), tariff.electricity(usage));
    };
    let rest = closed.rest(usage);
    let electricity = match (closed.electricity, tariff.electricity(&rest)) {
        (Some(before), Some(after)) => Some(before + after),
        (before, after) => before.or(after),
    };
    (closed.meter + tariff.meter(rest.busy(), rest.powered()), electricity)
}
