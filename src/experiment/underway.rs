//! A run between its beginning and its end: it goes in legs, between which it can be saved.

use std::num::NonZeroUsize;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

use super::checkpoint::{Control, Saved, Taker};
use super::clock::now;
use super::recorder::Recorder;
use super::timed::Read;
use super::{Progress, RunError};
use crate::grid::{Grid, Halt, Leg, Merge, WindowOptions};
use crate::metrics::Times;
use crate::model::{Record, RecordSink};
use crate::runtime::{self, Outside, RuntimeOptions};
use crate::units::Time;

/// What drives the entities. It changes no result.
#[derive(Clone, Debug)]
pub(super) enum Driver {
    /// One site by itself: a replay.
    Alone,
    /// The plain loop.
    Loop,
    /// Actors.
    Actors {
        /// On so many threads.
        threads: NonZeroUsize,
        /// Virtual seconds a second of the wall clock.
        pace: Option<f64>,
    },
}

/// A run that has begun.
pub(super) struct Underway<M> {
    pub(super) grid: Grid,
    pub(super) merge: Merge,
    pub(super) recorder: Recorder<M>,
    driver: Driver,
    until: Option<Time>,
    /// Who looks at the records on their way.
    witness: Option<Box<dyn RecordSink + Send>>,
    /// Where commands come in.
    outside: Option<Outside>,
    /// When it began in this process, by the wall clock and in virtual time: a paced run keeps to it.
    began: (Instant, Time),
    /// What its sources know of reading.
    reads: Vec<Arc<Mutex<Read>>>,
    /// Time spent in earlier processes.
    earlier: Spent,
    /// Time spent driving in this one, with what sources and the sink took.
    driven: Duration,
}

/// Where a run's time has gone so far.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Spent {
    /// Driving, with what sources and the sink took.
    pub(super) driven: Duration,
    /// Reading and generating.
    pub(super) read: Duration,
}

impl<M: Saved> Underway<M> {
    /// A run of `grid` to `until` at the latest.
    pub(super) fn new(
        grid: Grid,
        recorder: Recorder<M>,
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

    /// The same, with somebody who looks at the records on their way.
    pub(super) fn witnessed(self, witness: Box<dyn RecordSink + Send>) -> Self {
        Self { witness: Some(witness), ..self }
    }

    /// The same, listening to commands.
    pub(super) fn listening(self, outside: Outside) -> Self {
        Self { outside: Some(outside), ..self }
    }

    /// The same, gone on with in another process.
    pub(super) fn gone_on(self, merge: Merge, earlier: Spent) -> Self {
        Self { merge, earlier, ..self }
    }

    /// How long reading and generating have taken so far in this process.
    fn read(&self) -> Duration {
        let elapsed = |read: &Arc<Mutex<Read>>| read.lock().unwrap_or_else(PoisonError::into_inner).elapsed;
        self.reads.iter().map(elapsed).sum()
    }

    /// Where the time has gone so far.
    pub(super) fn spent(&self) -> Spent {
        let Spent { driven, read } = self.earlier;
        Spent { driven: driven + self.driven, read: read + self.read() }
    }

    /// Runs to the end, with snapshots if there is somebody to take them, closes its files, which are in `folder`, and gives the
    /// `summary` of where its times and all the time of driving have gone; it stands in the files and in the store too.
    ///
    /// # Errors
    /// [`RunError::Run`] if the run breaks, with what was finished in `folder`; [`RunError::Stopped`] if it was asked to stop, after a
    /// last snapshot.
    pub(super) fn carry_out<S: Serialize>(
        mut self,
        mut taker: Option<Taker>,
        progress: &Progress,
        control: &Control,
        folder: Option<&Path>,
        summary: impl FnOnce(&Self, Times, Duration) -> S,
    ) -> Result<S, RunError> {
        let before = self.read();
        let ran = self.go(taker.as_mut(), control);
        let Spent { driven, read } = self.spent();
        // What was read before the run began was not read in it.
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
            // With actors, writing overlaps scheduling, and the difference may be nothing.
            schedule_s: driven.saturating_sub(elsewhere).as_secs_f64(),
            write_s: self.recorder.elapsed.as_secs_f64(),
        };
        let summary = summary(&self, times, driven);
        if let Some(output) = output {
            if taker.is_some() { output.finish_for_good(&summary)? } else { output.finish(&summary)? }
        }
        if let Some(taker) = &mut taker {
            taker.finish(&summary, progress);
        }
        Ok(summary)
    }

    fn go(&mut self, mut taker: Option<&mut Taker>, control: &Control) -> Result<(), RunError> {
        if let Some(taker) = taker.as_deref_mut() {
            taker.begin(self)?;
        }
        self.began = (now(), self.grid.now());
        loop {
            let started = now();
            let cut = taker.as_ref().and_then(|taker| taker.next_cut(self.grid.now()));
            let halt = taker.is_some().then(|| control.halt());
            let events = taker.as_ref().and_then(|taker| taker.events_left());
            let leg = self.leg(cut, halt, events);
            self.driven += now() - started;
            match (leg?, taker.as_deref_mut()) {
                (Leg::Over, _) | (_, None) => break,
                (Leg::Cut(at), Some(taker)) => {
                    control.halt().clear();
                    let last = control.is_stopped();
                    taker.take(self, at, last)?;
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
            Driver::Alone => self.grid.finish_replay(sink),
            _ => self.grid.finish_run(self.until, &mut self.merge, sink),
        };
        self.driven += now() - started;
        ended.map_err(|error| RunError::from_running(&error))
    }

    fn leg(&mut self, cut: Option<Time>, halt: Option<&Halt>, events: Option<u64>) -> Result<Leg, RunError> {
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
            Driver::Alone => grid.replay_leg(cut, halt, sink).map_err(|error| RunError::from_running(&error)),
            Driver::Loop => {
                let ran = grid.run_leg(*until, cut, windows, merge, sink);
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
                let ran = runtime::run_leg(grid, *until, cut, options, merge, sink);
                ran.map_err(|error| RunError::from_actors(&error))
            }
        }
    }
}

/// A run that broke, and where its files are.
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

/// Asks for a cut after so many records.
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

/// Shows records to somebody on their way.
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
