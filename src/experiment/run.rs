//! Runs a scenario.

use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use super::active_run::{ActiveRun, Driver};
use super::checkpoint::{Anew, Checkpointer, Restored, Snapshot, create_store};
use super::program::{Conversation, GoesOn, Start, Trial};
use super::recorder::Recorder;
use super::summary::counted;
use super::timed::Read;
use super::workload::{Logs, Opened, read_once};
use super::{Afterwards, Commands, Control, Progress, RunError};
use crate::broker::outside::absent;
use crate::entity::{Broker, Site};
use crate::grid::{Grid, Merge, Policies};
use crate::metrics::{
    CoallocationSummary, ErrorSummary, FrontSummary, GridMeasures, GridSummary, PlanningSummary,
    RecoveryRule, Times, Window, WorkflowSummary,
};
use crate::output::{OutputDir, OutputMark, OutputOptions};
use crate::runtime::RuntimeOptions;
use crate::scenario::{Engine, PlannedWorkload, Problem, ResolvedScenario, Scenario};
use crate::workload::{Carrying, Merged, Source};

/// A scenario that is ready to run.
#[derive(Clone, Debug)]
pub struct Run {
    scenario: Scenario,
    threads: usize,
    policies: Policies,
    note: Option<String>,
    /// Logs that other runs share.
    logs: Option<Logs>,
    /// The file for the conversation with the broker's program.
    broker_log: Option<PathBuf>,
    /// The journal of the conversation that goes on, and how.
    journal: Option<(PathBuf, GoesOn)>,
    /// What is tried with the broker's program beside the run.
    trial: Trial,
    /// What is made of its files once it has ended.
    afterwards: Afterwards,
    /// What clones of this run share of workloads that can be opened only once.
    once: Arc<Mutex<Once>>,
}

/// The workloads of a run that can be opened only once.
#[derive(Debug, Default)]
struct Once {
    /// That of the first site, if it was opened before the run.
    opened: Option<Opened>,
    /// Whether they are used up.
    is_used: bool,
}

/// The opened workloads of a scenario.
pub struct Inputs {
    /// The workloads of each site's local users.
    pub sites: Vec<Option<Opened>>,
    /// The workload of the portal, merged into one source; `None` if there is none.
    pub portal: Option<Box<dyn Source>>,
    reads: Vec<Arc<Mutex<Read>>>,
    /// What the run knows of its broker's program.
    pub(super) program: Option<Conversation>,
}

impl Inputs {
    /// Time that reading and generating have taken so far, sites and portal together.
    pub fn elapsed(&self) -> Duration {
        let elapsed = |read: &Arc<Mutex<Read>>| read.lock().unwrap_or_else(PoisonError::into_inner).elapsed;
        self.reads.iter().map(elapsed).sum()
    }
}

impl Run {
    /// The run of `scenario` on `threads` threads, at least one.
    pub fn new(scenario: Scenario, threads: usize, policies: &Policies) -> Self {
        Self {
            scenario,
            threads: threads.max(1),
            policies: policies.clone(),
            note: None,
            logs: None,
            broker_log: None,
            journal: None,
            trial: Trial::None,
            afterwards: Afterwards::default(),
            once: Arc::default(),
        }
    }

    /// The same run with a note for its summary.
    pub(super) fn noting(self, note: String) -> Self {
        Self { note: Some(note), ..self }
    }

    /// The same run with logs shared between runs.
    pub(crate) fn sharing(self, logs: &Logs) -> Self {
        Self { logs: Some(logs.clone()), ..self }
    }

    /// The same run with the workload of its first site, if it can be opened only once and has been.
    pub(super) fn opened(self, opened: Option<Opened>) -> Self {
        Self { once: Arc::new(Mutex::new(Once { opened, is_used: false })), ..self }
    }

    /// The same run, which writes the conversation with its broker's program into a file.
    #[must_use]
    pub fn logging(self, broker_log: Option<PathBuf>) -> Self {
        Self { broker_log, ..self }
    }

    /// The same run, of whose files this is made once it has ended: what resumes it knows it.
    #[must_use]
    pub fn followed_by(self, afterwards: Afterwards) -> Self {
        Self { afterwards, ..self }
    }

    /// The same run, which tries this with its broker's program.
    pub(super) fn trying(self, trial: Trial) -> Self {
        Self { trial, ..self }
    }

    /// The same run, in which the conversation of this journal goes on.
    pub(super) fn going_on(self, journal: PathBuf) -> Self {
        Self { journal: Some((journal, GoesOn::AsItWas)), ..self }
    }

    /// The same run, in which the conversation of this journal goes on otherwise from the snapshot on.
    pub(super) fn going_on_otherwise(self, journal: PathBuf) -> Self {
        Self { journal: Some((journal, GoesOn::Otherwise)), ..self }
    }

    /// The note for its summary, if it has one.
    pub(super) fn note(&self) -> Option<&String> {
        self.note.as_ref()
    }

    /// The scenario.
    pub const fn scenario(&self) -> &Scenario {
        &self.scenario
    }

    /// The number of threads.
    pub const fn threads(&self) -> usize {
        self.threads
    }

    /// The local policies that sites may name.
    pub const fn policies(&self) -> &Policies {
        &self.policies
    }

    /// Opens all workloads.
    ///
    /// # Errors
    /// `RunErrorKind::Request` names the workload that cannot be opened, or cannot be opened again.
    pub fn open(&self, progress: &Progress) -> Result<Inputs, RunError> {
        let resolved = &self.scenario.resolved;
        let first = self.use_once()?;
        let open = |planned: &PlannedWorkload| {
            let opened = planned.open_on(Some(&resolved.grid), progress, self.logs.as_ref())?;
            Ok::<_, RunError>(opened.waiting(&planned.shaping))
        };
        let sites = resolved.site_workloads.iter().zip(&resolved.grid.sites).map(|(planned, site)| {
            let opened = planned.as_ref().map(open);
            opened.transpose().map_err(|error| error.within(&format!("the workload of site `{}`", site.name)))
        });
        let sites: Vec<Option<Opened>> = match first {
            Some(opened) => vec![Some(opened)],
            None => sites.collect::<Result<_, _>>()?,
        };
        let mut reads: Vec<_> = sites.iter().flatten().map(|opened| Arc::clone(&opened.read)).collect();
        let portal = resolved.portal.iter().enumerate().map(|(at, planned)| {
            let opened = open(planned).map_err(|error| error.within(&format!("`workload[{at}]`")))?;
            reads.push(opened.read);
            Ok(planned.in_parts(Box::new(Carrying::new(opened.source, planned.input, planned.output))))
        });
        let portal: Vec<Box<dyn Source>> = portal.collect::<Result<_, RunError>>()?;
        let portal = match portal.len() {
            0 => None,
            _ => Some(Box::new(Merged::new(portal)) as Box<dyn Source>),
        };
        Ok(Inputs { sites, portal, reads, program: None })
    }

    /// Uses up the workloads that can be opened only once; the one that has been opened, if any.
    fn use_once(&self) -> Result<Option<Opened>, RunError> {
        let ResolvedScenario { site_workloads, portal, .. } = &self.scenario.resolved;
        let mut planned = site_workloads.iter().flatten().chain(portal).map(|planned| &planned.workload);
        let mut once = self.once.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(workload) = planned.find(|workload| workload.is_once())
            && std::mem::replace(&mut once.is_used, true)
        {
            return Err(read_once(workload.title(), "a second run needs"));
        }
        Ok(once.opened.take())
    }

    /// Runs to the end, without snapshots.
    ///
    /// # Errors
    /// `RunErrorKind::Request` if a workload cannot be opened, `RunErrorKind::Run` if the run fails, with the completed
    /// results in the output folder.
    pub fn run(&self, progress: &Progress) -> Result<GridSummary, RunError> {
        let mut active = self.begin(self.build(progress)?, progress)?;
        self.carry_out(&mut active, None, progress, &Control::new())
    }

    /// Runs to the end, with the snapshots that the scenario requests, and takes `commands`.
    ///
    /// # Errors
    /// As [`Run::run`]; `RunErrorKind::Request` if there are commands and the run does not follow the wall clock;
    /// `RunErrorKind::Stopped` if `control` was asked to stop it, after a last snapshot.
    pub fn run_with_snapshots(
        &self,
        progress: &Progress,
        control: &Control,
        anew: Anew,
        commands: Option<Commands>,
    ) -> Result<GridSummary, RunError> {
        let resolved = &self.scenario.resolved;
        if commands.is_some() {
            Commands::check(resolved)?;
        }
        let mut planned = resolved.site_workloads.iter().flatten().chain(&resolved.portal);
        if resolved.checkpoint.is_some() && planned.any(|planned| planned.workload.is_once()) {
            return Err(RunError::request("a workload that can be read only once cannot be resumed")
                .with_hint("give it as a file, or leave `--checkpoint` out"));
        }
        self.forewarn(progress);
        // Inputs that cannot be opened are reported before anything is created or removed.
        let built = self.build(progress)?;
        let checkpointer = resolved.checkpoint.as_ref().map(|plan| {
            let store = create_store(plan, &self.scenario, self.threads, anew, &self.afterwards)?;
            Ok::<_, RunError>(Checkpointer::new(plan.clone(), store, control, progress))
        });
        let checkpointer = checkpointer.transpose()?;
        let mut active = self.begin(built, progress)?;
        if let Some(commands) = commands {
            active = active.listening(commands, checkpointer.as_ref(), progress)?;
        }
        self.carry_out(&mut active, checkpointer, progress, control)
    }

    /// The run at its snapshot, under another description than it was taken with if `adopt` is set. `prepare` is given the folder of the
    /// files of this run, and the mark of the files of the saved run.
    pub(super) fn restored(
        &self,
        from: &Snapshot<'_>,
        progress: &Progress,
        adopt: bool,
        prepare: impl FnOnce(&Path, &OutputMark) -> Result<(), RunError>,
    ) -> Result<ActiveRun, RunError> {
        let Restored { grid: saved, merge, recorder, spent } = from.read()?;
        let mut built = self.build(progress)?;
        from.put_into(&mut built.0, saved, adopt)?;
        let merge = Merge::restore(merge).map_err(RunError::from_restoring)?;
        let ResolvedScenario { grid, output, definitions, until, .. } = &self.scenario.resolved;
        let output = match (&output.folder, &recorder.output) {
            (Some(folder), Some(mark)) => {
                prepare(folder, mark)?;
                let options = self.output_options(&built.0);
                let resumed = OutputDir::resume(folder, &grid.sites, definitions.clone(), &options, mark);
                Some(resumed.map_err(RunError::from_files)?)
            }
            _ => None,
        };
        let recorder = from.recorder(recorder, output, progress.clone())?;
        Ok(ActiveRun::new(built, recorder, self.driver(), *until).continued(merge, spent))
    }

    /// Says to `progress` what may make the run slow.
    pub(crate) fn forewarn(&self, progress: &Progress) {
        progress.add_reasons_to_wait(self.scenario.fine_intervals().iter().map(Problem::to_string));
    }

    /// The grid at the snapshot `from`.
    pub(super) fn grid_of(&self, from: &Snapshot<'_>) -> Result<Grid, RunError> {
        let (mut grid, _) = self.build_for(&Progress::default(), &self.without_program())?;
        let saved = from.read()?.grid;
        from.put_into(&mut grid, saved, false)?;
        Ok(grid)
    }

    /// The grid at its beginning.
    pub(super) fn begun(&self, progress: &Progress) -> Result<Grid, RunError> {
        Ok(self.build(progress)?.0)
    }

    fn build(&self, progress: &Progress) -> Result<(Grid, Inputs), RunError> {
        let Some(plan) = &self.scenario.resolved.program else {
            return self.build_for(progress, &self.policies);
        };
        // What cannot be opened is reported before anything is started.
        let inputs = self.open(progress)?;
        let grid = &self.scenario.resolved.grid;
        let start = Start { plan, grid, registry: &self.policies.broker, progress, trial: &self.trial };
        let (info, conversation) = match &self.journal {
            Some((journal, how)) => start.resumed(journal, *how)?,
            None => start.anew(self.broker_log.as_deref())?,
        };
        let (grid, inputs) = self.build_of(inputs, &self.policies.clone().with_broker(info))?;
        Ok((grid, Inputs { program: Some(conversation), ..inputs }))
    }

    /// The policies of a grid that is built and not run.
    fn without_program(&self) -> Policies {
        let policies = self.policies.clone();
        if self.scenario.resolved.program.is_some() { policies.with_broker(absent()) } else { policies }
    }

    fn build_for(&self, progress: &Progress, policies: &Policies) -> Result<(Grid, Inputs), RunError> {
        self.build_of(self.open(progress)?, policies)
    }

    fn build_of(&self, mut inputs: Inputs, policies: &Policies) -> Result<(Grid, Inputs), RunError> {
        let spec = &self.scenario.resolved.grid;
        let sources =
            inputs.sites.iter_mut().map(|opened| opened.as_mut().map(Opened::take_source)).collect();
        let mut grid =
            Grid::build(spec, sources, inputs.portal.take(), policies).map_err(RunError::from_building)?;
        if let Some(horizon) = self.scenario.resolved.at_least {
            grid.lasting(horizon);
        }
        Ok((grid, inputs))
    }

    /// The summary before the first event: it has every figure of the run.
    pub(crate) fn outline(&self) -> Result<GridSummary, RunError> {
        let ResolvedScenario { grid: spec, .. } = &self.scenario.resolved;
        let policies = self.without_program();
        let grid = Grid::build(spec, Vec::new(), None, &policies).map_err(RunError::from_building)?;
        let measures =
            GridMeasures::new(self.scenario.resolved.definitions.clone(), Window::ALL, &spec.sites);
        let recorder = Recorder::new(measures, None, Progress::default());
        let mut summary = self.summary(&grid, &recorder, None, None, Times::default(), Duration::ZERO);
        let has_fronts = grid.broker().is_some_and(|broker| !broker.abilities().objectives.is_empty());
        summary.fronts = has_fronts.then(FrontSummary::default);
        let in_parts = self.scenario.resolved.portal.iter().any(|planned| planned.coupled.is_some());
        summary.coallocation = in_parts.then(CoallocationSummary::default);
        let takes_time = |broker: &Broker| broker.abilities().takes_time;
        let plans_take_time = spec.broker.as_ref().is_some_and(|broker| !broker.planning.is_none())
            || grid.broker().is_some_and(takes_time);
        let errors = grid.broker().map(|_| ErrorSummary::default());
        (summary.start_errors, summary.run_errors) = (errors, errors);
        summary.planning = plans_take_time.then(PlanningSummary::default);
        summary.workflows = summary.workflows.or_else(|| Some(counted(WorkflowSummary::default(), &grid)));
        Ok(summary)
    }

    /// The run at its beginning. A folder that cannot be created is reported before anything runs.
    fn begin(&self, built: (Grid, Inputs), progress: &Progress) -> Result<ActiveRun, RunError> {
        let ResolvedScenario { grid: spec, measure, until, pace, definitions, output, .. } =
            &self.scenario.resolved;
        let output = output.folder.as_ref().map(|folder| {
            OutputDir::create(folder, &spec.sites, definitions.clone(), &self.output_options(&built.0))
        });
        let output = output.transpose().map_err(RunError::from_files)?;
        let grid = &built.0;
        let present = grid.sites().flat_map(Site::partitions).map(|part| u64::from(part.present())).sum();
        let mut measures = GridMeasures::new(definitions.clone(), *measure, &spec.sites);
        // A run that follows the wall clock may get churn commands, now or after it is resumed.
        if pace.is_some() || grid.sites().any(Site::churns) {
            measures = measures.watching(RecoveryRule::default(), present);
        }
        let recorder = Recorder::new(measures, output, progress.clone());
        Ok(ActiveRun::new(built, recorder, self.driver(), *until))
    }

    pub(super) fn carry_out(
        &self,
        active: &mut ActiveRun,
        checkpointer: Option<Checkpointer>,
        progress: &Progress,
        control: &Control,
    ) -> Result<GridSummary, RunError> {
        let folder = self.scenario.resolved.output.folder.as_deref();
        let ended = active.carry_out(checkpointer, progress, control, folder, |run, times, whole| {
            let own = run.inputs.sites.first().and_then(Option::as_ref);
            self.summary(&run.grid, &run.recorder, own, run.inputs.program.as_ref(), times, whole)
        });
        ended.map_err(|error| match active.inputs.program.as_ref() {
            Some(program) => program.named_in(error),
            None => error,
        })
    }

    fn driver(&self) -> Driver {
        let ResolvedScenario { engine, pace, .. } = &self.scenario.resolved;
        let threads = NonZeroUsize::new(self.threads).unwrap_or(NonZeroUsize::MIN);
        match (engine, pace) {
            (Engine::Direct, None) if self.scenario.resolved.runs_alone() => Driver::Alone,
            (Engine::Direct, None) => Driver::Loop,
            // Only the actors follow the wall clock.
            (_, pace) => Driver::Actors { threads, pace: *pace, patience: self.patience() },
        }
    }

    /// How long an entity may take for a moment: longer than the program of the broker for an answer.
    fn patience(&self) -> Duration {
        let program = self.scenario.resolved.program.as_ref().map(|program| program.timeout * 2);
        program.unwrap_or_default().max(RuntimeOptions::default().patience)
    }

    /// The files that the run of this grid writes.
    fn output_options(&self, grid: &Grid) -> OutputOptions {
        let ResolvedScenario { name, output, .. } = &self.scenario.resolved;
        let objectives = grid.broker().map_or(&[][..], |broker| broker.abilities().objectives);
        OutputOptions {
            segments: output.segments,
            machines: output.machines,
            events: true,
            workflows: self.scenario.resolved.has_workflows(),
            fronts: if output.fronts { objectives } else { &[] },
            slices: grid.sites().any(Site::has_slices),
            groups: grid.sites().any(Site::has_groups),
            coallocations: self.scenario.resolved.portal.iter().any(|planned| planned.coupled.is_some()),
            scenario: Some(self.scenario.text.clone()),
            batsim: output.batsim.then(|| name.clone()),
        }
    }
}
