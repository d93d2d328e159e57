//! Replaying one workload at one site, under one policy or several.

mod options;

use std::path::{Path, PathBuf};
use std::sync::Arc;

pub use options::ReplayOptions;
use xxhash_rust::xxh3::xxh3_128;

use super::checkpoint::{Anew, Description, Snapshot, Taker, create_store, here};
use super::files::Files;
use super::recorder::{OneSite, Recorder};
use super::underway::{Driver, Underway};
use super::workload::{EstimateSource, Opened, Workload, read_once};
use super::{CheckpointPlan, Control, Progress, RunError};
use crate::entity::Site;
use crate::grid::{Grid, GridError};
use crate::local::Registry;
use crate::metrics::{Definitions, Ledger, OfferedLoad, RunFacts, RunSummary, Times};
use crate::model::{MAX_PROCESSORS, Named, PartitionSpec, RecordSink, SiteSpec};
use crate::report::{OutputMark, OutputOptions};
use crate::workload::Estimates;

/// Why jobs were rejected, and what there is to do about it.
fn too_large(jobs: u64, procs: u32, quantum: u32) -> String {
    let jobs = if jobs == 1 { "1 job that asks".to_owned() } else { format!("{jobs} jobs that ask") };
    if quantum > 1 {
        let gives = procs / quantum * quantum;
        format!(
            "rejected {jobs} for more than the {gives} processors that the machine gives in blocks of {quantum}"
        )
    } else {
        format!(
            "rejected {jobs} for more than {procs} processors; `--cap` cuts such jobs of a log to the machine"
        )
    }
}

/// A workload that is open, its site, and the grid of it.
type Built = (Opened, SiteSpec, Grid);

/// A replay that can go on.
pub(super) struct Begun {
    opened: Opened,
    underway: Underway<OneSite>,
}

impl Begun {
    /// The same, with somebody who looks at the records on their way.
    pub(super) fn witnessed(self, witness: Box<dyn RecordSink + Send>) -> Self {
        Self { underway: self.underway.witnessed(witness), ..self }
    }
}

/// A replay that has been checked.
pub struct Replay {
    options: ReplayOptions,
    registry: Registry,
    note: Option<String>,
}

impl Replay {
    /// Checks what can be checked before the workload is opened: that there are policies, that they differ, exist and can do what is
    /// asked of them.
    ///
    /// # Errors
    /// [`RunError::Request`] says what is wrong.
    pub fn new(options: ReplayOptions, registry: Registry) -> Result<Self, RunError> {
        if options.policies.is_empty() {
            return Err(RunError::request("no policy is given").with_hint("say `--policy easy`"));
        }
        for (at, policy) in options.policies.iter().enumerate() {
            if options.policies[..at].contains(policy) {
                return Err(RunError::request(format!("the policy `{policy}` is given twice")));
            }
        }
        if options.workload.is_once() && options.policies.len() > 1 {
            let name = match &options.workload {
                Workload::File(path) => path.display().to_string(),
                _ => "standard input".to_owned(),
            };
            return Err(read_once(name, "several policies need"));
        }
        if options.checkpoint.is_some() {
            if options.policies.len() > 1 {
                return Err(RunError::request("a store keeps one run, and there are several policies")
                    .with_hint("replay each with a `--checkpoint` of its own"));
            }
            if options.workload.is_once() {
                return Err(RunError::request("a workload that can be read only once cannot be resumed")
                    .with_hint("give it as a file, or leave `--checkpoint` out"));
            }
        }
        let replay = Self { options, registry, note: None };
        for policy in &replay.options.policies {
            // Whether the machine is large enough for what is asked of it is known only when the workload is opened.
            Site::check_policy(&replay.site(policy, MAX_PROCESSORS), &replay.registry)
                .map_err(|error| RunError::from_building(&GridError::Entity(error)))?;
        }
        Ok(replay)
    }

    /// What is replayed, and how.
    pub const fn options(&self) -> &ReplayOptions {
        &self.options
    }

    /// The policies, in the order of the runs.
    pub fn policies(&self) -> &[Named] {
        &self.options.policies
    }

    /// The same with something that a reader of its summary must know.
    pub(super) fn noting(self, note: String) -> Self {
        Self { note: Some(note), ..self }
    }

    /// The same under another policy, with files in another folder and without snapshots.
    ///
    /// # Errors
    /// As [`Replay::new`].
    pub(super) fn under(&self, policy: Named, out: Option<PathBuf>) -> Result<Self, RunError> {
        let options = ReplayOptions { policies: vec![policy], out, checkpoint: None, ..self.options.clone() };
        Self::new(options, self.registry.clone())
    }

    /// Processors of the machine, if they were said; otherwise the workload knows them.
    pub(super) const fn procs(&self) -> Option<u32> {
        self.options.shaping.procs
    }

    /// Whether its jobs may have other processors than they asked for.
    pub(super) const fn resizes(&self) -> bool {
        self.options.shaping.malleable
    }

    /// Where its files go.
    pub(super) fn out(&self) -> Option<&Path> {
        self.options.out.as_deref()
    }

    /// Its snapshots.
    pub const fn checkpoint(&self) -> Option<&CheckpointPlan> {
        self.options.checkpoint.as_ref()
    }

    /// Runs one of the policies to the end, without snapshots.
    ///
    /// # Errors
    /// [`RunError::Request`] if the workload cannot be opened or the machine makes no sense; [`RunError::Run`] if the run or its
    /// output breaks, with what was finished in the output folder.
    pub fn run(&self, policy: &Named, progress: &Progress) -> Result<RunSummary, RunError> {
        let built = self.build(policy, progress)?;
        self.carry_out(policy, self.begin(policy, built, progress)?, None, progress, &Control::new())
    }

    /// Runs the policy to the end, with snapshots if the options ask for them.
    ///
    /// # Errors
    /// As [`Replay::run`]; [`RunError::Stopped`] if `control` was asked to stop it, after a last snapshot.
    pub fn run_with_snapshots(
        &self,
        policy: &Named,
        progress: &Progress,
        control: &Control,
        anew: Anew,
    ) -> Result<RunSummary, RunError> {
        let Some(plan) = &self.options.checkpoint else { return self.run(policy, progress) };
        // What cannot be opened is found out before anything is made or removed.
        let built = self.build(policy, progress)?;
        let options = Box::new(self.options.clone());
        let description = Description::Replay { folder: here()?, options };
        let title = format!("{} under {policy}", self.options.workload.title());
        let store = create_store(plan, &description, &title, self.hash()?, anew, self.out())?;
        let taker = Taker::new(plan.clone(), store, control, progress);
        self.carry_out(policy, self.begin(policy, built, progress)?, Some(taker), progress, control)
    }

    /// The replay as it was when the snapshot was taken, going on with its own files.
    pub(super) fn restored(&self, from: &Snapshot<'_>, progress: &Progress) -> Result<Begun, RunError> {
        self.branched(from, progress, false, |_, _| Ok(()))
    }

    /// The same under another description if `adopt` is set. `prepare` is given the folder of the files of this replay, and what the
    /// files of the one that was saved held.
    pub(super) fn branched(
        &self,
        from: &Snapshot<'_>,
        progress: &Progress,
        adopt: bool,
        prepare: impl FnOnce(&Path, &OutputMark) -> Result<(), RunError>,
    ) -> Result<Begun, RunError> {
        let policy = &self.options.policies[0];
        let read = from.read()?;
        let (opened, spec, mut grid) = self.build(policy, progress)?;
        let files = self.files(&opened, &spec, policy);
        let (merge, recorder, spent) = from.put_back(read, &mut grid, adopt, files, prepare, progress)?;
        let reads = vec![Arc::clone(&opened.read)];
        let underway = Underway::new(grid, recorder, Driver::Alone, None, reads);
        Ok(Begun { opened, underway: underway.gone_on(merge, spent) })
    }

    /// Runs the only policy from where it stands to the end.
    pub(super) fn go_on(
        &self,
        begun: Begun,
        taker: Option<Taker>,
        progress: &Progress,
        control: &Control,
    ) -> Result<RunSummary, RunError> {
        self.carry_out(&self.options.policies[0], begun, taker, progress, control)
    }

    /// The grid as it was when the snapshot of these sections was taken.
    pub(super) fn grid_of(&self, from: &Snapshot<'_>) -> Result<Grid, RunError> {
        let (_, _, mut grid) = self.build(&self.options.policies[0], &Progress::default())?;
        let saved = from.read::<OneSite>()?.grid;
        from.put_into(&mut grid, saved, false)?;
        Ok(grid)
    }

    /// The grid of the only policy at its beginning.
    pub(super) fn begun(&self, progress: &Progress) -> Result<Grid, RunError> {
        let (_, _, grid) = self.build(&self.options.policies[0], progress)?;
        Ok(grid)
    }

    fn build(&self, policy: &Named, progress: &Progress) -> Result<Built, RunError> {
        let mut opened = self.options.workload.open(&self.options.shaping, progress)?;
        let spec = self.site(policy, opened.procs);
        let source = opened.take_source();
        let grid = Grid::new(vec![(spec.clone(), Some(source))], &self.registry)
            .map_err(|error| RunError::from_building(&error))?;
        Ok((opened, spec, grid))
    }

    fn begin(&self, policy: &Named, built: Built, progress: &Progress) -> Result<Begun, RunError> {
        let (opened, spec, grid) = built;
        let output = self.files(&opened, &spec, policy).map(Files::create).transpose()?;
        let recorder = Recorder::new(OneSite::new(&self.definitions(&opened)), output, progress.clone());
        let reads = vec![Arc::clone(&opened.read)];
        Ok(Begun { opened, underway: Underway::new(grid, recorder, Driver::Alone, None, reads) })
    }

    fn carry_out(
        &self,
        policy: &Named,
        begun: Begun,
        taker: Option<Taker>,
        progress: &Progress,
        control: &Control,
    ) -> Result<RunSummary, RunError> {
        let Begun { opened, underway } = begun;
        let folder = self.folder(policy);
        underway.carry_out(taker, progress, control, folder.as_deref(), |run, times, _| {
            self.summary(&run.grid, &run.recorder, &opened, policy, times)
        })
    }

    /// A hash of what is replayed, but for what changes no result.
    pub(super) fn hash(&self) -> Result<u128, RunError> {
        let options = ReplayOptions { out: None, checkpoint: None, ..self.options.clone() };
        let text = serde_json::to_string(&options).map_err(RunError::run)?;
        Ok(xxh3_128(text.as_bytes()))
    }

    /// The folder of one policy's files.
    pub fn folder(&self, policy: &Named) -> Option<PathBuf> {
        let out = self.options.out.as_ref()?;
        if self.options.policies.len() == 1 {
            return Some(out.clone());
        }
        // Brackets and commas are awkward to type in a shell.
        let plain: String = policy.to_string().replace(['[', ','], "-").replace([']', ' '], "");
        Some(out.join(plain))
    }

    /// The site of a replay on so many processors.
    pub(super) fn site(&self, policy: &Named, procs: u32) -> SiteSpec {
        let options = &self.options;
        let partition = PartitionSpec {
            quantum: options.quantum,
            speed: options.speed,
            idle: options.idle,
            busy: options.busy,
            price: options.price,
            ..PartitionSpec::plain(procs)
        };
        SiteSpec {
            partitions: vec![partition],
            order: options.order,
            overrun: options.overrun,
            pue_ppm: options.pue_ppm,
            reservations: options.reservations.iter().map(|reservation| (0, reservation.clone())).collect(),
            record_machines: options.machines,
            ..SiteSpec::plain("site", procs, policy.clone())
        }
    }

    fn definitions(&self, opened: &Opened) -> Definitions {
        Definitions::new(self.options.tau, self.options.classes.clone(), opened.procs)
    }

    fn files<'a>(&self, opened: &Opened, spec: &'a SiteSpec, policy: &Named) -> Option<Files<'a>> {
        let alone = ReplayOptions {
            policies: vec![policy.clone()],
            out: None,
            checkpoint: None,
            ..self.options.clone()
        };
        let folder = self.folder(policy)?;
        // A folder that cannot say where it was made can still be read.
        let typed_in = here().unwrap_or_default();
        let description = Description::Replay { folder: typed_in, options: Box::new(alone) };
        let options = OutputOptions {
            machines: self.options.machines,
            // Machines stand in a replay: only commands to jobs are events.
            events: opened.elastic,
            replay: serde_json::to_string_pretty(&description).ok().map(|text| text + "\n"),
            batsim: self.options.batsim.then(|| opened.name.clone()),
            ..OutputOptions::default()
        };
        Some(Files {
            folder,
            sites: std::slice::from_ref(spec),
            definitions: self.definitions(opened),
            options,
        })
    }

    fn summary(
        &self,
        grid: &Grid,
        recorder: &Recorder<OneSite>,
        opened: &Opened,
        policy: &Named,
        times: Times,
    ) -> RunSummary {
        let options = &self.options;
        let site = grid.sites().next().expect("the grid of a replay has one site");
        let mut ledger = Ledger::default();
        for partition in site.partitions() {
            ledger.add(&partition.usage(), options.pue_ppm);
        }
        let mut notes: Vec<String> = self.note.iter().cloned().chain(site.notes()).collect();
        let tally = site.tally();
        if tally.short_reservations > 0 {
            notes.push(format!(
                "{} reservations began with fewer processors than booked",
                tally.short_reservations
            ));
        }
        if recorder.measured.too_large > 0 {
            notes.push(too_large(recorder.measured.too_large, opened.procs, options.quantum));
        }
        notes.extend(recorder.measured.elastic.note());
        let estimates = match (&options.workload, &options.shaping.estimates) {
            // The models have run times only.
            (Workload::Lublin(_) | Workload::Cwf(_), EstimateSource::Plain(Estimates::Log)) => {
                Estimates::Exact.to_string()
            }
            (_, estimates) => estimates.to_string(),
        };
        let facts = RunFacts {
            version: env!("CARGO_PKG_VERSION").to_owned(),
            workload: opened.name.clone(),
            policy: policy.to_string(),
            procs: opened.procs,
            estimates,
            order: options.order,
            options: options.typed(),
            seed: opened.seed,
            offered_load: opened
                .offered_load()
                .map(|value| OfferedLoad { value, over: "processors × the span of submissions".to_owned() }),
            longest_queue: tally.longest_queue,
            times,
            notes,
        };
        // Recorded waits are of the recorded submissions and run times.
        let has_recorded = matches!(options.shaping.estimates, EstimateSource::Plain(_))
            && options.shaping.load.is_none()
            && opened.header.is_some();
        let summary = RunSummary::new(
            facts,
            &recorder.measured.summary,
            &ledger,
            recorder.fingerprint,
            has_recorded.then_some(&recorder.measured.waits),
        );
        RunSummary { elastic: recorder.measured.elastic.summary(), ..summary }
    }
}
