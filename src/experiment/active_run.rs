//! A run between its beginning and its end. It goes in run segments, between which it can be saved.

use std::num::NonZeroUsize;
use std::path::Path;
use std::time::{Duration, Instant};

use super::checkpoint::{AtBarrier, Checkpointer, Control, RunState, Spent};
use super::clock::now;
use super::ended::Ending;
use super::ledgers::{ledgers, moved};
use super::program::Conversation;
use super::recorder::Recorder;
use super::{Commands, Inputs, Progress, RunError, RunErrorKind};
use crate::grid::{Grid, Halt, Merge, RunSegment, WindowOptions};
use crate::metrics::{GridSummary, Times};
use crate::runtime::{self, Outside, RuntimeOptions};
use crate::units::Time;

/// What drives the entities. It changes no result.
#[derive(Clone, Debug)]
pub(super) enum Driver {
    /// The loop of a single site.
    Alone,
    /// The plain loop over windows.
    Loop,
    /// Actors.
    Actors {
        /// The number of threads.
        threads: NonZeroUsize,
        /// Virtual seconds per second of the wall clock.
        pace: Option<f64>,
        /// How long an entity may take for a moment.
        patience: Duration,
    },
}

/// A run that has begun.
pub(super) struct ActiveRun {
    pub(super) grid: Grid,
    merge: Merge,
    pub(super) recorder: Recorder,
    pub(super) inputs: Inputs,
    driver: Driver,
    until: Option<Time>,
    /// The input of commands.
    outside: Option<Outside>,
    /// The beginning in this process, by the wall clock and in virtual time: the pace of the run refers to it.
    began: (Instant, Time),
    /// Time spent in earlier processes.
    earlier: Spent,
    /// Time spent driving in this process, including sources and the sink.
    driven: Duration,
}

impl ActiveRun {
    /// A run of `grid` to `until` at the latest.
    pub(super) fn new(
        (grid, inputs): (Grid, Inputs),
        recorder: Recorder,
        driver: Driver,
        until: Option<Time>,
    ) -> Self {
        Self {
            merge: Merge::new(grid.nodes().len()),
            began: (now(), grid.now()),
            grid,
            recorder,
            inputs,
            driver,
            until,
            outside: None,
            earlier: Spent::default(),
            driven: Duration::ZERO,
        }
    }

    /// The same run with commands, which `checkpointer` writes to the journal if there is one.
    ///
    /// # Errors
    /// `RunErrorKind::Run` if the reading thread cannot be started.
    pub(super) fn listening(
        self,
        commands: Commands,
        checkpointer: Option<&Checkpointer>,
        progress: &Progress,
    ) -> Result<Self, RunError> {
        let sites = self.grid.sites().map(|site| site.spec().clone()).collect();
        let next = self.grid.commands();
        let outside = match checkpointer {
            Some(checkpointer) => commands.listen(sites, next, checkpointer.journal(), progress)?,
            // A run without a store cannot be resumed, so it needs no journal.
            None => commands.listen(sites, next, |_| Ok(()), progress)?,
        };
        Ok(Self { outside: Some(outside), ..self })
    }

    /// The same run, continued in another process.
    pub(super) fn continued(self, merge: Merge, earlier: Spent) -> Self {
        Self { merge, earlier, ..self }
    }

    /// Time spent so far, by part.
    pub(super) fn spent(&self) -> Spent {
        let Spent { driven, read } = self.earlier;
        Spent { driven: driven + self.driven, read: read + self.inputs.elapsed() }
    }

    /// The run as it stands still.
    fn at_barrier(&mut self) -> AtBarrier<'_> {
        let spent = self.spent();
        AtBarrier { grid: &self.grid, merge: &self.merge, recorder: &mut self.recorder, spent }
    }

    /// Has what was said with the broker's program on the disk, if there is one, before a state is taken that builds on it.
    fn flush_conversation(&self) -> Result<(), RunError> {
        self.inputs.program.as_ref().map_or(Ok(()), Conversation::flush)
    }

    /// Runs on to the instant `at` and returns the state there; `None` if the run is over before.
    ///
    /// # Errors
    /// `RunErrorKind::Run` if the run fails; `RunErrorKind::Output` if its files cannot be written.
    pub(super) fn state_at(&mut self, at: Time) -> Result<Option<RunState>, RunError> {
        let started = now();
        self.began = (started, self.grid.now());
        let segment = self.segment(Some(at), None);
        self.driven += now() - started;
        match segment {
            Ok(RunSegment::Barrier(_)) => {
                self.flush_conversation()?;
                RunState::of(&mut self.at_barrier()).map(Some)
            }
            Ok(RunSegment::Over) => Ok(None),
            // A file that cannot be written is the reason, not the segment that it ended.
            Err(error) => self.recorder.finish().map_err(RunError::from).and(Err(error)),
        }
    }

    /// Runs to the end, with snapshots if there is a checkpointer, closes the files in `folder`, and returns the
    /// `summary` of its times and the total time of driving; the summary is written to the files and the store too.
    ///
    /// # Errors
    /// `RunErrorKind::Run` if the run fails, with the completed results in `folder`; `RunErrorKind::Stopped` if it was asked
    /// to stop, after a last snapshot if there is a checkpointer.
    pub(super) fn carry_out(
        &mut self,
        mut checkpointer: Option<Checkpointer>,
        progress: &Progress,
        control: &Control,
        folder: Option<&Path>,
        summary: impl FnOnce(&Self, Times, Duration) -> GridSummary,
    ) -> Result<GridSummary, RunError> {
        let before = self.inputs.elapsed();
        let ran = self.drive(checkpointer.as_mut(), control);
        let Spent { driven, read } = self.spent();
        // Reading before the run began is not part of its time.
        let elsewhere = self.recorder.elapsed + read.saturating_sub(before);
        let finished = self.recorder.finish();
        let times = Times {
            read_s: read.as_secs_f64(),
            // With actors, writing overlaps scheduling, and the difference may be zero.
            schedule_s: driven.saturating_sub(elsewhere).as_secs_f64(),
            write_s: self.recorder.elapsed.as_secs_f64(),
        };
        let output = match (ran, finished) {
            (Err(error), _)
                if checkpointer.is_some() && matches!(error.kind, RunErrorKind::Stopped { .. }) =>
            {
                return Err(error);
            }
            (_, Err(error)) => return Err(error.into()),
            (Err(RunError { kind: RunErrorKind::Stopped { at: Some(at) }, .. }), Ok(output)) => {
                let files = output.as_ref().map(|output| (output.folder(), output.tables()));
                return Err(RunError::stopped_for_good(at, self.recorder.jobs, files));
            }
            (Err(error), Ok(output)) => {
                // The accounts of a run that is stuck are closed.
                let stuck = matches!(error.kind, RunErrorKind::Stuck { .. });
                if let Some(output) = output.filter(|_| stuck) {
                    output.write_ledger(&ledgers(&self.grid), moved(&self.grid))?;
                    output.finish(&summary(self, times, driven))?;
                }
                return Err(failed(error, folder, progress));
            }
            (Ok(()), Ok(output)) => output,
        };
        let summary = summary(self, times, driven);
        let mut files = Vec::new();
        if let Some(output) = output {
            output.write_ledger(&ledgers(&self.grid), moved(&self.grid))?;
            if checkpointer.is_some() {
                files = output.finish_for_good(&summary)?;
            } else {
                output.finish(&summary)?;
            }
        }
        if let Some(checkpointer) = &mut checkpointer {
            checkpointer.finish(&Ending { summary: &summary, files }, progress);
        }
        Ok(summary)
    }

    fn drive(
        &mut self,
        mut checkpointer: Option<&mut Checkpointer>,
        control: &Control,
    ) -> Result<(), RunError> {
        if let Some(checkpointer) = checkpointer.as_deref_mut() {
            if let Some(program) = &self.inputs.program {
                program.keep_journal(&checkpointer.plan.store)?;
            }
            checkpointer.begin(self.at_barrier())?;
        }
        self.began = (now(), self.grid.now());
        loop {
            let started = now();
            let plan = checkpointer.as_ref().map(|checkpointer| &checkpointer.plan);
            let barrier = plan.and_then(|plan| plan.next_barrier(self.grid.now()));
            let records = plan.and_then(|plan| plan.every_events);
            self.recorder.countdown = records.map(|records| (records, control.halt.clone()));
            let segment = self.segment(barrier, Some(&control.halt));
            self.driven += now() - started;
            match (segment?, checkpointer.as_deref_mut()) {
                (RunSegment::Over, _) => break,
                // Only a request to stop halts a run without snapshots.
                (RunSegment::Barrier(at), None) => return Err(RunError::stopped_for_good(at, 0, None)),
                (RunSegment::Barrier(at), Some(checkpointer)) => {
                    control.halt.clear();
                    self.flush_conversation()?;
                    checkpointer.take(self.at_barrier(), at, control.is_stopped())?;
                }
            }
        }
        self.recorder.countdown = None;
        let started = now();
        let ended = match self.driver {
            Driver::Alone => self.grid.finish_single(&mut self.recorder),
            _ => self.grid.finish_run(self.until, &mut self.merge, &mut self.recorder),
        };
        self.driven += now() - started;
        ended.map_err(RunError::from_running)
    }

    fn segment(&mut self, barrier: Option<Time>, halt: Option<&Halt>) -> Result<RunSegment, RunError> {
        let Self { grid, merge, recorder, until, .. } = self;
        let windows = WindowOptions { halt: halt.cloned(), ..WindowOptions::default() };
        let ran = match self.driver {
            Driver::Alone => grid.single_site_segment(barrier, halt, recorder),
            Driver::Loop => grid.run_segment(*until, barrier, windows, merge, recorder),
            Driver::Actors { threads, pace, patience } => {
                let (began, begin) = self.began;
                let options = RuntimeOptions {
                    windows,
                    threads,
                    pace,
                    begin,
                    began: Some(began),
                    outside: self.outside.clone(),
                    patience,
                };
                let ran = runtime::run_segment(grid, *until, barrier, options, merge, recorder);
                return ran.map_err(RunError::from_actors);
            }
        };
        ran.map_err(RunError::from_running)
    }
}

/// Adds to the error of a failed run where its files are.
fn failed(error: RunError, folder: Option<&Path>, progress: &Progress) -> RunError {
    match folder {
        Some(folder) => error.leaving(match progress.jobs() {
            1 => format!("1 job had ended by then; its row is in `{}`", folder.display()),
            jobs => format!("{jobs} jobs had ended by then; their rows are in `{}`", folder.display()),
        }),
        None => error,
    }
}
