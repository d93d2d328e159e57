//! A run between its beginning and its end. It goes in run segments, between which it can be saved.

use std::num::NonZeroUsize;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use super::checkpoint::{Checkpointer, Control, Spent, Standing};
use super::clock::now;
use super::recorder::Recorder;
use super::timed::Read;
use super::{Progress, RunError};
use crate::grid::{Grid, Halt, Merge, RunSegment, WindowOptions};
use crate::metrics::{GridSummary, Times};
use crate::model::{Record, RecordSink};
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
    },
}

/// A run that has begun.
pub(super) struct ActiveRun {
    pub(super) grid: Grid,
    pub(super) merge: Merge,
    pub(super) recorder: Recorder,
    driver: Driver,
    until: Option<Time>,
    /// A witness that sees each record.
    witness: Option<Box<dyn RecordSink + Send>>,
    /// The input of commands.
    outside: Option<Outside>,
    /// The beginning in this process, by the wall clock and in virtual time: the pace of the run refers to it.
    began: (Instant, Time),
    /// The reading statistics of its sources.
    reads: Vec<Arc<Mutex<Read>>>,
    /// Time spent in earlier processes.
    earlier: Spent,
    /// Time spent driving in this process, including sources and the sink.
    driven: Duration,
}

impl ActiveRun {
    /// A run of `grid` to `until` at the latest.
    pub(super) fn new(
        grid: Grid,
        recorder: Recorder,
        driver: Driver,
        until: Option<Time>,
        reads: Vec<Arc<Mutex<Read>>>,
    ) -> Self {
        let merge = Merge::new(grid.nodes().len());
        let (earlier, driven) = (Spent::default(), Duration::ZERO);
        let began = (now(), grid.now());
        Self {
            grid,
            merge,
            recorder,
            driver,
            until,
            witness: None,
            outside: None,
            began,
            reads,
            earlier,
            driven,
        }
    }

    /// The same run with a witness that sees each record.
    pub(super) fn witnessed(self, witness: Box<dyn RecordSink + Send>) -> Self {
        Self { witness: Some(witness), ..self }
    }

    /// The same run with commands.
    pub(super) fn listening(self, outside: Outside) -> Self {
        Self { outside: Some(outside), ..self }
    }

    /// The same run, continued in another process.
    pub(super) fn gone_on(self, merge: Merge, earlier: Spent) -> Self {
        Self { merge, earlier, ..self }
    }

    /// Time that reading and generating have taken so far in this process.
    fn read(&self) -> Duration {
        let elapsed = |read: &Arc<Mutex<Read>>| read.lock().unwrap_or_else(PoisonError::into_inner).elapsed;
        self.reads.iter().map(elapsed).sum()
    }

    /// Time spent so far, by part.
    pub(super) fn spent(&self) -> Spent {
        let Spent { driven, read } = self.earlier;
        Spent { driven: driven + self.driven, read: read + self.read() }
    }

    /// The run as it stands still.
    fn standing(&mut self) -> Standing<'_> {
        let spent = self.spent();
        Standing { grid: &self.grid, merge: &self.merge, recorder: &mut self.recorder, spent }
    }

    /// Runs to the end, with snapshots if there is a checkpointer, closes the files in `folder`, and returns the
    /// `summary` of its times and the total time of driving; the summary is written to the files and the store too.
    ///
    /// # Errors
    /// [`RunError::Run`] if the run fails, with the completed results in `folder`; [`RunError::Stopped`] if it was asked
    /// to stop, after a last snapshot.
    pub(super) fn carry_out(
        mut self,
        mut checkpointer: Option<Checkpointer>,
        progress: &Progress,
        control: &Control,
        folder: Option<&Path>,
        summary: impl FnOnce(&Self, Times, Duration) -> GridSummary,
    ) -> Result<GridSummary, RunError> {
        let before = self.read();
        let ran = self.go(checkpointer.as_mut(), control);
        let Spent { driven, read } = self.spent();
        // Reading before the run began is not part of its time.
        let elsewhere = self.recorder.elapsed + read.saturating_sub(before);
        let finished = self.recorder.finish();
        let output = match (ran, finished) {
            (Err(stopped @ RunError::Stopped { .. }), _) => return Err(stopped),
            (_, Err(error)) => return Err(error.into()),
            (Err(error), Ok(_)) => return Err(failed(error, folder, progress)),
            (Ok(()), Ok(output)) => output,
        };
        let times = Times {
            read_s: read.as_secs_f64(),
            // With actors, writing overlaps scheduling, and the difference may be zero.
            schedule_s: driven.saturating_sub(elsewhere).as_secs_f64(),
            write_s: self.recorder.elapsed.as_secs_f64(),
        };
        let summary = summary(&self, times, driven);
        if let Some(output) = output {
            if checkpointer.is_some() {
                output.finish_for_good(&summary)?
            } else {
                output.finish(&summary)?
            }
        }
        if let Some(checkpointer) = &mut checkpointer {
            checkpointer.finish(&summary, progress);
        }
        Ok(summary)
    }

    fn go(&mut self, mut checkpointer: Option<&mut Checkpointer>, control: &Control) -> Result<(), RunError> {
        if let Some(checkpointer) = checkpointer.as_deref_mut() {
            checkpointer.begin(&mut self.standing())?;
        }
        self.began = (now(), self.grid.now());
        loop {
            let started = now();
            let cut = checkpointer.as_ref().and_then(|checkpointer| checkpointer.next_cut(self.grid.now()));
            let halt = checkpointer.is_some().then(|| control.halt());
            let events = checkpointer.as_ref().and_then(|checkpointer| checkpointer.events_left());
            let segment = self.segment(cut, halt, events);
            self.driven += now() - started;
            match (segment?, checkpointer.as_deref_mut()) {
                (RunSegment::Over, _) | (_, None) => break,
                (RunSegment::Barrier(at), Some(checkpointer)) => {
                    control.halt().clear();
                    let last = control.is_stopped();
                    checkpointer.take(&mut self.standing(), at, last)?;
                }
            }
        }
        let started = now();
        let mut watched;
        let sink: &mut dyn RecordSink = match &mut self.witness {
            Some(witness) => {
                watched = Watched { witness: &mut **witness, inner: &mut self.recorder };
                &mut watched
            }
            None => &mut self.recorder,
        };
        let ended = match self.driver {
            Driver::Alone => self.grid.finish_single(sink),
            _ => self.grid.finish_run(self.until, &mut self.merge, sink),
        };
        self.driven += now() - started;
        ended.map_err(|error| RunError::from_running(&error))
    }

    fn segment(
        &mut self,
        cut: Option<Time>,
        halt: Option<&Halt>,
        events: Option<u64>,
    ) -> Result<RunSegment, RunError> {
        let Self { grid, merge, recorder, witness, until, .. } = self;
        let (mut counting, mut watched);
        let sink: &mut dyn RecordSink = match (halt, events, witness) {
            (_, _, Some(witness)) => {
                watched = Watched { witness: &mut **witness, inner: recorder };
                &mut watched
            }
            (Some(halt), Some(left), None) => {
                counting = Counting { left, halt, inner: recorder };
                &mut counting
            }
            _ => recorder,
        };
        let windows = WindowOptions { halt: halt.cloned(), ..WindowOptions::default() };
        match self.driver {
            Driver::Alone => {
                grid.single_site_segment(cut, halt, sink).map_err(|error| RunError::from_running(&error))
            }
            Driver::Loop => {
                let ran = grid.run_segment(*until, cut, windows, merge, sink);
                ran.map_err(|error| RunError::from_running(&error))
            }
            Driver::Actors { threads, pace } => {
                let (began, begin) = self.began;
                let options = RuntimeOptions {
                    windows,
                    threads,
                    pace,
                    begin,
                    began: Some(began),
                    outside: self.outside.clone(),
                    ..RuntimeOptions::default()
                };
                let ran = runtime::run_segment(grid, *until, cut, options, merge, sink);
                ran.map_err(|error| RunError::from_actors(&error))
            }
        }
    }
}

/// Adds to the error of a failed run where its files are.
fn failed(error: RunError, folder: Option<&Path>, progress: &Progress) -> RunError {
    match folder {
        Some(folder) => error.and(&format!(
            "{} jobs had ended by then; their rows are in `{}`",
            progress.jobs(),
            folder.display()
        )),
        None => error,
    }
}

/// Requests a barrier after a number of records.
struct Counting<'a> {
    left: u64,
    halt: &'a Halt,
    inner: &'a mut dyn RecordSink,
}

impl RecordSink for Counting<'_> {
    fn record(&mut self, record: Record) {
        self.inner.record(record);
        self.left = self.left.saturating_sub(1);
        if self.left == 0 {
            self.halt.ask();
        }
    }

    fn is_closed(&self) -> bool {
        self.inner.is_closed()
    }
}

/// Passes each record to a witness too.
struct Watched<'a> {
    witness: &'a mut dyn RecordSink,
    inner: &'a mut dyn RecordSink,
}

impl RecordSink for Watched<'_> {
    fn record(&mut self, record: Record) {
        self.witness.record(record.clone());
        self.inner.record(record);
    }

    fn is_closed(&self) -> bool {
        self.inner.is_closed()
    }
}
