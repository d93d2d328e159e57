//! What can go wrong with a run, and whose fault it is.

use std::fmt;
use std::path::Path;

use crate::entity::EntityError;
use crate::grid::GridError;
use crate::local::PartitionError;
use crate::model::SiteError;
use crate::report::{OutputError, ReadError};
use crate::runtime::RuntimeError;
use crate::store::StoreError;
use crate::units::Time;
use crate::workload::SourceError;

/// A run that did not happen, or did not end well.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RunError {
    /// What was asked for cannot be run: nothing has been done.
    Request {
        /// What is wrong.
        problem: String,
        /// What to do.
        hint: Option<String>,
    },
    /// The run failed: what was finished before is in the output.
    Run {
        /// What happened.
        problem: String,
        /// What to do.
        hint: Option<String>,
    },
    /// The run was asked to stop, and can go on.
    Stopped {
        /// Where it stands.
        problem: String,
        /// How it goes on.
        hint: Option<String>,
    },
}

impl RunError {
    /// A bad request.
    pub fn request(problem: impl fmt::Display) -> Self {
        Self::Request { problem: problem.to_string(), hint: None }
    }

    /// A failed run.
    pub fn run(problem: impl fmt::Display) -> Self {
        Self::Run { problem: problem.to_string(), hint: None }
    }

    /// The same with what to do about it.
    #[must_use]
    pub fn with_hint(mut self, what_to_do: impl Into<String>) -> Self {
        let (Self::Request { hint, .. } | Self::Run { hint, .. } | Self::Stopped { hint, .. }) = &mut self;
        *hint = Some(what_to_do.into());
        self
    }

    /// The same with what to do about it, if there is something.
    #[must_use]
    pub fn with_maybe_hint(self, what_to_do: Option<impl Into<String>>) -> Self {
        match what_to_do {
            Some(hint) => self.with_hint(hint),
            None => self,
        }
    }

    /// The same with more to say about it.
    #[must_use]
    pub fn and(mut self, more: &str) -> Self {
        let (Self::Request { problem, .. } | Self::Run { problem, .. } | Self::Stopped { problem, .. }) =
            &mut self;
        problem.push_str("; ");
        problem.push_str(more);
        self
    }

    /// The same of a part of what was asked for: `the workload of site ...: ...`.
    #[must_use]
    pub fn within(mut self, part: &str) -> Self {
        let (Self::Request { problem, .. } | Self::Run { problem, .. } | Self::Stopped { problem, .. }) =
            &mut self;
        *problem = format!("{part}: {problem}");
        self
    }

    /// What to do about it.
    pub fn hint(&self) -> Option<&str> {
        let (Self::Request { hint, .. } | Self::Run { hint, .. } | Self::Stopped { hint, .. }) = self;
        hint.as_deref()
    }

    /// A run that was asked to stop, with a last snapshot at `at` in `store`.
    pub(super) fn stopped(at: Time, store: &Path) -> Self {
        let store = store.display();
        Self::Stopped {
            problem: format!("stopped at {at} s of the run, with everything saved in `{store}`"),
            hint: Some(format!("`gridemu resume {}` goes on from there", typed(&store.to_string()))),
        }
    }

    /// 2 for a bad request, 1 for a failed run, 130 (as after Ctrl-C) for one that was stopped.
    pub const fn exit_code(&self) -> u8 {
        match self {
            Self::Request { .. } => 2,
            Self::Run { .. } => 1,
            Self::Stopped { .. } => 130,
        }
    }

    /// A source that cannot even begin is a bad request; one that breaks later fails the run.
    pub(super) fn from_opening(error: &SourceError) -> Self {
        Self::Request { problem: error.to_string(), hint: error.hint().map(str::to_owned) }
    }

    /// A workload that breaks in the middle of being read.
    pub(crate) fn from_reading(error: &SourceError) -> Self {
        Self::Run { problem: error.to_string(), hint: error.hint().map(str::to_owned) }
    }

    /// An error before the first event.
    pub(super) fn from_building(error: &GridError) -> Self {
        Self::Request { problem: error.to_string(), hint: grid_hint(error) }
    }

    /// An error of the actors.
    pub(super) fn from_actors(error: &RuntimeError) -> Self {
        let hint = match error {
            RuntimeError::Grid(error) => grid_hint(error),
            RuntimeError::Entity(error) => grid_hint(&GridError::Entity(error.clone())),
            RuntimeError::Panicked { .. } | RuntimeError::Conductor(_) | RuntimeError::Window(_) => {
                Some("this should not happen: tell the policy's author".to_owned())
            }
            RuntimeError::Stalled { .. } | RuntimeError::LostReply { .. } => {
                Some("see whether it goes on with `--engine direct`".to_owned())
            }
            _ => None,
        };
        Self::Run { problem: error.to_string(), hint }
    }

    /// A store that cannot be used.
    pub(super) fn from_store(error: &StoreError) -> Self {
        match error {
            StoreError::NoSnapshot { path, skipped } if skipped.is_empty() => {
                let path = path.display();
                Self::request(format!(
                    "nothing has been saved in `{path}`: the run ended before its first snapshot"
                ))
                .with_hint("begin it again, with `--checkpoint-anew`")
            }
            StoreError::Occupied { path, finished, .. } => {
                let path = typed(&path.display().to_string());
                let go_on = if *finished {
                    format!("`gridemu resume {path}` prints what it ended in")
                } else {
                    format!("`gridemu resume {path}` goes on with it")
                };
                Self::request(error)
                    .with_hint(format!("{go_on}; `--checkpoint-anew` removes it and begins again"))
            }
            _ => Self::request(error).with_hint(error.hint()),
        }
    }

    /// Files of a run that are not what they were.
    pub(super) fn from_resuming(error: &OutputError) -> Self {
        Self::request(error).with_hint(error.hint())
    }

    /// A snapshot that does not fit.
    pub(super) fn from_restoring(error: &GridError) -> Self {
        let hint = match error {
            GridError::Entity(EntityError::Source(_)) => {
                "put the workload back as it was when the run began, or run anew"
            }
            _ => "resume it with the version of gridemu that wrote it (`gridemu snapshots STORE` says which)",
        };
        Self::request(error).with_hint(hint)
    }

    /// An error after it.
    pub(super) fn from_running(error: &GridError) -> Self {
        Self::Run { problem: error.to_string(), hint: grid_hint(error) }
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
        GridError::Unbalanced { .. } => Some("this should not happen: tell the policy's author".to_owned()),
        _ => None,
    }
}

fn entity_hint(error: &EntityError) -> Option<&'static str> {
    match error {
        EntityError::Unable { .. } => Some("choose another policy, or leave the option out"),
        EntityError::Partition(PartitionError::EndOfTime { .. }) => {
            Some("run times that long cannot be meant: `gridemu inspect` shows the longest")
        }
        EntityError::Partition(PartitionError::Policy(_)) => {
            Some("the policy is wrong and not what it was asked for: tell its author")
        }
        EntityError::Site(error) => Some(match error {
            SiteError::NoPartition(_) => "give the site a partition",
            SiteError::NoProcessors { .. } | SiteError::TooManyProcessors { .. } => {
                "say how many the machine has with `--procs N`"
            }
            SiteError::Quantum { .. } => "choose another `--quantum`, or another machine with `--procs N`",
            SiteError::Speed(_) => "choose another `--speed`",
            SiteError::Power { .. } => "raise `--busy` or lower `--idle`",
            SiteError::TooMuch(_) => "lower `--busy` or `--price`",
            SiteError::Pue { .. } => "choose another `--pue`",
            SiteError::Tariff { .. } => "correct the site's tariff",
            SiteError::Reservation { .. } => {
                "say `--reserve FROM..TO:PROCS`, such as `2h..4h:64`; together they must fit into the machine"
            }
        }),
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
        Self::run(&error).with_hint(error.hint())
    }
}

impl From<StoreError> for RunError {
    fn from(error: StoreError) -> Self {
        Self::run(&error).with_hint(error.hint())
    }
}

impl fmt::Display for RunError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (Self::Request { problem, .. } | Self::Run { problem, .. } | Self::Stopped { problem, .. }) =
            self;
        f.write_str(problem)
    }
}

impl std::error::Error for RunError {}

/// A path as it is typed in a shell.
fn typed(path: &str) -> String {
    let plain = |c: char| c.is_alphanumeric() || matches!(c, '/' | '.' | '-' | '_' | '+' | '=' | '~');
    if path.chars().all(plain) { path.to_owned() } else { format!("'{}'", path.replace('\'', r"'\''")) }
}
