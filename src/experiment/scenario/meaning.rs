//! A scenario that has been understood.

use std::path::PathBuf;

use super::keys::Engine;
use crate::broker::BrokerRegistry;
use crate::experiment::workload::{EstimateSource, Logs};
use crate::experiment::{CheckpointPlan, Opened, Progress, RunError, Shaping, Workload};
use crate::metrics::Definitions;
use crate::model::GridSpec;
use crate::units::{Bytes, Time};

/// What a scenario means, without its file and its text.
#[derive(Clone, Debug, PartialEq)]
pub struct Meaning {
    /// How the run is called.
    pub name: String,
    /// Sites, network and broker.
    pub grid: GridSpec,
    /// What each site's own users submit.
    pub site_workloads: Vec<Option<PlannedWorkload>>,
    /// What comes through the portal.
    pub portal: Vec<PlannedWorkload>,
    /// Which jobs count.
    pub measure: Measure,
    /// What its measures mean: bound of the slowdown, job classes.
    pub definitions: Definitions,
    /// When the run ends at the latest.
    pub until: Option<Time>,
    /// What time follows.
    pub clock: Clock,
    /// What drives the entities.
    pub engine: Engine,
    /// What is written.
    pub output: OutputPlan,
    /// Its snapshots; `None` for none.
    pub checkpoint: Option<CheckpointPlan>,
}

impl Meaning {
    /// Whether anything is drawn by the seed of the run: jobs of a generator without a seed of its own, estimates, machines that leave,
    /// choices of a broker that draws. If not, every seed gives the same run.
    pub fn draws(&self, brokers: &BrokerRegistry) -> bool {
        let drawn = |planned: &PlannedWorkload| {
            let model = planned.workload.generator();
            model.is_some_and(|model| !model.params.contains_key("seed"))
                || matches!(planned.shaping.estimates, EstimateSource::Tsafrir(_))
        };
        let mut workloads = self.site_workloads.iter().flatten().chain(&self.portal);
        let churns = self.grid.sites.iter().any(|site| site.churn.random.is_some());
        let maps = self.grid.broker.as_ref().is_some_and(|broker| {
            // One that nobody knows is refused before anything is run.
            brokers.find(&broker.policy.name).map_or(true, |known| known.abilities.random)
        });
        churns || maps || workloads.any(drawn)
    }
}

/// Which jobs count.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub enum Measure {
    /// All of them.
    #[default]
    All,
    /// Those submitted in a window; utilization, energy and cost are of the whole run.
    Window {
        /// First instant.
        from: Time,
        /// First instant after it.
        to: Time,
    },
}

/// What virtual time follows.
#[derive(Copy, Clone, Debug, Default, PartialEq)]
pub enum Clock {
    /// Nothing: as fast as it goes.
    #[default]
    Virtual,
    /// The wall clock, so many times as fast.
    Paced(f64),
}

/// What a run writes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OutputPlan {
    /// Where; nothing is written without a folder.
    pub folder: Option<PathBuf>,
    /// Write segments.csv.
    pub segments: bool,
    /// Write machines.csv.
    pub machines: bool,
    /// Write batsim/out_jobs.csv.
    pub batsim: bool,
}

/// A workload that is ready to be opened.
#[derive(Clone, Debug, PartialEq)]
pub struct PlannedWorkload {
    /// Whose it is: a site's name, `portal`, or `portal/2` for the second at the portal. Its random streams are named by it.
    pub entity: String,
    /// The log or the generator.
    pub workload: Workload,
    /// What is done to it.
    pub shaping: Shaping,
    /// Data that each job needs at its site.
    pub input: Bytes,
    /// Data that each job sends back.
    pub output: Bytes,
}

impl PlannedWorkload {
    /// Opens the workload.
    ///
    /// # Errors
    /// [`RunError::Request`] if it cannot be opened or shaped like that.
    pub fn open(&self, progress: &Progress) -> Result<Opened, RunError> {
        self.workload.open_for(&self.entity, &self.shaping, progress)
    }

    /// The same with logs that other runs read too.
    pub(in crate::experiment) fn open_with(
        &self,
        progress: &Progress,
        logs: Option<&Logs>,
    ) -> Result<Opened, RunError> {
        self.workload.open_with(&self.entity, &self.shaping, progress, logs)
    }
}
