//! Takes the snapshots of a run.

use std::time::Duration;

use serde::Serialize;

use super::control::Control;
use super::plan::CheckpointPlan;
use super::state::{RunState, Saved};
use super::writer::{Order, Writer};
use crate::experiment::clock::now;
use crate::experiment::underway::Underway;
use crate::experiment::{Notice, Progress, RunError};
use crate::grid::Told;
use crate::report::OutputDir;
use crate::store::{Cut, Journal, Store};
use crate::units::Time;

/// Takes snapshots of a run while it stands still, and hands them to the thread that writes them.
pub(in crate::experiment) struct Taker {
    plan: CheckpointPlan,
    writer: Writer,
    journal: Journal,
    /// Snapshots of this run so far, with those of earlier processes.
    taken: u64,
    /// Whether the run was restored from a snapshot, and needs none at its beginning.
    resumed: bool,
    /// How long the run stood still for snapshots: in all, and at most.
    pub(in crate::experiment) stood: (Duration, Duration),
}

impl Taker {
    /// Into `store`; what goes wrong is told to `progress`.
    pub(in crate::experiment) fn new(
        plan: CheckpointPlan,
        store: Store,
        control: &Control,
        progress: &Progress,
    ) -> Self {
        let journal = store.journal_handle();
        let writer = Writer::start(store, plan.every, control.halt().clone(), progress.clone());
        Self { plan, writer, journal, taken: 0, resumed: false, stood: (Duration::ZERO, Duration::ZERO) }
    }

    /// The same for a run that goes on from the snapshot with this number; the first of a run is number 1.
    pub(in crate::experiment) fn resuming(self, number: u64) -> Self {
        Self { taken: number, resumed: true, ..self }
    }

    /// What writes a command down before it is used.
    pub(in crate::experiment) fn journal(&self) -> impl FnMut(&Told) -> Result<(), String> + Send + 'static {
        let journal = self.journal.clone();
        move |told| {
            let entry = postcard::to_stdvec(told).map_err(|error| error.to_string())?;
            journal.append(&entry).map(|_| ()).map_err(|error| error.to_string())
        }
    }

    /// What there is to say of the snapshots of this process.
    fn line(&self) -> String {
        if self.writer.written() == 0 {
            return format!("no snapshot was due; those from before are in `{}`", self.plan.store.display());
        }
        let (written, (all, most)) = (self.writer.written(), self.stood);
        let noun = if written == 1 { "snapshot" } else { "snapshots" };
        format!(
            "{written} {noun} in `{}`, for which the run stood still {:.1} ms, at most {:.1} ms at a time",
            self.plan.store.display(),
            all.as_secs_f64() * 1e3,
            most.as_secs_f64() * 1e3
        )
    }

    /// The next instant at which virtual time asks for a snapshot.
    pub(in crate::experiment) fn next_cut(&self, now: Time) -> Option<Time> {
        self.plan.next_cut(now)
    }

    /// Records until the next snapshot, if records ask for it.
    pub(in crate::experiment) fn events_left(&self) -> Option<u64> {
        self.plan.every_events
    }

    /// The run begins: there is always a snapshot to go on from.
    pub(in crate::experiment) fn begin<M: Saved>(&mut self, run: &mut Underway<M>) -> Result<(), RunError> {
        if self.resumed {
            return Ok(());
        }
        let at = run.grid.now();
        self.take(run, at, false)?;
        // Without a first snapshot there is no sense in going on: the store is of no use.
        self.writer.wait()
    }

    /// The run was cut at `at`: takes a snapshot, the last one if it is to stop there.
    pub(in crate::experiment) fn take<M: Saved>(
        &mut self,
        run: &mut Underway<M>,
        at: Time,
        last: bool,
    ) -> Result<(), RunError> {
        let started = now();
        let state = RunState::of(run)?;
        let outputs = run.recorder.output().map(OutputDir::syncer).transpose()?;
        let cut = Cut {
            at,
            jobs: run.recorder.jobs(),
            records: run.recorder.fingerprint.count(),
            entries: run.grid.commands(),
            kept: self.plan.keeps(self.taken, at),
        };
        self.taken += 1;
        self.writer.hand(Order { cut, state, outputs, last });
        let stood = now() - started;
        self.stood = (self.stood.0 + stood, self.stood.1.max(stood));
        if !last {
            return Ok(());
        }
        let store = self.plan.store.display();
        self.writer.wait().map_err(|error| {
            error
                .within("stopped, but the last snapshot could not be written")
                .with_hint(format!("`gridemu resume {store}` goes on from the one before"))
        })?;
        Err(RunError::stopped(at, &self.plan.store))
    }

    /// The run is over: its summary goes into the store, and what there is to say is told. The run is whole in any case.
    pub(in crate::experiment) fn finish(&mut self, summary: &impl Serialize, progress: &Progress) {
        let kept = serde_json::to_vec(summary)
            .map_err(RunError::run)
            .and_then(|summary| self.writer.finish(&summary));
        progress.tell(match kept {
            Ok(()) => Notice::Note(self.line()),
            Err(error) => Notice::Warning(format!("the store does not know that the run is over: {error}")),
        });
    }
}
