//! Resumes a run from its store.

use std::path::{Path, PathBuf};

use super::checkpoint::{Checkpointer, Description, Snapshot, open_store};
use super::program::JOURNAL;
use super::{Afterwards, Commands, Control, Ended, Progress, Run, RunError};
use crate::grid::{Grid, JournalEntry, Policies};
use crate::metrics::GridSummary;
use crate::scenario::{CheckpointPlan, Scenario};
use crate::store::{Barrier, Entries, Newest, Section, Store};

/// An open store with the description of its run.
pub struct Stored {
    pub(super) store: Store,
    pub(super) run: Run,
    /// The scenario text in the store.
    pub(super) text: String,
    /// The folder in which the command was typed.
    pub(super) typed_in: PathBuf,
    afterwards: Afterwards,
}

/// The point from which a run continues.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ResumePoint {
    /// The number of the snapshot.
    pub number: u64,
    /// The instant and the counts of the snapshot.
    pub barrier: Barrier,
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
    /// `RunErrorKind::Request` if there is no store, it cannot be read, or its run can no longer be built, for example because a log is
    /// gone.
    pub fn open(folder: &Path, policies: &Policies) -> Result<Self, RunError> {
        let store = open_store(folder)?;
        let about = store.about();
        let Description::Run { folder: typed_in, scenario: text, threads, traces, inputs, afterwards } =
            Description::read(folder, about)?;
        Description::check_inputs(folder, &inputs)?;
        // The text was valid when the run began, so places of errors in it are of no use.
        let file = format!("the scenario kept in {}", folder.display());
        let mut scenario = Scenario::read(file.as_ref(), &text, &[], policies)?;
        if scenario.hash != about.hash {
            return Err(RunError::request(format!(
                "this version of gridemu interprets the scenario of `{}` differently than the version that began the run",
                folder.display()
            ))
            .with_hint(format!("resume it with gridemu {}", about.program)));
        }
        let now = Description::traces(&scenario);
        if let Some((_, trace)) = traces.difference(&now).next() {
            let message = format!(
                "the values of the trace `{trace}` have changed since the run of `{}` began",
                folder.display()
            );
            return Err(
                RunError::request(message).with_hint("put back the file that it began with, or begin anew")
            );
        }
        if let Some(folder) = &mut scenario.resolved.output.folder {
            *folder = typed_in.join(&*folder);
        }
        if let Some(plan) = &mut scenario.resolved.checkpoint {
            // The store may have been moved.
            folder.clone_into(&mut plan.store);
        }
        let run = Run::new(scenario, threads, policies);
        let afterwards = afterwards.typed_in(&typed_in);
        Ok(Self { store, run, text, typed_in, afterwards })
    }

    /// The store.
    pub const fn store(&self) -> &Store {
        &self.store
    }

    /// What is made of the files of the run once it has ended.
    pub const fn afterwards(&self) -> &Afterwards {
        &self.afterwards
    }

    /// The folder of the files of the run, if it writes any.
    pub fn files(&self) -> Option<&Path> {
        self.run.scenario().resolved.output.folder.as_deref()
    }

    /// What is kept of the run, if it has ended.
    ///
    /// # Errors
    /// `RunErrorKind::Request` if the summary is damaged.
    pub fn ended(&self) -> Result<Option<Ended>, RunError> {
        let bytes = self.store.finished().map_err(RunError::from_store)?;
        bytes.map(|bytes| Ended::read(&bytes)).transpose()
    }

    /// The commands after a snapshot, and whether the last entry is incomplete.
    pub(super) fn journal(&self, number: u64) -> Result<(Vec<JournalEntry>, bool), RunError> {
        let Entries { entries, torn } = self.store.journal(number).map_err(RunError::from_store)?;
        let read: Result<_, postcard::Error> =
            entries.iter().map(|entry| postcard::from_bytes(entry)).collect();
        let journal = read.map_err(|error| {
            RunError::request(format!("a command in the journal of the store cannot be read: {error}"))
        })?;
        Ok((journal, torn))
    }

    /// The grid at the snapshot of these sections.
    pub(super) fn grid(&self, sections: &[Section]) -> Result<Grid, RunError> {
        self.run.grid_of(&Snapshot { sections, journal: &[], blocks: &[], store: &self.store })
    }

    /// Continues from the newest usable snapshot, which is passed to `say` first, and runs to the end, with snapshots as
    /// before. The journal is replayed first, then the run takes `commands`.
    ///
    /// # Errors
    /// `RunErrorKind::Request` if no snapshot can be used, the workload or a file of the run has changed, or there are commands and
    /// the run does not follow the wall clock; `RunErrorKind::Run` if the run fails; `RunErrorKind::Stopped` if it is stopped again.
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
        self.run.forewarn(progress);
        if resolved.program.is_some() {
            self.run = self.run.clone().going_on(self.store.folder().join(JOURNAL));
        }
        let resolved = &self.run.scenario().resolved;
        let Newest { number, barrier, sections, skipped } =
            self.store.newest().map_err(RunError::from_store)?;
        // Of a state of another layout the commands may be as well, but the state says what to do.
        let (journal, torn) = self.journal(number).or_else(|error| self.grid(&sections).and(Err(error)))?;
        say(&ResumePoint { number, barrier, skipped, commands_again: journal.len(), torn });
        let from = Snapshot { sections: &sections, journal: &journal, blocks: &[], store: &self.store };
        let mut active = self.run.restored(&from, progress, false, |_, _| Ok(()))?;
        self.store.continue_from(number).map_err(RunError::from_store)?;
        let plan = resolved.checkpoint.clone();
        let plan = plan.unwrap_or_else(|| CheckpointPlan::new(self.store.folder().to_owned()));
        let checkpointer = Checkpointer::new(plan, self.store, control, progress).resuming(number);
        if let Some(commands) = commands {
            active = active.listening(commands, Some(&checkpointer), progress)?;
        }
        self.run.carry_out(&mut active, Some(checkpointer), progress, control)
    }
}
