//! The description of a site: partitions, a local policy, reservations.

use serde::{Deserialize, Serialize};
use thiserror::Error;

use super::reservation::Reserved;
use super::{
    ChurnSpec, MachineGroup, Named, PartitionSpec, PlacementRule, PlannedOrder, Preemption, Reservable,
    Reservation, SiteTariff,
};
use crate::units::{Power, Price, Rate};

/// The most power a core may draw: 1 MW.
const MOST_POWER: Power = Power::from_milliwatts(1_000_000_000);
/// The most power that a partition may draw, 10 GW: with it the energy to the end of the time axis is counted exactly.
const MOST_OF_PARTITION: u64 = 10_000_000_000_000;
/// The highest price per core-hour: 10⁹ units.
const MOST_PRICE: Price = Price::from_nanos(1_000_000_000_000_000_000);

/// The most processors a partition may have; far above any machine, far below what would overflow.
pub const MAX_PROCESSORS: u32 = 1 << 26;

/// The order of what happens at one instant.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum InstantOrder {
    /// Ends, then changes, then wakes, then arrivals, then **one** scheduling pass in each partition that any of these
    /// touched.
    #[default]
    Instant,
    /// One pass per event, arrivals before ends; a running job whose expected end has come counts as free; starts
    /// take effect after all ends. The convention of pyss and of the figures published with it.
    Event,
}

/// The description of a site.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SiteSpec {
    /// Name, unique in the grid.
    pub name: String,
    /// Its partitions, at least one.
    pub partitions: Vec<PartitionSpec>,
    /// The local policy; each partition has an instance of its own.
    pub policy: Named,
    /// The order of what happens at one instant.
    pub order: InstantOrder,
    /// Whether jobs may run beyond their estimate.
    pub overrun: bool,
    /// Which free processors jobs get. The hash of a description leaves the default out.
    #[serde(default, skip_serializing_if = "is_default")]
    pub placement: PlacementRule,
    /// Power usage effectiveness × 10⁶ (facility over IT energy).
    pub pue_ppm: u64,
    /// Prices by the hour of the day, and of electricity.
    pub tariff: SiteTariff,
    /// The power policy: which machines sleep, and when. The hash of a description leaves it out if all are always on.
    #[serde(default = "always_on", skip_serializing_if = "is_always_on")]
    pub power: Named,
    /// The most that its machines may draw at once (IT power), if it is limited; [`SiteSpec::cap_power`] sets it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub power_cap: Option<Power>,
    /// What suspending, resuming and resizing jobs costs. The hash of a description leaves it out if it is nothing.
    #[serde(default, skip_serializing_if = "Preemption::is_default")]
    pub preemption: Preemption,
    /// Static reservations, each with the index of its partition.
    pub reservations: Vec<(usize, Reservation)>,
    /// What the grid may reserve here. The hash of a description leaves the default out.
    #[serde(default, skip_serializing_if = "Reservable::is_default")]
    pub reservable: Reservable,
    /// How machines come and go.
    pub churn: ChurnSpec,
    /// Whether changes of machine state are recorded.
    pub record_machines: bool,
    /// Whether segments are recorded.
    pub record_segments: bool,
    /// Orders for its jobs and its reservations at given times, in order of time. The hash of a description leaves it out if it is empty.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub orders: Vec<PlannedOrder>,
}

fn is_default(rule: &PlacementRule) -> bool {
    *rule == PlacementRule::default()
}

/// An invalid site description.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum SiteError {
    /// A site without partitions.
    #[error("site `{0}` has no partition")]
    NoPartition(String),
    /// A partition without processors.
    #[error("partition `{partition}` of site `{site}` has no processors")]
    NoProcessors {
        /// The site.
        site: String,
        /// The partition.
        partition: String,
    },
    /// A partition with too many processors.
    #[error(
        "partition `{partition}` of site `{site}` has {processors} processors; the most is {MAX_PROCESSORS}"
    )]
    TooManyProcessors {
        /// The site.
        site: String,
        /// The partition.
        partition: String,
        /// Machines × cores.
        processors: u64,
    },
    /// An invalid allocation unit.
    #[error(
        "the allocation unit of partition `{partition}` is {allocation_unit}; it must be 1 to {processors}"
    )]
    AllocationUnit {
        /// The partition.
        partition: String,
        /// The value as given.
        allocation_unit: u32,
        /// The processors of the partition.
        processors: u32,
    },
    /// A speed of zero, or beyond any machine.
    #[error("the speed of partition `{0}` must be above 0 and at most 1000000")]
    Speed(String),
    /// An idle core that draws more than a busy one.
    #[error(
        "partition `{partition}` draws {idle} per core when idle and {busy} when busy; idle must not exceed busy"
    )]
    Power {
        /// The partition.
        partition: String,
        /// Idle power per core.
        idle: Power,
        /// Busy power per core.
        busy: Power,
    },
    /// A power or price so large that sums could overflow.
    #[error(
        "partition `{0}` draws or costs too much: at most 1 MW per core, 10 GW in all, and 1000000000 per core-hour"
    )]
    TooMuch(String),
    /// A PUE below one.
    #[error("the PUE of site `{site}` is {} ; it must be between 1 and 10", *pue_ppm as f64 / 1e6)]
    Pue {
        /// The site.
        site: String,
        /// PUE × 10⁶.
        pue_ppm: u64,
    },
    /// A price of electricity that is too large, or factors without a price.
    #[error("site `{site}`: {problem}")]
    Tariff {
        /// The site.
        site: String,
        /// The problem.
        problem: &'static str,
    },
    /// A power cap under which no job could run.
    #[error(
        "{cap} leave no power to jobs: the machines of site `{site}` draw {standing} without any{}, and {greatest} at most",
        lacking(short.as_deref())
    )]
    PowerCap {
        /// The site.
        site: String,
        /// The cap.
        cap: Power,
        /// What its machines draw at most without jobs.
        standing: Power,
        /// What they draw at most.
        greatest: Power,
        /// A partition that has too little of what is left, how much it has, and what one more processor in use draws.
        short: Option<Box<(String, Power, Power)>>,
    },
    /// A reservation that ends before it begins, needs no or too many processors, or names no partition.
    #[error("reservation `{name}`: {problem}")]
    Reservation {
        /// The reservation.
        name: String,
        /// The problem.
        problem: String,
    },
}

fn always_on() -> Named {
    Named::bare("always-on")
}

fn is_always_on(power: &Named) -> bool {
    *power == always_on()
}

impl SiteSpec {
    /// One plain partition under `policy`.
    pub fn plain(name: &str, processors: u32, policy: Named) -> Self {
        Self {
            name: name.to_owned(),
            partitions: vec![PartitionSpec::plain(processors)],
            policy,
            order: InstantOrder::Instant,
            overrun: false,
            placement: PlacementRule::default(),
            pue_ppm: 1_000_000,
            tariff: SiteTariff::default(),
            power: always_on(),
            power_cap: None,
            preemption: Preemption::default(),
            reservations: Vec::new(),
            reservable: Reservable::default(),
            churn: ChurnSpec::default(),
            record_machines: false,
            record_segments: true,
            orders: Vec::new(),
        }
    }

    /// Checks everything that does not depend on the policy.
    ///
    /// # Errors
    /// [`SiteError`] names the site or partition and the valid values.
    pub fn check(&self) -> Result<(), SiteError> {
        if self.partitions.is_empty() {
            return Err(SiteError::NoPartition(self.name.clone()));
        }
        if !(1_000_000..=10_000_000).contains(&self.pue_ppm) {
            return Err(SiteError::Pue { site: self.name.clone(), pue_ppm: self.pue_ppm });
        }
        let tariff = self.tariff.check();
        tariff.map_err(|problem| SiteError::Tariff { site: self.name.clone(), problem })?;
        for part in &self.partitions {
            let (site, partition) = (self.name.clone(), part.name.clone());
            let processors = part.groups.iter().map(|group| u64::from(group.machines)).sum::<u64>()
                * u64::from(part.cores);
            if processors == 0 {
                return Err(SiteError::NoProcessors { site, partition });
            }
            if processors > u64::from(MAX_PROCESSORS) {
                return Err(SiteError::TooManyProcessors { site, partition, processors });
            }
            let processors = part.processors();
            if part.allocation_unit == 0 || part.allocation_unit > processors {
                return Err(SiteError::AllocationUnit {
                    partition,
                    allocation_unit: part.allocation_unit,
                    processors,
                });
            }
            for MachineGroup { speed, idle, busy, price, .. } in &part.groups {
                if *speed == Rate::ZERO || *speed > Rate::from_units(1_000_000 << Rate::BITS) {
                    return Err(SiteError::Speed(partition));
                }
                if idle > busy {
                    return Err(SiteError::Power { partition, idle: *idle, busy: *busy });
                }
                let all = busy.milliwatts().saturating_mul(u64::from(processors));
                if *busy > MOST_POWER || all > MOST_OF_PARTITION || *price > MOST_PRICE {
                    return Err(SiteError::TooMuch(partition));
                }
            }
        }
        self.check_reservations()
    }

    fn check_reservations(&self) -> Result<(), SiteError> {
        let mut reserved: Vec<Reserved> = self.partitions.iter().map(|_| Reserved::default()).collect();
        self.reservations.iter().try_for_each(|(partition, booked)| {
            let added = match self.partitions.get(*partition) {
                Some(spec) => reserved[*partition].add(spec, booked),
                None => Err(format!("the site has no partition number {partition}")),
            };
            added.map_err(|problem| SiteError::Reservation { name: booked.name.clone(), problem })
        })
    }
}

/// What a partition lacks under a power cap.
fn lacking(short: Option<&(String, Power, Power)>) -> String {
    short.map_or_else(String::new, |(part, left, needs)| {
        format!(" (`{part}` has {left} left, and a processor needs {needs} more)")
    })
}
