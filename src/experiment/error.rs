//! The errors of a run: bad requests and failures.

use std::fmt;
use std::path::Path;

use thiserror::Error;

use crate::entity::{Address, EntityError, Stamp};
use crate::grid::{GridError, WindowError};
use crate::local::PartitionError;
use crate::output::{OutputError, ReadError};
use crate::runtime::RuntimeError;
use crate::scenario::ScenarioError;
use crate::store::StoreError;
use crate::units::{Time, grouped};
use crate::workload::SourceError;

/// Why a run did not begin or did not end normally.
///
/// ```
/// use gridemu::experiment::{Progress, ReplayScenario, RunErrorKind};
/// use gridemu::grid::Policies;
///
/// let replay = ReplayScenario::new("nowhere.swf".parse()?);
/// let error = replay.run(&[], &Policies::standard()).expect_err("there is no such log");
/// assert_eq!(error.kind, RunErrorKind::Request);
/// assert!(error.problem.contains("nowhere.swf"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{problem}{}", left.as_ref().map(|left| format!("; {left}")).unwrap_or_default())]
pub struct RunError {
    /// The kind of error.
    pub kind: RunErrorKind,
    /// What happened.
    pub problem: String,
    /// What the run has left, and where.
    pub left: Option<String>,
    /// What to do about it.
    pub hint: Option<String>,
}

/// The reasons why a run did not begin or did not end normally.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum RunErrorKind {
    /// The request is invalid; nothing has been done.
    Request,
    /// Jobs are left that no event will ever start.
    Stuck {
        /// The time at which the run was given up.
        at: Time,
        /// The number of jobs left.
        jobs: usize,
    },
    /// An instant does not end: messages circulate without delay.
    Endless {
        /// The instant, and the round that was one too many.
        at: Stamp,
    },
    /// An entity does not return from a call.
    Stalled {
        /// The entity.
        entity: Address,
        /// The moment of the call.
        at: Stamp,
    },
    /// The actor of an entity has ended, or has dropped a request.
    LostReply {
        /// The entity.
        entity: Address,
        /// The moment of the request.
        at: Stamp,
    },
    /// An entity panicked.
    Panicked {
        /// The entity.
        entity: Address,
        /// The moment of the call.
        at: Stamp,
        /// The message of the panic.
        message: String,
    },
    /// A policy returned an invalid action or plan.
    Policy,
    /// The counts of jobs do not add up: a defect of this library.
    Unbalanced,
    /// A workload cannot be read to its end.
    Workload,
    /// A file of the run cannot be written.
    Output,
    /// A snapshot or a result cannot be written.
    Store,
    /// Any other error that ends a run after its beginning. Results up to then are in its files.
    Run,
    /// The run was asked to stop, and can go on.
    Stopped {
        /// The virtual time at which it stopped; `None` for a campaign.
        at: Option<Time>,
    },
}

/// The hint at a policy that breaks its contract.
const POLICY_BUG: &str = "this is a bug of the policy: report it to its author";

impl RunError {
    fn new(kind: RunErrorKind, problem: impl fmt::Display) -> Self {
        Self { kind, problem: problem.to_string(), left: None, hint: None }
    }

    /// A bad request.
    pub fn request(problem: impl fmt::Display) -> Self {
        Self::new(RunErrorKind::Request, problem)
    }

    /// A failed run.
    pub fn run(problem: impl fmt::Display) -> Self {
        Self::new(RunErrorKind::Run, problem)
    }

    /// The same error with a hint.
    #[must_use]
    pub fn with_hint(self, what_to_do: impl Into<String>) -> Self {
        Self { hint: Some(what_to_do.into()), ..self }
    }

    /// The same error with a hint, if there is one.
    #[must_use]
    pub fn with_maybe_hint(self, what_to_do: Option<impl Into<String>>) -> Self {
        match what_to_do {
            Some(hint) => self.with_hint(hint),
            None => self,
        }
    }

    /// The same error with what the run has left.
    #[must_use]
    pub(super) fn leaving(self, left: String) -> Self {
        Self { left: Some(left), ..self }
    }

    /// The same error, attributed to a part of the request: `the workload of site ...: ...`.
    #[must_use]
    pub fn within(self, part: &str) -> Self {
        Self { problem: format!("{part}: {}", self.problem), ..self }
    }

    /// The hint, if there is one.
    pub fn hint(&self) -> Option<&str> {
        self.hint.as_deref()
    }

    /// The error of a run that was stopped, with a last snapshot at `at` in `store`.
    pub(super) fn stopped(at: Time, store: &Path) -> Self {
        let store = store.display();
        let problem = format!("stopped at {} of the run, with everything saved in `{store}`", at.told());
        let hint = format!("`gridemu resume {}` continues from there", typed(&store.to_string()));
        Self::new(RunErrorKind::Stopped { at: Some(at) }, problem).with_hint(hint)
    }

    /// The error of a run without a store that was stopped at `at`, when this many `jobs` had ended. `files` are the folder of its files and
    /// their names.
    pub(super) fn stopped_for_good(at: Time, jobs: u64, files: Option<(&Path, Vec<&str>)>) -> Self {
        let (told, jobs) = (
            at.told(),
            match jobs {
                1 => "1 job".to_owned(),
                jobs => format!("{} jobs", grouped(jobs)),
            },
        );
        let problem = format!(
            "stopped at {told} of the run, after {jobs} had ended; it cannot be resumed, since it has no store of snapshots"
        );
        let left = files.map(|(folder, names)| {
            let (names, folder) = (names.join(", "), folder.display());
            format!("{names} in `{folder}` hold all rows up to then ({at} s); there is no summary.json")
        });
        let hint = "`--checkpoint STORE` takes snapshots, also when a run is stopped; `gridemu resume STORE` continues from the last";
        let left = left.or_else(|| Some("its figures are lost, and it wrote no files".to_owned()));
        Self { left, ..Self::new(RunErrorKind::Stopped { at: Some(at) }, problem).with_hint(hint) }
    }

    /// The error of a campaign that was stopped, with its `progress`.
    pub(crate) fn campaign_stopped(progress: String) -> Self {
        Self::new(RunErrorKind::Stopped { at: None }, progress).with_hint("the same command continues")
    }

    /// 2 for a bad request, 1 for a failed run, 130 (as after Ctrl-C) for one that was stopped.
    pub const fn exit_code(&self) -> u8 {
        match self.kind {
            RunErrorKind::Request => 2,
            RunErrorKind::Stopped { .. } => 130,
            _ => 1,
        }
    }

    /// A source that cannot be opened is a bad request; one that fails later fails the run.
    pub(super) fn from_opening(error: SourceError) -> Self {
        Self::request(&error).with_maybe_hint(error.hint())
    }

    /// A workload fails while it is read.
    pub(crate) fn from_reading(error: SourceError) -> Self {
        Self::new(RunErrorKind::Workload, &error).with_maybe_hint(error.hint())
    }

    /// An error of building the grid, before the first event.
    pub(super) fn from_building(error: GridError) -> Self {
        Self::request(&error).with_maybe_hint(grid_hint(&error))
    }

    /// An error of the actors.
    pub(super) fn from_actors(error: RuntimeError) -> Self {
        let problem = error.to_string();
        let (kind, hint) = match error {
            RuntimeError::Grid(error) => return Self::from_running(error),
            RuntimeError::Entity(error) => return Self::from_running(GridError::Entity(error)),
            RuntimeError::Window(error) => return Self::from_running(GridError::Window(error)),
            RuntimeError::Panicked { entity, at, message } => {
                (RunErrorKind::Panicked { entity, at, message }, POLICY_BUG)
            }
            RuntimeError::Stalled { entity, at, .. } => {
                (RunErrorKind::Stalled { entity, at }, "try `--engine direct`")
            }
            RuntimeError::LostReply { entity, at } => {
                (RunErrorKind::LostReply { entity, at }, "try `--engine direct`")
            }
            RuntimeError::Conductor(_) => (RunErrorKind::Run, POLICY_BUG),
            _ => return Self::run(problem),
        };
        Self::new(kind, problem).with_hint(hint)
    }

    /// An error of a store that cannot be opened or read.
    pub(super) fn from_store(error: StoreError) -> Self {
        match &error {
            StoreError::Occupied { path, finished, .. } => {
                let path = typed(&path.display().to_string());
                let does = if *finished { "prints its result" } else { "continues it" };
                Self::request(&error).with_hint(format!(
                    "`gridemu resume {path}` {does}; `--checkpoint-anew` removes it and starts again"
                ))
            }
            _ => Self::request(&error).with_hint(error.hint()),
        }
    }

    /// The output files cannot be created, or have changed since the snapshot.
    pub(super) fn from_files(error: OutputError) -> Self {
        Self::request(&error).with_hint(error.hint())
    }

    /// A snapshot does not fit the grid.
    pub(super) fn from_restoring(error: GridError) -> Self {
        let hint = match error {
            GridError::Entity(EntityError::Source(_)) => {
                "restore the workload as it was when the run began, or run again"
            }
            GridError::Entity(EntityError::BadWorkflow { ref problem, .. })
                if problem.contains("storage") =>
            {
                "give the storages of sites more space"
            }
            _ => "resume it with the version of gridemu that wrote it (`gridemu snapshots STORE` says which)",
        };
        Self::request(error).with_hint(hint)
    }

    /// An error after the first event.
    pub(super) fn from_running(error: GridError) -> Self {
        let kind = match error {
            GridError::Stuck { at, total: jobs, .. } => RunErrorKind::Stuck { at, jobs },
            GridError::Unbalanced { .. } => RunErrorKind::Unbalanced,
            GridError::Entity(EntityError::Stalled { at, .. })
            | GridError::Window(WindowError::Stalled { at, .. }) => RunErrorKind::Endless { at },
            GridError::Entity(EntityError::Source(_)) => RunErrorKind::Workload,
            GridError::Entity(EntityError::Partition(PartitionError::Policy(_))) => RunErrorKind::Policy,
            _ => RunErrorKind::Run,
        };
        Self::new(kind, &error).with_maybe_hint(grid_hint(&error))
    }
}

fn grid_hint(error: &GridError) -> Option<&str> {
    match error {
        GridError::Entity(EntityError::Source(source)) => source.hint(),
        GridError::Entity(EntityError::Registry(_)) => {
            Some("`gridemu policies` lists them with their parameters")
        }
        GridError::Entity(EntityError::Unable { .. }) => {
            Some("choose another policy, or leave the option out")
        }
        GridError::Entity(EntityError::Partition(PartitionError::EndOfTime { .. })) => {
            Some("a run time is too long: `gridemu inspect` shows the longest")
        }
        GridError::Stuck { churn: true, .. } => Some(
            "the machines that one of these jobs needs are never up at once, or a policy starts nothing: see the last lines of events.csv; `until` ends a run in any case",
        ),
        GridError::Stuck { .. } => Some(
            "machines that they need never come back, or a policy starts nothing: see the last lines of events.csv; `until` ends a run in any case",
        ),
        GridError::Unbalanced { .. }
        | GridError::Window(_)
        | GridError::Entity(EntityError::Partition(PartitionError::Policy(_))) => Some(POLICY_BUG),
        _ => None,
    }
}

impl From<ScenarioError> for RunError {
    fn from(error: ScenarioError) -> Self {
        Self::request(error)
    }
}

impl From<ReadError> for RunError {
    /// A folder that cannot be read is a bad request.
    fn from(error: ReadError) -> Self {
        Self::request(&error).with_maybe_hint(error.hint())
    }
}

impl From<OutputError> for RunError {
    fn from(error: OutputError) -> Self {
        Self::new(RunErrorKind::Output, &error).with_hint(error.hint())
    }
}

impl From<StoreError> for RunError {
    fn from(error: StoreError) -> Self {
        Self::new(RunErrorKind::Store, &error).with_hint(error.hint())
    }
}

/// Quotes a path as it is typed in a shell.
fn typed(path: &str) -> String {
    let plain = |c: char| c.is_alphanumeric() || matches!(c, '/' | '.' | '-' | '_' | '+' | '=' | '~');
    if path.chars().all(plain) { path.to_owned() } else { format!("'{}'", path.replace('\'', r"'\''")) }
}

#[cfg(test)]
mod tests;
