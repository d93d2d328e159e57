//! The description of a whole grid: sites, network, broker.

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};

use super::{ApplicationSpec, CoallocationSpec, FaultSpec, Heartbeat, Named, SiteSpec, WorkflowSettings};
use crate::units::{Bandwidth, Bytes, CarbonIntensity, DataEnergy, DataPrice, Span};

/// The description of a whole grid.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct GridSpec {
    /// The seed of all random draws.
    pub seed: u64,
    /// The sites, at least one.
    pub sites: Vec<SiteSpec>,
    /// The connections between the portal and the sites, and among the sites.
    pub network: NetworkSpec,
    /// The broker; without one, sites receive only the jobs of their own users.
    pub broker: Option<BrokerSpec>,
}

/// A connection between two places.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Link {
    /// The time that a message takes.
    pub latency: Span,
    /// The bandwidth that data transfers share; `None` for unlimited.
    pub bandwidth: Option<Bandwidth>,
}

impl Link {
    /// The connection over this one and another behind it.
    fn then(self, next: Self) -> Self {
        let bandwidth = self.bandwidth.into_iter().chain(next.bandwidth).min();
        Self { latency: self.latency + next.latency, bandwidth }
    }
}

/// Connections between places. Place 0 is the portal with the broker, place `i + 1` is site `i`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct NetworkSpec {
    /// The connection of two places that have none of their own; `None` if sites reach each other through the portal.
    pub everywhere: Option<Link>,
    /// The connections of places `a < b` that have one of their own.
    pub own: BTreeMap<(usize, usize), Link>,
    /// How transfers use the bandwidth of a link.
    pub sharing: Sharing,
    /// By place, the bandwidth that all transfers out of it have in common; those into it have as much. `None`, and
    /// places that are not listed, are unlimited.
    pub uplinks: Vec<Option<Bandwidth>>,
    /// By place, its storage; places that are not listed have one without limits.
    pub storages: Vec<StorageSpec>,
    /// What moving data takes, costs and causes.
    pub data: DataRates,
}

/// What data takes, costs and causes that goes from one place to another, at any time, whichever way it goes.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct DataRates {
    /// The energy that the network draws for it.
    pub energy: DataEnergy,
    /// Its price, if it has one.
    pub price: Option<DataPrice>,
    /// The carbon intensity of this energy, if it is known.
    pub carbon: Option<CarbonIntensity>,
}

impl DataRates {
    /// Whether moving data takes and costs nothing.
    pub fn is_none(&self) -> bool {
        *self == Self::default()
    }
}

impl fmt::Display for DataRates {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} J/GB", self.energy.nanojoules() as f64 / 1e9)?;
        self.price.iter().try_for_each(|price| write!(f, ", {}/GB", price.nanos() as f64 / 1e9))?;
        self.carbon.iter().try_for_each(|carbon| write!(f, ", {} g/kWh", carbon.micrograms() as f64 / 1e6))
    }
}

/// The description of the storage of a place.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct StorageSpec {
    /// What readers and writers share; `None` for unlimited.
    pub bandwidth: Option<Bandwidth>,
    /// The space for files; `None` for as much as is needed.
    pub capacity: Option<Bytes>,
}

/// How transfers use the bandwidth of a link.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Sharing {
    /// They share it fairly.
    #[default]
    Shared,
    /// Each has all of it, as textbooks assume.
    Unshared,
}

/// The broker and its dispatcher.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BrokerSpec {
    /// The broker policy.
    pub policy: Named,
    /// The time between two reports of a site; zero reports at every change.
    pub monitoring_interval: Span,
    /// Whether the broker adds its own dispatches to a grid view that does not show them yet.
    pub count_in_flight: bool,
    /// What the broker believes of pools.
    pub information: Information,
    /// How long a wait that was measured counts for a forecast: where the last one is older, the report answers.
    pub forecast_within: Span,
    /// By what it plans how long jobs run.
    pub run_times: RunTimes,
    /// The records of applications that are registered with it.
    pub applications: Vec<ApplicationSpec>,
    /// When assignments of jobs that do not run yet are planned again.
    pub replan: Replan,
    /// Whether replanning recalls jobs that wait at sites too, or only those that the dispatcher holds back.
    pub recall_queued: bool,
    /// The number of times that a job is assigned again before it is abandoned.
    pub retries: u32,
    /// The time that a returned job waits before it is planned again; doubled with each return, up to 64 times.
    pub backoff: Span,
    /// The largest number of the grid's jobs at a site at once, waiting or running; `None` for no limit.
    pub in_flight: Option<u32>,
    /// The time that the dispatcher needs for one dispatch; dispatches follow one another.
    pub overhead: Span,
    /// The time that the broker needs for a plan.
    pub planning: PlanningTime,
    /// The party that pays for an attempt that failed because of churn.
    pub failed_attempts: Payer,
    /// How workflows are enacted.
    pub workflow: WorkflowSettings,
    /// When a site is taken as lost of which no word comes; `None` for never.
    pub heartbeat: Option<Heartbeat>,
    /// Faults of what sites and the grid say to each other.
    pub faults: Vec<FaultSpec>,
    /// How processors at several sites are reserved.
    pub coallocation: CoallocationSpec,
}

/// What a broker believes of pools.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Information {
    /// What their sites reported last.
    #[default]
    Reported,
    /// What is forecast from all that was reported and measured so far.
    Forecast,
}

/// By what a broker plans how long jobs run.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RunTimes {
    /// By their estimates.
    #[default]
    Estimates,
    /// By the records of their applications, as far as these are disclosed to their users.
    Applications,
}

/// What a plan takes that decides about a task or more. Nothing else is planned meanwhile.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlanningTime {
    /// Of each plan.
    pub base: Span,
    /// Of each task that it decides about.
    pub per_task: Span,
}

impl PlanningTime {
    /// What a plan takes that decides about so many tasks.
    pub fn of(self, tasks: usize) -> Span {
        self.base + self.per_task * tasks as u64
    }

    /// Whether plans take no time.
    pub const fn is_none(self) -> bool {
        self.base.is_zero() && self.per_task.is_zero()
    }
}

/// When assignments that have not left the dispatcher are planned again.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Replan {
    /// Never: assignments stay.
    Never,
    /// After a site has gained or lost machines, as far as the grid view shows.
    #[default]
    OnChurn,
    /// With every report.
    EveryReport,
}

/// The party that pays for an attempt that failed because of churn.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Payer {
    /// The job's user.
    #[default]
    User,
    /// The site of the attempt: the job is charged nothing for it.
    Site,
}

impl NetworkSpec {
    /// The same connection between any two places.
    pub fn uniform(link: Link) -> Self {
        Self { everywhere: Some(link), ..Self::default() }
    }

    /// The connection of two different places.
    pub fn link(&self, a: usize, b: usize) -> Link {
        let (a, b) = (a.min(b), a.max(b));
        match self.own.get(&(a, b)).or(self.everywhere.as_ref()) {
            Some(link) => *link,
            None if a == 0 => Link::default(),
            None => self.link(0, a).then(self.link(0, b)),
        }
    }

    /// What all transfers out of a place have in common, and all those into it; `None` for unlimited.
    pub fn uplink(&self, place: usize) -> Option<Bandwidth> {
        self.uplinks.get(place).copied().flatten()
    }

    /// The storage of a place.
    pub fn storage(&self, place: usize) -> StorageSpec {
        self.storages.get(place).copied().unwrap_or_default()
    }

    /// Whether any place has an uplink with a limit.
    pub fn has_uplinks(&self) -> bool {
        self.uplinks.iter().any(Option::is_some)
    }

    /// What a transfer alone gets between two different places; `None` for unlimited.
    pub fn bandwidth(&self, a: usize, b: usize) -> Option<Bandwidth> {
        [self.link(a, b).bandwidth, self.uplink(a), self.uplink(b)].into_iter().flatten().min()
    }

    /// Sets the connection of two different places.
    pub fn set(&mut self, a: usize, b: usize, link: Link) {
        self.own.insert((a.min(b), a.max(b)), link);
    }
}

impl BrokerSpec {
    /// How long a measured wait counts if nothing else is said: a day, so that what came at the same hour yesterday still does. Our choice.
    pub const FORECAST_WITHIN: Span = Span::from_secs(86_400);

    /// A broker with the default settings of a scenario.
    pub fn new(policy: Named) -> Self {
        Self {
            policy,
            monitoring_interval: Span::from_secs(60),
            count_in_flight: true,
            information: Information::default(),
            forecast_within: Self::FORECAST_WITHIN,
            run_times: RunTimes::default(),
            applications: Vec::new(),
            replan: Replan::default(),
            recall_queued: true,
            retries: 10,
            backoff: Span::from_secs(10),
            in_flight: None,
            overhead: Span::ZERO,
            planning: PlanningTime::default(),
            failed_attempts: Payer::default(),
            workflow: WorkflowSettings::default(),
            heartbeat: None,
            faults: Vec::new(),
            coallocation: CoallocationSpec::default(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pair_has_its_own_link_or_that_of_all_or_one_through_the_portal() {
        let link = |secs, bits: u64| Link {
            latency: Span::from_secs(secs),
            bandwidth: (bits > 0).then(|| Bandwidth::from_bits(bits)),
        };
        let mut network = NetworkSpec::uniform(link(7, 0));
        network.set(2, 1, link(1, 50));
        assert_eq!(
            [(1, 2), (2, 1), (0, 1), (3, 1)].map(|(a, b)| network.link(a, b).latency.micros() / 1_000_000),
            [1, 1, 7, 7]
        );
        let mut star = NetworkSpec::default();
        star.set(0, 1, link(2, 0));
        star.set(2, 0, link(3, 90));
        star.set(0, 3, link(4, 80));
        star.set(1, 3, link(9, 5));
        assert_eq!(
            [(2, 0), (1, 2), (3, 2), (1, 3), (0, 4), (4, 2)].map(|(a, b)| star.link(a, b)),
            [link(3, 90), link(5, 90), link(7, 80), link(9, 5), link(0, 0), link(3, 90)]
        );
    }
}
