//! Running a scenario.

use std::num::NonZeroUsize;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use super::clock::now;
use super::recorder::Recorder;
use super::scenario::{Clock, Engine, Meaning, Measure, OutputPlan, Scenario, ScenarioError};
use super::timed::Read;
use super::workload::Opened;
use super::{Progress, RunError};
use crate::broker::BrokerRegistry;
use crate::entity::{Broker, Portal, Site};
use crate::grid::{Grid, WindowOptions};
use crate::local::Registry;
use crate::metrics::{
    Ages, BrokerFacts, Definitions, GridFacts, GridMeasures, GridSummary, Ledger, RecoveryRule, Times, Window,
};
use crate::model::SiteSpec;
use crate::report::{OutputDir, OutputOptions};
use crate::runtime::{RuntimeOptions, run_grid};
use crate::units::Time;
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
    /// [`RunError::Request`] if a workload cannot be opened, [`RunError::Run`] if the run breaks, with what was finished in the
    /// output folder.
    pub fn run(&self, progress: &Progress) -> Result<GridSummary, RunError> {
        let mut inputs = self.open(progress)?;
        let Meaning { grid: spec, output: plan, measure, until, .. } = &self.scenario.meaning;
        let sources =
            inputs.sites.iter_mut().map(|opened| opened.as_mut().map(Opened::take_source)).collect();
        let mut grid = Grid::build(spec, sources, inputs.portal.take(), &self.registry, &self.brokers)
            .map_err(|error| RunError::from_building(&error))?;
        let definitions = Definitions::default();
        let window = match measure {
            Measure::All => Window::ALL,
            Measure::Window { from, to } => Window::new(*from, *to).unwrap_or(Window::ALL),
        };
        let output =
            plan.folder.as_ref().map(|folder| self.create(folder, plan, &definitions)).transpose()?;
        let present = grid.sites().flat_map(Site::partitions).map(|part| u64::from(part.present())).sum();
        let mut measures = GridMeasures::new(definitions, window, &spec.sites);
        if grid.sites().any(Site::churns) {
            measures = measures.watching(RecoveryRule::default(), present);
        }
        let mut recorder = Recorder::new(measures, output, progress.clone());

        let read_before = inputs.elapsed();
        let started = now();
        let ran = self.drive(&mut grid, *until, &mut recorder);
        let whole = now() - started;
        let (written, read) = (recorder.elapsed, inputs.elapsed() - read_before);
        let finished = recorder.finish();
        let output = match (ran, finished) {
            (_, Err(error)) => return Err(error.into()),
            (Err(error), Ok(_)) => return Err(self.failed(error, progress)),
            (Ok(()), Ok(output)) => output,
        };
        let times = Times {
            read_s: inputs.elapsed().as_secs_f64(),
            // With actors, writing overlaps scheduling, and the difference may be nothing.
            schedule_s: whole.saturating_sub(written + read).as_secs_f64(),
            write_s: recorder.elapsed.as_secs_f64(),
        };
        let summary = self.summary(&grid, &recorder, times, whole);
        if let Some(output) = output {
            output.finish(&summary)?;
        }
        Ok(summary)
    }

    fn drive(
        &self,
        grid: &mut Grid,
        until: Option<Time>,
        recorder: &mut Recorder<GridMeasures>,
    ) -> Result<(), RunError> {
        let Meaning { engine, clock, .. } = &self.scenario.meaning;
        let pace = match clock {
            Clock::Virtual => None,
            Clock::Paced(factor) => Some(*factor),
        };
        match (engine, pace) {
            (Engine::Direct, None) => {
                let ran = grid.run_to(until, WindowOptions::default(), recorder);
                ran.map_err(|error| RunError::from_running(&error))
            }
            // Only the actors wait for the wall clock.
            (Engine::Direct, Some(_)) | (Engine::Actors, _) => {
                let threads = NonZeroUsize::new(self.threads).unwrap_or(NonZeroUsize::MIN);
                let options = RuntimeOptions { threads, pace, ..RuntimeOptions::default() };
                run_grid(grid, until, options, recorder).map_err(|error| RunError::from_actors(&error))
            }
        }
    }

    fn create(
        &self,
        folder: &Path,
        plan: &OutputPlan,
        definitions: &Definitions,
    ) -> Result<OutputDir, RunError> {
        let files = OutputOptions {
            machines: plan.machines,
            events: true,
            scenario: Some(self.scenario.text.clone()),
            batsim: plan.batsim.then(|| self.scenario.meaning.name.clone()),
        };
        OutputDir::create(folder, &self.scenario.meaning.grid.sites, definitions.clone(), &files)
            .map_err(|error| RunError::request(&error).with_hint(error.hint()))
    }

    fn failed(&self, error: RunError, progress: &Progress) -> RunError {
        match &self.scenario.meaning.output.folder {
            Some(folder) => error.and(&format!(
                "{} jobs had ended by then; their rows are in `{}`",
                progress.jobs(),
                folder.display()
            )),
            None => error,
        }
    }

    fn summary(
        &self,
        grid: &Grid,
        recorder: &Recorder<GridMeasures>,
        times: Times,
        whole: Duration,
    ) -> GridSummary {
        let Meaning { name, grid: spec, engine, measure, .. } = &self.scenario.meaning;
        let ledgers = grid.sites().map(|site| {
            let mut ledger = Ledger::default();
            site.partitions().iter().for_each(|part| ledger.add(&part.usage(), site.spec().pue_ppm));
            (site.spec().clone(), ledger)
        });
        let ledgers: Vec<(SiteSpec, Ledger)> = ledgers.collect();
        let tally = grid.broker().map(Broker::tally).unwrap_or_default();
        let facts = GridFacts {
            version: env!("CARGO_PKG_VERSION").to_owned(),
            scenario: name.clone(),
            scenario_hash: format!("{:032x}", self.scenario.hash),
            seed: spec.seed,
            engine: engine.name().to_owned(),
            broker: spec.broker.as_ref().map(BrokerFacts::of),
            times,
            wall_s: whole.as_secs_f64(),
            notes: notes(grid, *measure),
        };
        let ages = Ages::of(tally.assigned, tally.age_sum, tally.age_max);
        GridSummary::new(facts, &recorder.measured, &ledgers, &ages, recorder.fingerprint)
    }
}

/// What a reader must know before trusting the result.
fn notes(grid: &Grid, measure: Measure) -> Vec<String> {
    let mut notes = grid.portal().map(Portal::notes).unwrap_or_default();
    for site in grid.sites() {
        let name = &site.spec().name;
        notes.extend(site.notes().into_iter().map(|note| format!("site `{name}`: {note}")));
        let short = site.tally().short_reservations;
        if short > 0 {
            notes
                .push(format!("site `{name}`: {short} reservations began with fewer processors than booked"));
        }
    }
    if measure != Measure::All {
        notes.push(
            "utilization, energy and cost are of the whole run; jobs and waits of the measured window"
                .to_owned(),
        );
    }
    notes
}

impl From<ScenarioError> for RunError {
    fn from(error: ScenarioError) -> Self {
        Self::request(error)
    }
}
