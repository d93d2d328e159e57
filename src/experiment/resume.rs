//! Going on with a run from its store.

use std::path::{Path, PathBuf};

use serde::de::DeserializeOwned;

use super::checkpoint::{Description, Snapshot, Taker, options};
use super::scenario::Scenario;
use super::{CheckpointPlan, Commands, Control, Progress, Replay, Run, RunError};
use crate::broker::BrokerRegistry;
use crate::grid::{Grid, Told};
use crate::local::Registry;
use crate::metrics::{GridSummary, RunSummary};
use crate::store::{Cut, Entries, Section, Store};

/// A store that has been opened, and what it says of its run.
pub struct Stored {
    pub(super) store: Store,
    pub(super) run: StoredRun,
    /// The scenario as the store has it.
    pub(super) text: String,
    /// The folder in which the command was typed.
    pub(super) typed_in: PathBuf,
}

/// The run of a store.
pub enum StoredRun {
    /// Of a scenario.
    Run(Box<Run>),
    /// Of a replay.
    Replay(Box<Replay>),
}

/// What a run that was gone on with ends in.
#[derive(Clone, Debug, PartialEq)]
pub enum Ended {
    /// Of a scenario.
    Run(Box<GridSummary>),
    /// Of a replay.
    Replay(Box<RunSummary>),
}

/// Where a run goes on from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ResumePoint {
    /// The number of the snapshot.
    pub number: u64,
    /// Where it was cut.
    pub cut: Cut,
    /// Newer snapshots that cannot be used, and why.
    pub skipped: Vec<(u64, String)>,
    /// How many commands came after it, which are told again.
    pub commands_again: usize,
    /// A command after these was not written down to its end: nobody has used it.
    pub torn: bool,
}

impl Stored {
    /// Opens the store in `folder` and reads what its run is.
    ///
    /// # Errors
    /// [`RunError::Request`] if there is no store, it cannot be read, or its run can no longer be built: a log is gone, say.
    pub fn open(folder: &Path, registry: Registry, brokers: BrokerRegistry) -> Result<Self, RunError> {
        let plan = CheckpointPlan::new(folder.to_owned());
        let store = Store::open(folder, &options(&plan)).map_err(|error| RunError::from_store(&error))?;
        let (run, text, typed_in) = match Description::read(folder, store.about())? {
            Description::Run { folder: from, scenario, threads } => {
                let run = build_run(folder, &store, &from, &scenario, threads, registry, brokers)?;
                (StoredRun::Run(Box::new(run)), scenario, from)
            }
            Description::Replay { folder: from, mut options } => {
                options.see_from(&from);
                if let Some(plan) = &mut options.checkpoint {
                    plan.store = folder.to_owned();
                }
                (StoredRun::Replay(Box::new(Replay::new(*options, registry)?)), String::new(), from)
            }
        };
        Ok(Self { store, run, text, typed_in })
    }

    /// What is run.
    pub const fn run(&self) -> &StoredRun {
        &self.run
    }

    /// The store.
    pub const fn store(&self) -> &Store {
        &self.store
    }

    /// What the run ended in, if it is over.
    ///
    /// # Errors
    /// [`RunError::Request`] if the summary is damaged.
    pub fn ended(&self) -> Result<Option<Ended>, RunError> {
        let Some(bytes) = self.store.finished().map_err(|error| RunError::from_store(&error))? else {
            return Ok(None);
        };
        Ok(Some(match &self.run {
            StoredRun::Run(_) => Ended::Run(Box::new(summary(&bytes)?)),
            StoredRun::Replay(_) => Ended::Replay(Box::new(summary(&bytes)?)),
        }))
    }

    /// What came from outside after a snapshot, and whether a last entry was not written to its end.
    pub(super) fn told(&self, number: u64) -> Result<(Vec<Told>, bool), RunError> {
        let Entries { entries, torn } =
            self.store.journal(number).map_err(|error| RunError::from_store(&error))?;
        let read = |entry: &Vec<u8>| {
            postcard::from_bytes(entry).map_err(|error| {
                RunError::request(format!("a command in the journal of the store cannot be read: {error}"))
            })
        };
        let told: Vec<Told> = entries.iter().map(read).collect::<Result<_, _>>()?;
        Ok((told, torn))
    }

    /// The grid as it was when the snapshot of these sections was taken.
    pub(super) fn grid(&self, sections: &[Section]) -> Result<Grid, RunError> {
        let from = Snapshot { sections, told: &[], store: &self.store };
        match &self.run {
            StoredRun::Run(run) => run.grid_of(&from),
            StoredRun::Replay(replay) => replay.grid_of(&from),
        }
    }

    /// Goes on from the newest snapshot that can be used, which is told to `say` first, and runs to the end, with snapshots
    /// as before. What it was told is told again, then what `commands` say.
    ///
    /// # Errors
    /// [`RunError::Request`] if no snapshot can be used, the workload or a file of the run is not what it was, or there are commands
    /// and the run follows no clock;
    /// [`RunError::Run`] if the run breaks; [`RunError::Stopped`] if it is stopped again.
    pub fn resume(
        mut self,
        progress: &Progress,
        control: &Control,
        commands: Option<Commands>,
        say: impl FnOnce(&ResumePoint),
    ) -> Result<Ended, RunError> {
        match &self.run {
            StoredRun::Run(run) if commands.is_some() => Commands::check(&run.scenario().meaning)?,
            StoredRun::Replay(_) if commands.is_some() => {
                return Err(RunError::request(
                    "`--commands` is for the run of a scenario, and this one is a replay",
                ));
            }
            _ => {}
        }
        let refused = |error| RunError::from_store(&error);
        let newest = self.store.newest().map_err(refused)?;
        let (told, torn) = self.told(newest.number)?;
        let commands_again = told.len();
        let skipped = newest.skipped;
        say(&ResumePoint { number: newest.number, cut: newest.cut, skipped, commands_again, torn });
        let plan = CheckpointPlan::new(self.store.folder().to_owned());
        let from = Snapshot { sections: &newest.sections, told: &told, store: &self.store };
        let taker = |plan: CheckpointPlan, store: Store| {
            Taker::new(plan, store, control, progress).resuming(newest.number)
        };
        Ok(match self.run {
            StoredRun::Run(run) => {
                let mut begun = run.restored(&from, progress)?;
                let meaning = &run.scenario().meaning;
                let taker = taker(meaning.checkpoint.clone().unwrap_or(plan), self.store);
                if let Some(commands) = commands {
                    begun = begun.listening(commands, &meaning.grid.sites, Some(&taker), progress)?;
                }
                Ended::Run(Box::new(run.carry_out(begun, Some(taker), progress, control)?))
            }
            StoredRun::Replay(replay) => {
                let begun = replay.restored(&from, progress)?;
                self.store.go_on_from(newest.number).map_err(refused)?;
                let taker = taker(replay.checkpoint().cloned().unwrap_or(plan), self.store);
                Ended::Replay(Box::new(replay.go_on(begun, Some(taker), progress, control)?))
            }
        })
    }
}

/// The run of a scenario as it was described when it began.
fn build_run(
    store: &Path,
    opened: &Store,
    from: &Path,
    text: &str,
    threads: usize,
    registry: Registry,
    brokers: BrokerRegistry,
) -> Result<Run, RunError> {
    let about = opened.about();
    // Places in the text are of no use to anybody: it was right when the run began.
    let mut scenario = Scenario::read(
        &PathBuf::from(format!("the scenario kept in {}", store.display())),
        text,
        &[],
        &registry,
        &brokers,
    )?;
    if scenario.hash != about.hash {
        return Err(RunError::request(format!(
            "the scenario of `{}` means something else to this gridemu than to the one that began the run",
            store.display()
        ))
        .with_hint(format!("resume it with gridemu {}", about.program)));
    }
    if let Some(folder) = &mut scenario.meaning.output.folder {
        *folder = from.join(&*folder);
    }
    if let Some(plan) = &mut scenario.meaning.checkpoint {
        // It may have been moved.
        plan.store = store.to_owned();
    }
    Ok(Run::new(scenario, threads, registry, brokers))
}

fn summary<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, RunError> {
    serde_json::from_slice(bytes)
        .map_err(|error| RunError::request(format!("the summary in the store cannot be read: {error}")))
}

/// `path` as it was seen from `folder`.
pub(super) fn seen_from(folder: &Path, path: &mut PathBuf) {
    *path = folder.join(&*path);
}
