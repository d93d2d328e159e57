//! The past that two futures have in common: the state of a run at the instant of its fork.

use std::path::{Path, PathBuf};

use super::copy;
use crate::experiment::active_run::ActiveRun;
use crate::experiment::checkpoint::Snapshot;
use crate::experiment::resume::Stored;
use crate::experiment::{Progress, Run, RunError};
use crate::grid::JournalEntry;
use crate::metrics::Block;
use crate::output::OutputMark;
use crate::scenario::kind::quantity::Quantity;
use crate::store::{Newest, Section};
use crate::units::{Span, Time};

/// The state of a run at an instant: that of a snapshot, or the one that the run reaches from there.
pub(super) struct Past<'a> {
    stored: &'a Stored,
    pub(super) at: Time,
    /// Jobs that had ended.
    pub(super) jobs: u64,
    sections: Vec<Section>,
    /// The commands that the state does not contain yet.
    journal: Vec<JournalEntry>,
    /// The blocks of measures that the store does not have.
    blocks: Vec<Block>,
    /// The folder with the files of the past; `None` if the run wrote none.
    folder: Option<PathBuf>,
    /// True if the files of the past are those of the unchanged future already.
    is_origin: bool,
}

impl<'a> Past<'a> {
    /// The state at the last snapshot of a run that is not later than `at`, and the number of that snapshot.
    ///
    /// # Errors
    /// `RunErrorKind::Request` if there is none, or it cannot be read.
    pub(super) fn before(stored: &'a Stored, at: Time, progress: &Progress) -> Result<(Self, u64), RunError> {
        let newest = stored.store.newest_before(|barrier| barrier.at <= at);
        let Newest { number, barrier, sections, skipped } = newest.map_err(|error| {
            let times = times(stored);
            match times.first() {
                Some(first) if *first > at => RunError::request(format!(
                    "the first remaining snapshot of `{}` is at {}, after {}",
                    stored.store.folder().display(),
                    first.told(),
                    at.told()
                ))
                .with_hint(match at.since(Time::ZERO) {
                    Span::ZERO => "fork later, or run the changed scenario from its beginning".to_owned(),
                    at => format!(
                        "{}; fork later, or run again and keep a snapshot: `--checkpoint-keep-at '{}'`",
                        listed(&times),
                        at.text()
                    ),
                }),
                _ => RunError::from_store(error),
            }
        })?;
        let (journal, torn) = stored.journal(number)?;
        for (number, why) in &skipped {
            progress.warn(format!("snapshot {number} cannot be used: {why}"));
        }
        if torn {
            progress.note("the last command in the journal is incomplete and was never used; it is ignored");
        }
        let folder = stored.run.scenario().resolved.output.folder.clone();
        let (blocks, jobs, at) = (Vec::new(), barrier.jobs, barrier.at);
        Ok((Self { stored, at, jobs, sections, journal, blocks, folder, is_origin: false }, number))
    }

    /// The state at a later instant: `origin`, the unchanged future, runs on to it. The files of the run, if `origin` writes any, are
    /// copied to its folder first.
    ///
    /// # Errors
    /// `RunErrorKind::Request` if the run is over before; `RunErrorKind::Run` if it fails.
    pub(super) fn run_on(mut self, origin: &Run, at: Time, progress: &Progress) -> Result<Self, RunError> {
        // Known beforehand, it costs nothing, and no file of an earlier fork.
        if let Some(end) = self.stored.ended()?.and_then(|ended| ended.summary.end_s)
            && at.since(Time::ZERO).as_secs_f64() > end
        {
            let end = Time::ZERO + Span::from_secs_f64(end).unwrap_or(Span::MAX);
            return Err(self.over(end, at));
        }
        // A command for later is no part of this stretch.
        let used = self.journal.iter().rposition(|entry| entry.command.at < at).map_or(0, |last| last + 1);
        let later = self.journal.split_off(used);
        let mut active = self.restored(origin, progress, false)?;
        let Some(state) = active.state_at(at)? else {
            return Err(self.over(active.grid.now(), at));
        };
        let folder = origin.scenario().resolved.output.folder.clone();
        Ok(Self {
            at,
            jobs: active.recorder.jobs,
            sections: (state.encode)()?,
            journal: later,
            // A later run finds the blocks of the snapshot in its store.
            blocks: state.blocks,
            is_origin: folder.is_some(),
            folder: folder.or(self.folder),
            stored: self.stored,
        })
    }

    fn over(&self, end: Time, at: Time) -> RunError {
        let [end, at] = [end, at].map(Time::told_exactly);
        RunError::request(format!("the run is over at {end}, so it has no state at {at}"))
            .with_hint(format!("fork before its end; {}", listed(&times(self.stored))))
    }

    /// A future of this past: the unchanged one, or with `adopt` one under another description.
    ///
    /// # Errors
    /// `RunErrorKind::Request` if it cannot continue the state or the files.
    pub(super) fn restored(
        &self,
        future: &Run,
        progress: &Progress,
        adopt: bool,
    ) -> Result<ActiveRun, RunError> {
        let Self { stored, sections, journal, blocks, folder, .. } = self;
        let from = Snapshot { sections, journal, blocks, store: &stored.store };
        let prepare = |to: &Path, mark: &OutputMark| match self.is_origin && folder.as_deref() == Some(to) {
            true => Ok(()),
            false => copy(folder.as_deref(), to, mark),
        };
        future.restored(&from, progress, adopt, prepare)
    }
}

/// The times of the usable snapshots, in ascending order.
fn times(stored: &Stored) -> Vec<Time> {
    let snapshots = stored.store.snapshots().unwrap_or_default().into_iter();
    let mut times: Vec<Time> = snapshots
        .filter(|info| info.damage.is_none())
        .filter_map(|info| info.barrier.map(|barrier| barrier.at))
        .collect();
    times.sort_unstable();
    times
}

/// Snapshots that a message lists one by one.
const LISTED: usize = 8;

/// A clause about the snapshots that there are.
fn listed(times: &[Time]) -> String {
    let told = |times: &[Time]| times.iter().map(|at| at.told()).collect::<Vec<_>>().join(", ");
    match times {
        [one] => format!("the only snapshot is at {}", one.told()),
        [first, .., last] if times.len() > LISTED => {
            format!("there are {} snapshots from {} to {}", times.len(), first.told(), last.told())
        }
        several => format!("there are snapshots at {}", told(several)),
    }
}
