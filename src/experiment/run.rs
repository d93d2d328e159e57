//! Running a scenario.

use std::num::NonZeroUsize;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use super::checkpoint::{Anew, Description, Snapshot, Taker, create_store, here};
use super::files::Files;
use super::recorder::Recorder;
use super::scenario::{Clock, Engine, Meaning, Measure, Scenario, ScenarioError};
use super::timed::Read;
use super::underway::{Driver, Underway};
use super::workload::{Logs, Opened};
use super::{Commands, Control, Progress, RunError};
use crate::broker::BrokerRegistry;
use crate::entity::{Broker, Portal, Site};
use crate::grid::Grid;
use crate::local::Registry;
use crate::metrics::{
    Ages, BrokerFacts, GridFacts, GridMeasures, GridSummary, Ledger, RecoveryRule, Times, Window,
};
use crate::model::{RecordSink, SiteSpec};
use crate::report::{OutputMark, OutputOptions};
use crate::workload::{Carrying, Merged, Source};

/// A scenario that is ready to run.
#[derive(Clone, Debug)]
pub struct Run {
    scenario: Scenario,
    threads: usize,
    registry: Registry,
    brokers: BrokerRegistry,
    note: Option<String>,
    /// Logs that other runs read too.
    logs: Option<Logs>,
}

/// The opened workloads of a scenario.
pub struct Inputs {
    /// What each site's own users submit.
    pub sites: Vec<Option<Opened>>,
    /// What comes through the portal, all of it in one source; `None` if nothing does.
    pub portal: Option<Box<dyn Source>>,
    reads: Vec<Arc<Mutex<Read>>>,
}

/// A run that can go on.
pub(super) struct Begun {
    underway: Underway<GridMeasures>,
}

impl Begun {
    /// The same, with somebody who looks at the records on their way.
    pub(super) fn witnessed(self, witness: Box<dyn RecordSink + Send>) -> Self {
        Self { underway: self.underway.witnessed(witness) }
    }

    /// The same, listening to commands, which `taker` writes down if there is one.
    ///
    /// # Errors
    /// [`RunError::Run`] if nobody can be started to read them.
    pub(super) fn listening(
        self,
        commands: Commands,
        sites: &[SiteSpec],
        taker: Option<&Taker>,
        progress: &Progress,
    ) -> Result<Self, RunError> {
        let (sites, next) = (sites.to_vec(), self.underway.grid.commands());
        let outside = match taker {
            Some(taker) => commands.listen(sites, next, taker.journal(), progress)?,
            // Nobody goes on with a run that has no store.
            None => commands.listen(sites, next, |_| Ok(()), progress)?,
        };
        Ok(Self { underway: self.underway.listening(outside) })
    }
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
        Self { scenario, threads: threads.max(1), registry, brokers, note: None, logs: None }
    }

    /// The same with something that a reader of its summary must know.
    pub(super) fn noting(self, note: String) -> Self {
        Self { note: Some(note), ..self }
    }

    /// The same reading logs that other runs read too.
    pub(super) fn sharing(self, logs: &Logs) -> Self {
        Self { logs: Some(logs.clone()), ..self }
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
            let opened = planned.as_ref().map(|planned| planned.open_with(progress, self.logs.as_ref()));
            opened.transpose().map_err(|error| error.within(&format!("the workload of site `{}`", site.name)))
        });
        let sites: Vec<Option<Opened>> = sites.collect::<Result<_, _>>()?;
        let mut reads: Vec<_> = sites.iter().flatten().map(|opened| Arc::clone(&opened.read)).collect();
        let portal = meaning.portal.iter().enumerate().map(|(at, planned)| {
            let opened = planned.open_with(progress, self.logs.as_ref());
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

    /// Runs to the end, without snapshots.
    ///
    /// # Errors
    /// [`RunError::Request`] if a workload cannot be opened, [`RunError::Run`] if the run breaks, with what was finished in the
    /// output folder.
    pub fn run(&self, progress: &Progress) -> Result<GridSummary, RunError> {
        let built = self.build(progress)?;
        self.carry_out(self.begin(built, progress)?, None, progress, &Control::new())
    }

    /// Runs to the end, with the snapshots that the scenario asks for, and told what `commands` say.
    ///
    /// # Errors
    /// As [`Run::run`]; [`RunError::Request`] if there are commands and it follows no clock; [`RunError::Stopped`] if `control` was asked to stop it, after a last snapshot.
    pub fn run_with_snapshots(
        &self,
        progress: &Progress,
        control: &Control,
        anew: Anew,
        commands: Option<Commands>,
    ) -> Result<GridSummary, RunError> {
        let meaning = &self.scenario.meaning;
        if commands.is_some() {
            Commands::check(meaning)?;
        }
        // What cannot be opened is found out before anything is made or removed.
        let built = self.build(progress)?;
        let taker = meaning.checkpoint.as_ref().map(|plan| {
            let scenario = self.scenario.text.clone();
            let description = Description::Run { folder: here()?, scenario, threads: self.threads };
            let store = create_store(
                plan,
                &description,
                &meaning.name,
                self.scenario.hash,
                anew,
                meaning.output.folder.as_deref(),
            )?;
            Ok::<_, RunError>(Taker::new(plan.clone(), store, control, progress))
        });
        let taker = taker.transpose()?;
        let mut begun = self.begin(built, progress)?;
        if let Some(commands) = commands {
            begun = begun.listening(commands, &meaning.grid.sites, taker.as_ref(), progress)?;
        }
        self.carry_out(begun, taker, progress, control)
    }

    /// A run as it was when the snapshot was taken, going on with its own files.
    pub(super) fn restored(&self, from: &Snapshot<'_>, progress: &Progress) -> Result<Begun, RunError> {
        self.branched(from, progress, false, |_, _| Ok(()))
    }

    /// The same under another description if `adopt` is set. `prepare` is given the folder of the files of this run, and what the
    /// files of the run that was saved held.
    pub(super) fn branched(
        &self,
        from: &Snapshot<'_>,
        progress: &Progress,
        adopt: bool,
        prepare: impl FnOnce(&Path, &OutputMark) -> Result<(), RunError>,
    ) -> Result<Begun, RunError> {
        let read = from.read()?;
        let (mut grid, inputs) = self.build(progress)?;
        let (merge, recorder, spent) =
            from.put_back(read, &mut grid, adopt, self.files(), prepare, progress)?;
        let underway =
            Underway::new(grid, recorder, self.driver(), self.scenario.meaning.until, inputs.reads);
        Ok(Begun { underway: underway.gone_on(merge, spent) })
    }

    /// The grid as it was when the snapshot of these sections was taken.
    pub(super) fn grid_of(&self, from: &Snapshot<'_>) -> Result<Grid, RunError> {
        let (mut grid, _) = self.build(&Progress::default())?;
        let saved = from.read::<GridMeasures>()?.grid;
        from.put_into(&mut grid, saved, false)?;
        Ok(grid)
    }

    /// The grid at its beginning.
    pub(super) fn begun(&self, progress: &Progress) -> Result<Grid, RunError> {
        Ok(self.build(progress)?.0)
    }

    fn build(&self, progress: &Progress) -> Result<(Grid, Inputs), RunError> {
        let mut inputs = self.open(progress)?;
        let spec = &self.scenario.meaning.grid;
        let sources =
            inputs.sites.iter_mut().map(|opened| opened.as_mut().map(Opened::take_source)).collect();
        let grid = Grid::build(spec, sources, inputs.portal.take(), &self.registry, &self.brokers)
            .map_err(|error| RunError::from_building(&error))?;
        Ok((grid, inputs))
    }

    /// The summary before anything has happened: which figures there are to be.
    pub(super) fn outline(&self) -> Result<GridSummary, RunError> {
        let Meaning { grid: spec, .. } = &self.scenario.meaning;
        let grid = Grid::build(spec, Vec::new(), None, &self.registry, &self.brokers)
            .map_err(|error| RunError::from_building(&error))?;
        let measures = GridMeasures::new(self.scenario.meaning.definitions.clone(), Window::ALL, &spec.sites);
        let recorder = Recorder::new(measures, None, Progress::default());
        Ok(self.summary(&grid, &recorder, Times::default(), Duration::ZERO))
    }

    /// A run at its beginning. If it is `told` things, machines may leave that would not by themselves.
    fn begin(&self, (grid, inputs): (Grid, Inputs), progress: &Progress) -> Result<Begun, RunError> {
        let Meaning { grid: spec, measure, until, clock, .. } = &self.scenario.meaning;
        let definitions = self.scenario.meaning.definitions.clone();
        let window = match measure {
            Measure::All => Window::ALL,
            Measure::Window { from, to } => Window::new(*from, *to).unwrap_or(Window::ALL),
        };
        let output = self.files().map(Files::create).transpose()?;
        let present = grid.sites().flat_map(Site::partitions).map(|part| u64::from(part.present())).sum();
        let mut measures = GridMeasures::new(definitions, window, &spec.sites);
        // A run that follows the wall clock may be told of churn, now or when it is resumed.
        if *clock != Clock::Virtual || grid.sites().any(Site::churns) {
            measures = measures.watching(RecoveryRule::default(), present);
        }
        let recorder = Recorder::new(measures, output, progress.clone());
        Ok(Begun { underway: Underway::new(grid, recorder, self.driver(), *until, inputs.reads) })
    }

    pub(super) fn carry_out(
        &self,
        begun: Begun,
        taker: Option<Taker>,
        progress: &Progress,
        control: &Control,
    ) -> Result<GridSummary, RunError> {
        let folder = self.scenario.meaning.output.folder.as_deref();
        begun.underway.carry_out(taker, progress, control, folder, |run, times, whole| {
            self.summary(&run.grid, &run.recorder, times, whole)
        })
    }

    fn driver(&self) -> Driver {
        let Meaning { engine, clock, .. } = &self.scenario.meaning;
        let threads = NonZeroUsize::new(self.threads).unwrap_or(NonZeroUsize::MIN);
        match (engine, clock) {
            (Engine::Direct, Clock::Virtual) => Driver::Loop,
            (Engine::Actors, Clock::Virtual) => Driver::Actors { threads, pace: None },
            // Only the actors wait for the wall clock.
            (_, Clock::Paced(pace)) => Driver::Actors { threads, pace: Some(*pace) },
        }
    }

    fn files(&self) -> Option<Files<'_>> {
        let Meaning { name, grid, output: plan, definitions, .. } = &self.scenario.meaning;
        Some(Files {
            folder: plan.folder.clone()?,
            sites: &grid.sites,
            definitions: definitions.clone(),
            options: OutputOptions {
                machines: plan.machines,
                events: true,
                scenario: Some(self.scenario.text.clone()),
                replay: None,
                batsim: plan.batsim.then(|| name.clone()),
            },
        })
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
            notes: self
                .note
                .iter()
                .cloned()
                .chain(notes(grid, *measure))
                .chain(recorder.measured.elastic().note())
                .collect(),
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
            "utilization, energy and cost are of the whole run; jobs, waits and what churn took are of the measured window"
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
