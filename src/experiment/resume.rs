//! Resumes a run from its store.

use std::path::{Path, PathBuf};

use super::checkpoint::{Checkpointer, Description, Snapshot, options};
use super::{Commands, Control, Progress, Run, RunError};
use crate::grid::{Grid, JournalEntry, Policies};
use crate::metrics::GridSummary;
use crate::scenario::{CheckpointPlan, Scenario};
use crate::store::{Cut, Entries, Section, Store};

/// An open store with the description of its run.
pub struct Stored {
    pub(super) store: Store,
    pub(super) run: Run,
    /// The scenario text in the store.
    pub(super) text: String,
    /// The folder in which the command was typed.
    pub(super) typed_in: PathBuf,
}

/// The point from which a run continues.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ResumePoint {
    /// The number of the snapshot.
    pub number: u64,
    /// The instant and the counts of the snapshot.
    pub cut: Cut,
    /// Newer snapshots that cannot be used, with the reason.
    pub skipped: Vec<(u64, String)>,
    /// The number of commands after the snapshot, which are replayed.
    pub commands_again: usize,
    /// True if the journal ends with an incomplete command: it was never used.
    pub torn: bool,
}

impl Stored {
    /// Opens the store in `folder` and reads the description of its run.
    ///
    /// # Errors
    /// [`RunError::Request`] if there is no store, it cannot be read, or its run can no longer be built, for example because a log is
    /// gone.
    pub fn open(folder: &Path, policies: &Policies) -> Result<Self, RunError> {
        let plan = CheckpointPlan::new(folder.to_owned());
        let store = Store::open(folder, &options(&plan)).map_err(|error| RunError::from_store(&error))?;
        let Description::Run { folder: typed_in, scenario: text, threads } =
            Description::read(folder, store.about())?;
        let run = build_run(folder, &store, &typed_in, &text, threads, policies)?;
        Ok(Self { store, run, text, typed_in })
    }

    /// The run as described in the store.
    pub const fn run(&self) -> &Run {
        &self.run
    }

    /// The store.
    pub const fn store(&self) -> &Store {
        &self.store
    }

    /// The summary of the run, if it has ended.
    ///
    /// # Errors
    /// [`RunError::Request`] if the summary is damaged.
    pub fn ended(&self) -> Result<Option<GridSummary>, RunError> {
        let bytes = self.store.finished().map_err(|error| RunError::from_store(&error))?;
        let read = |bytes: Vec<u8>| {
            serde_json::from_slice(&bytes).map_err(|error| {
                RunError::request(format!("the summary in the store cannot be read: {error}"))
            })
        };
        bytes.map(read).transpose()
    }

    /// The commands after a snapshot, and whether the last entry is incomplete.
    pub(super) fn told(&self, number: u64) -> Result<(Vec<JournalEntry>, bool), RunError> {
        let Entries { entries, torn } =
            self.store.journal(number).map_err(|error| RunError::from_store(&error))?;
        let read = |entry: &Vec<u8>| {
            postcard::from_bytes(entry).map_err(|error| {
                RunError::request(format!("a command in the journal of the store cannot be read: {error}"))
            })
        };
        let told: Vec<JournalEntry> = entries.iter().map(read).collect::<Result<_, _>>()?;
        Ok((told, torn))
    }

    /// The grid at the snapshot of these sections.
    pub(super) fn grid(&self, sections: &[Section]) -> Result<Grid, RunError> {
        self.run.grid_of(&Snapshot { sections, told: &[], store: &self.store })
    }

    /// Continues from the newest usable snapshot, which is passed to `say` first, and runs to the end, with snapshots as
    /// before. The journal is replayed first, then the run takes `commands`.
    ///
    /// # Errors
    /// [`RunError::Request`] if no snapshot can be used, the workload or a file of the run has changed, or there are commands and
    /// the run does not follow the wall clock; [`RunError::Run`] if the run fails; [`RunError::Stopped`] if it is stopped again.
    pub fn resume(
        mut self,
        progress: &Progress,
        control: &Control,
        commands: Option<Commands>,
        say: impl FnOnce(&ResumePoint),
    ) -> Result<GridSummary, RunError> {
        let resolved = &self.run.scenario().resolved;
        if commands.is_some() {
            Commands::check(resolved)?;
        }
        let refused = |error| RunError::from_store(&error);
        let newest = self.store.newest().map_err(refused)?;
        let (told, torn) = self.told(newest.number)?;
        let commands_again = told.len();
        let skipped = newest.skipped;
        say(&ResumePoint { number: newest.number, cut: newest.cut, skipped, commands_again, torn });
        let plan = CheckpointPlan::new(self.store.folder().to_owned());
        let from = Snapshot { sections: &newest.sections, told: &told, store: &self.store };
        let mut begun = self.run.restored(&from, progress)?;
        self.store.go_on_from(newest.number).map_err(refused)?;
        let plan = resolved.checkpoint.clone().unwrap_or(plan);
        let checkpointer = Checkpointer::new(plan, self.store, control, progress).resuming(newest.number);
        if let Some(commands) = commands {
            begun = begun.listening(commands, &resolved.grid.sites, Some(&checkpointer), progress)?;
        }
        self.run.carry_out(begun, Some(checkpointer), progress, control)
    }
}

/// Builds the run from the scenario with which it began.
fn build_run(
    store: &Path,
    opened: &Store,
    from: &Path,
    text: &str,
    threads: usize,
    policies: &Policies,
) -> Result<Run, RunError> {
    let about = opened.about();
    // The text was valid when the run began, so places of errors in it are of no use.
    let mut scenario = Scenario::read(
        &PathBuf::from(format!("the scenario kept in {}", store.display())),
        text,
        &[],
        policies,
    )?;
    if scenario.hash != about.hash {
        return Err(RunError::request(format!(
            "this version of gridemu interprets the scenario of `{}` differently than the version that began the run",
            store.display()
        ))
        .with_hint(format!("resume it with gridemu {}", about.program)));
    }
    if let Some(folder) = &mut scenario.resolved.output.folder {
        *folder = from.join(&*folder);
    }
    if let Some(plan) = &mut scenario.resolved.checkpoint {
        // The store may have been moved.
        plan.store = store.to_owned();
    }
    Ok(Run::new(scenario, threads, policies))
}
