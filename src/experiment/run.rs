//! Running a scenario.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use super::scenario::{Scenario, ScenarioError};
use super::timed::Read;
use super::workload::Opened;
use super::{Progress, RunError};
use crate::broker::BrokerRegistry;
use crate::local::Registry;
use crate::workload::{Carrying, Merged, Source};

/// A scenario that is ready to run.
#[derive(Clone, Debug)]
pub struct Run {
    scenario: Scenario,
    threads: usize,
    registry: Registry,
    brokers: BrokerRegistry,
}

/// The opened workloads of a scenario.
pub struct Inputs {
    /// What each site's own users submit.
    pub sites: Vec<Option<Opened>>,
    /// What comes through the portal, all of it in one source; `None` if nothing does.
    pub portal: Option<Box<dyn Source>>,
    reads: Vec<Arc<Mutex<Read>>>,
}

impl Inputs {
    /// How long reading and generating have taken so far, sites and portal together.
    pub fn elapsed(&self) -> Duration {
        let elapsed = |read: &Arc<Mutex<Read>>| read.lock().unwrap_or_else(PoisonError::into_inner).elapsed;
        self.reads.iter().map(elapsed).sum()
    }
}

impl Run {
    /// The run of `scenario` on `threads` threads, at least one.
    pub fn new(scenario: Scenario, threads: usize, registry: Registry, brokers: BrokerRegistry) -> Self {
        Self { scenario, threads: threads.max(1), registry, brokers }
    }

    /// What is run.
    pub const fn scenario(&self) -> &Scenario {
        &self.scenario
    }

    /// On how many threads.
    pub const fn threads(&self) -> usize {
        self.threads
    }

    /// The local policies that sites may name.
    pub const fn registry(&self) -> &Registry {
        &self.registry
    }

    /// The broker policies that the broker may name.
    pub const fn brokers(&self) -> &BrokerRegistry {
        &self.brokers
    }

    /// Opens all workloads.
    ///
    /// # Errors
    /// [`RunError::Request`] names the workload that cannot be opened.
    pub fn open(&self, progress: &Progress) -> Result<Inputs, RunError> {
        let meaning = &self.scenario.meaning;
        let sites = meaning.site_workloads.iter().zip(&meaning.grid.sites).map(|(planned, site)| {
            let opened = planned.as_ref().map(|planned| planned.open(progress));
            opened.transpose().map_err(|error| error.within(&format!("the workload of site `{}`", site.name)))
        });
        let sites: Vec<Option<Opened>> = sites.collect::<Result<_, _>>()?;
        let mut reads: Vec<_> = sites.iter().flatten().map(|opened| Arc::clone(&opened.read)).collect();
        let portal = meaning.portal.iter().enumerate().map(|(at, planned)| {
            let opened = planned.open(progress);
            let opened = opened.map_err(|error| error.within(&format!("`workload[{at}]`")))?;
            reads.push(opened.read);
            let source: Box<dyn Source> =
                Box::new(Carrying::new(opened.source, planned.input, planned.output));
            Ok(source)
        });
        let portal: Vec<Box<dyn Source>> = portal.collect::<Result<_, RunError>>()?;
        let portal = match portal.len() {
            0 => None,
            _ => Some(Box::new(Merged::new(portal)) as Box<dyn Source>),
        };
        Ok(Inputs { sites, portal, reads })
    }

    /// Runs to the end.
    ///
    /// # Errors
    /// [`RunError::Request`] if a workload cannot be opened, [`RunError::Run`] if the run breaks.
    pub fn run(&self, progress: &Progress) -> Result<(), RunError> {
        let inputs = self.open(progress)?;
        self.drive(inputs)
    }

    /// Builds the grid and drives it.
    fn drive(&self, _inputs: Inputs) -> Result<(), RunError> {
        let problem = format!(
            "`{}` is fine, but this version of gridemu can only check scenarios and not run them",
            self.scenario.file.display()
        );
        Err(RunError::run(problem).with_hint("`gridemu replay` runs one workload at one site"))
    }
}

impl From<ScenarioError> for RunError {
    fn from(error: ScenarioError) -> Self {
        Self::request(error)
    }
}
