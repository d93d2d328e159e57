//! The errors of a run: bad requests and failures.

use std::fmt;
use std::path::Path;

use crate::entity::{Address, EntityError, Stamp};
use crate::grid::{GridError, WindowError};
use crate::local::PartitionError;
use crate::output::{OutputError, ReadError};
use crate::runtime::RuntimeError;
use crate::store::StoreError;
use crate::units::Time;
use crate::workload::SourceError;

/// The text of an error: what happened, and what to do about it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Details {
    /// What happened.
    pub problem: String,
    /// What to do about it.
    pub hint: Option<String>,
}

/// The reasons why a run did not begin or did not end normally.
///
/// ```
/// use gridemu::experiment::{Progress, ReplayScenario, RunError};
/// use gridemu::grid::Policies;
///
/// let replay = ReplayScenario::new("nowhere.swf".parse()?);
/// match replay.run(&[], &Policies::standard()) {
///     Err(RunError::Request(details)) => assert!(details.problem.contains("nowhere.swf")),
///     other => panic!("{other:?}"),
/// }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum RunError {
    /// The request is invalid; nothing has been done.
    Request(Details),
    /// Jobs are left that no event will ever start.
    Stuck {
        /// The time at which the run was given up.
        at: Time,
        /// The number of jobs left.
        jobs: usize,
        /// The text of the error.
        details: Details,
    },
    /// An instant does not end: messages circulate without delay.
    Endless {
        /// The instant, and the round that was one too many.
        at: Stamp,
        /// The text of the error.
        details: Details,
    },
    /// An entity does not return from a call.
    Stalled {
        /// The entity.
        entity: Address,
        /// The moment of the call.
        at: Stamp,
        /// The text of the error.
        details: Details,
    },
    /// The actor of an entity has ended, or has dropped a request.
    LostReply {
        /// The entity.
        entity: Address,
        /// The moment of the request.
        at: Stamp,
        /// The text of the error.
        details: Details,
    },
    /// An entity panicked.
    Panicked {
        /// The entity.
        entity: Address,
        /// The moment of the call.
        at: Stamp,
        /// The message of the panic.
        message: String,
        /// The text of the error.
        details: Details,
    },
    /// A policy returned an invalid action or plan.
    Policy(Details),
    /// The counts of jobs do not add up: a defect of this library.
    Unbalanced(Details),
    /// A workload cannot be read to its end.
    Workload(Details),
    /// A file of the run cannot be written.
    Output(Details),
    /// A snapshot or a result cannot be written.
    Store(Details),
    /// Any other error that ends a run after its beginning. Results up to then are in its files.
    Run(Details),
    /// The run was asked to stop, and can go on.
    Stopped {
        /// The virtual time at which it stopped; `None` for a campaign.
        at: Option<Time>,
        /// The text of the error.
        details: Details,
    },
}

impl Details {
    fn new(problem: impl fmt::Display) -> Self {
        Self { problem: problem.to_string(), hint: None }
    }

    fn with(self, hint: Option<String>) -> Self {
        Self { hint, ..self }
    }
}

impl RunError {
    /// A bad request.
    pub fn request(problem: impl fmt::Display) -> Self {
        Self::Request(Details::new(problem))
    }

    /// A failed run.
    pub fn run(problem: impl fmt::Display) -> Self {
        Self::Run(Details::new(problem))
    }

    /// The text of the error.
    pub const fn details(&self) -> &Details {
        match self {
            Self::Request(details)
            | Self::Policy(details)
            | Self::Unbalanced(details)
            | Self::Workload(details)
            | Self::Output(details)
            | Self::Store(details)
            | Self::Run(details)
            | Self::Stuck { details, .. }
            | Self::Endless { details, .. }
            | Self::Stalled { details, .. }
            | Self::LostReply { details, .. }
            | Self::Panicked { details, .. }
            | Self::Stopped { details, .. } => details,
        }
    }

    const fn details_mut(&mut self) -> &mut Details {
        match self {
            Self::Request(details)
            | Self::Policy(details)
            | Self::Unbalanced(details)
            | Self::Workload(details)
            | Self::Output(details)
            | Self::Store(details)
            | Self::Run(details)
            | Self::Stuck { details, .. }
            | Self::Endless { details, .. }
            | Self::Stalled { details, .. }
            | Self::LostReply { details, .. }
            | Self::Panicked { details, .. }
            | Self::Stopped { details, .. } => details,
        }
    }

    /// The same error with a hint.
    #[must_use]
    pub fn with_hint(mut self, what_to_do: impl Into<String>) -> Self {
        self.details_mut().hint = Some(what_to_do.into());
        self
    }

    /// The same error with a hint, if there is one.
    #[must_use]
    pub fn with_maybe_hint(self, what_to_do: Option<impl Into<String>>) -> Self {
        match what_to_do {
            Some(hint) => self.with_hint(hint),
            None => self,
        }
    }

    /// The same error with an addition to its problem.
    #[must_use]
    pub fn and(mut self, more: &str) -> Self {
        let problem = &mut self.details_mut().problem;
        problem.push_str("; ");
        problem.push_str(more);
        self
    }

    /// The same error, attributed to a part of the request: `the workload of site ...: ...`.
    #[must_use]
    pub fn within(mut self, part: &str) -> Self {
        let details = self.details_mut();
        details.problem = format!("{part}: {}", details.problem);
        self
    }

    /// The hint, if there is one.
    pub fn hint(&self) -> Option<&str> {
        self.details().hint.as_deref()
    }

    /// The error of a run that was stopped, with a last snapshot at `at` in `store`.
    pub(super) fn stopped(at: Time, store: &Path) -> Self {
        let store = store.display();
        let details =
            Details::new(format!("stopped at {at} s of the run, with everything saved in `{store}`"));
        let hint = format!("`gridemu resume {}` continues from there", typed(&store.to_string()));
        Self::Stopped { at: Some(at), details: details.with(Some(hint)) }
    }

    /// The error of a campaign that was stopped; `details` describe its progress.
    pub(crate) fn campaign_stopped(details: String) -> Self {
        let hint = "the same command continues".to_owned();
        Self::Stopped { at: None, details: Details::new(details).with(Some(hint)) }
    }

    /// 2 for a bad request, 1 for a failed run, 130 (as after Ctrl-C) for one that was stopped.
    pub const fn exit_code(&self) -> u8 {
        match self {
            Self::Request(_) => 2,
            Self::Stopped { .. } => 130,
            _ => 1,
        }
    }

    /// A source that cannot be opened is a bad request; one that fails later fails the run.
    pub(super) fn from_opening(error: &SourceError) -> Self {
        Self::request(error).with_maybe_hint(error.hint())
    }

    /// A workload fails while it is read.
    pub(crate) fn from_reading(error: &SourceError) -> Self {
        Self::Workload(Details::new(error)).with_maybe_hint(error.hint())
    }

    /// An error of building the grid, before the first event.
    pub(super) fn from_building(error: &GridError) -> Self {
        Self::request(error).with_maybe_hint(grid_hint(error))
    }

    /// An error of the actors.
    pub(super) fn from_actors(error: &RuntimeError) -> Self {
        let details = |hint: &str| Details::new(error).with(Some(hint.to_owned()));
        let author = "this is a bug of the policy: report it to its author";
        let engine = "try `--engine direct`";
        match error {
            RuntimeError::Grid(error) => Self::from_running(error),
            RuntimeError::Entity(error) => Self::from_running(&GridError::Entity(error.clone())),
            RuntimeError::Window(error) => Self::from_running(&GridError::Window(error.clone())),
            RuntimeError::Panicked { entity, at, message } => Self::Panicked {
                entity: *entity,
                at: *at,
                message: message.clone(),
                details: details(author),
            },
            RuntimeError::Stalled { entity, at, .. } => {
                Self::Stalled { entity: *entity, at: *at, details: details(engine) }
            }
            RuntimeError::LostReply { entity, at } => {
                Self::LostReply { entity: *entity, at: *at, details: details(engine) }
            }
            RuntimeError::Conductor(_) => Self::Run(details(author)),
            _ => Self::run(error),
        }
    }

    /// An error of a store that cannot be opened or read.
    pub(super) fn from_store(error: &StoreError) -> Self {
        match error {
            StoreError::NoSnapshot { path, skipped } if skipped.is_empty() => {
                let path = path.display();
                Self::request(format!("`{path}` has no snapshot: the run ended before its first one"))
                    .with_hint("start it again with `--checkpoint-anew`")
            }
            StoreError::Occupied { path, finished, .. } => {
                let path = typed(&path.display().to_string());
                let go_on = if *finished {
                    format!("`gridemu resume {path}` prints its result")
                } else {
                    format!("`gridemu resume {path}` continues it")
                };
                Self::request(error)
                    .with_hint(format!("{go_on}; `--checkpoint-anew` removes it and starts again"))
            }
            _ => Self::request(error).with_hint(error.hint()),
        }
    }

    /// The output files have changed since the snapshot.
    pub(super) fn from_resuming(error: &OutputError) -> Self {
        Self::request(error).with_hint(error.hint())
    }

    /// A snapshot does not fit the grid.
    pub(super) fn from_restoring(error: &GridError) -> Self {
        let hint = match error {
            GridError::Entity(EntityError::Source(_)) => {
                "restore the workload as it was when the run began, or run again"
            }
            _ => "resume it with the version of gridemu that wrote it (`gridemu snapshots STORE` says which)",
        };
        Self::request(error).with_hint(hint)
    }

    /// An error after the first event.
    pub(super) fn from_running(error: &GridError) -> Self {
        let details = Details::new(error).with(grid_hint(error));
        match error {
            GridError::Stuck { at, total, .. } => Self::Stuck { at: *at, jobs: *total, details },
            GridError::Unbalanced { .. } => Self::Unbalanced(details),
            GridError::Entity(EntityError::Stalled { at, .. })
            | GridError::Window(WindowError::Stalled { at, .. }) => Self::Endless { at: *at, details },
            GridError::Entity(EntityError::Source(_)) => Self::Workload(details),
            GridError::Entity(EntityError::Partition(PartitionError::Policy(_))) => Self::Policy(details),
            _ => Self::Run(details),
        }
    }
}

fn grid_hint(error: &GridError) -> Option<String> {
    match error {
        GridError::Entity(EntityError::Source(source)) => source.hint().map(str::to_owned),
        GridError::Entity(EntityError::Registry(_)) => {
            Some("`gridemu policies` lists them with their parameters".to_owned())
        }
        GridError::Entity(error) => entity_hint(error).map(str::to_owned),
        GridError::Stuck { .. } => Some(
            "machines that they need never come back, or a policy starts nothing: see the last lines of events.csv; `until` ends a run in any case".to_owned(),
        ),
        GridError::Unbalanced { .. } | GridError::Window(_) => {
            Some("this is a bug of the policy: report it to its author".to_owned())
        }
        _ => None,
    }
}

fn entity_hint(error: &EntityError) -> Option<&'static str> {
    match error {
        EntityError::Unable { .. } => Some("choose another policy, or leave the option out"),
        EntityError::Partition(PartitionError::EndOfTime { .. }) => {
            Some("a run time is too long: `gridemu inspect` shows the longest")
        }
        EntityError::Partition(PartitionError::Policy(_)) => {
            Some("this is a bug of the policy: report it to its author")
        }
        _ => None,
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
        Self::Output(Details::new(&error)).with_hint(error.hint())
    }
}

impl From<StoreError> for RunError {
    fn from(error: StoreError) -> Self {
        Self::Store(Details::new(&error)).with_hint(error.hint())
    }
}

impl fmt::Display for RunError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.details().problem)
    }
}

impl std::error::Error for RunError {}

/// Quotes a path as it is typed in a shell.
fn typed(path: &str) -> String {
    let plain = |c: char| c.is_alphanumeric() || matches!(c, '/' | '.' | '-' | '_' | '+' | '=' | '~');
    if path.chars().all(plain) { path.to_owned() } else { format!("'{}'", path.replace('\'', r"'\''")) }
}

#[cfg(test)]
mod tests;
