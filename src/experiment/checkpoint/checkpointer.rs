//! Takes the snapshots of a run while it stands still.

use std::time::Duration;

use serde::Serialize;

use super::control::Control;
use super::state::{AtBarrier, RunState};
use super::writer::{Order, Writer};
use crate::experiment::clock::now;
use crate::experiment::{Progress, RunError};
use crate::grid::JournalEntry;
use crate::output::OutputDir;
use crate::scenario::CheckpointPlan;
use crate::store::{Barrier, Journal, Store};
use crate::units::Time;

/// Takes snapshots of a run while it stands still, and hands them to the thread that writes them.
pub(in crate::experiment) struct Checkpointer {
    pub(in crate::experiment) plan: CheckpointPlan,
    writer: Writer,
    journal: Journal,
    /// Snapshots of this run so far, including those of earlier processes.
    taken: u64,
    /// True if the run was restored from a snapshot: it takes none at its beginning.
    resumed: bool,
    /// How long the run was paused for snapshots: in total, and at most.
    paused: (Duration, Duration),
}

impl Checkpointer {
    /// Takes snapshots into `store`; failures are reported to `progress`.
    pub(in crate::experiment) fn new(
        plan: CheckpointPlan,
        store: Store,
        control: &Control,
        progress: &Progress,
    ) -> Self {
        let journal = store.journal_handle();
        let writer = Writer::start(store, plan.every, control.halt.clone(), progress.clone());
        Self { plan, writer, journal, taken: 0, resumed: false, paused: (Duration::ZERO, Duration::ZERO) }
    }

    /// The same for a run that continues from the snapshot with this number; the first of a run is number 1.
    pub(in crate::experiment) fn resuming(self, number: u64) -> Self {
        Self { taken: number, resumed: true, ..self }
    }

    /// A function that writes a command to the journal before it is used.
    pub(in crate::experiment) fn journal(
        &self,
    ) -> impl FnMut(&JournalEntry) -> Result<(), String> + Send + 'static {
        let journal = self.journal.clone();
        move |entry| {
            let entry = postcard::to_stdvec(entry).map_err(|error| error.to_string())?;
            journal.append(&entry).map(|_| ()).map_err(|error| error.to_string())
        }
    }

    /// A line about the snapshots of this process.
    fn line(&self) -> String {
        let (written, (all, most)) = (self.writer.written(), self.paused);
        let store = self.plan.store.display();
        if written == 0 {
            return format!("no new snapshot was due; earlier ones are in `{store}`");
        }
        let noun = if written == 1 { "snapshot" } else { "snapshots" };
        format!(
            "{written} {noun} in `{store}`; the run was paused for {:.1} ms, at most {:.1} ms at a time",
            all.as_secs_f64() * 1e3,
            most.as_secs_f64() * 1e3
        )
    }

    /// Takes the first snapshot, so that the run can always be resumed.
    pub(in crate::experiment) fn begin(&mut self, run: AtBarrier<'_>) -> Result<(), RunError> {
        if self.resumed {
            return Ok(());
        }
        let at = run.grid.now();
        self.take(run, at, false)?;
        // A store that cannot take a first snapshot is of no use, so the run ends here.
        self.writer.wait()
    }

    /// The run is at a barrier at `at`: takes a snapshot, the last one if the run is to stop there.
    pub(in crate::experiment) fn take(
        &mut self,
        mut run: AtBarrier<'_>,
        at: Time,
        last: bool,
    ) -> Result<(), RunError> {
        let started = now();
        let state = RunState::of(&mut run)?;
        let files = run.recorder.output.as_ref().map(OutputDir::syncer).transpose()?;
        let barrier = Barrier {
            at,
            jobs: run.recorder.jobs,
            records: run.recorder.fingerprint.count(),
            entries: run.grid.commands(),
            kept: self.plan.keeps(self.taken, at),
        };
        self.taken += 1;
        self.writer.hand(Order { barrier, state, files, last });
        let paused = now() - started;
        self.paused = (self.paused.0 + paused, self.paused.1.max(paused));
        if !last {
            return Ok(());
        }
        let store = self.plan.store.display();
        self.writer.wait().map_err(|error| {
            error
                .within("stopped, but the last snapshot could not be written")
                .with_hint(format!("`gridemu resume {store}` continues from the previous one"))
        })?;
        Err(RunError::stopped(at, &self.plan.store))
    }

    /// Puts the summary of a completed run into the store and reports on the snapshots. A failure here does not fail the run.
    pub(in crate::experiment) fn finish(&mut self, summary: &impl Serialize, progress: &Progress) {
        let summary = serde_json::to_vec(summary).map_err(RunError::run);
        match summary.and_then(|summary| self.writer.finish(summary)) {
            Ok(()) => progress.note(self.line()),
            Err(error) => progress.warn(format!("the end of the run could not be stored: {error}")),
        }
    }
}
