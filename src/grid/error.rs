//! Errors of a grid.

use thiserror::Error;

use super::{DriveError, WindowError};
use crate::entity::EntityError;
use crate::model::{JobId, SiteId};
use crate::units::Time;

/// A job that will never start.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Waiter {
    /// The job.
    pub job: JobId,
    /// The site where it waits; `None` if it waits with the broker.
    pub site: Option<String>,
    /// The processors that it needs.
    pub procs: u32,
}

/// An error that ends a run of a grid.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum GridError {
    /// A grid without sites.
    #[error("the grid has no site")]
    NoSite,
    /// Two sites with one name.
    #[error("two sites are called `{0}`")]
    TwoSites(String),
    /// A command to a site that does not exist.
    #[error("there is no site number {0}")]
    NoSuchSite(SiteId),
    /// A gap in the journal of commands.
    #[error("command number {expected} is missing in the journal: the next one is number {found}")]
    MissingCommand {
        /// The first number that is missing.
        expected: u64,
        /// The number that was found.
        found: u64,
    },
    /// A workload for the portal in a grid without a broker.
    #[error("jobs come through the portal, but the grid has no broker")]
    NoBroker,
    /// An error in an entity.
    #[error(transparent)]
    Entity(#[from] EntityError),
    /// Jobs are left and none of them can move any more.
    #[error("stuck at {at} s: nothing can happen any more, but {}: {}", left(*.total), list(.first, *.total))]
    Stuck {
        /// The end of the run.
        at: Time,
        /// The number of jobs that are left.
        total: usize,
        /// The first of them.
        first: Vec<Waiter>,
    },
    /// The outcomes do not sum to what was submitted: a mistake in this library.
    #[error("{who} received {arrived} jobs and recorded the end of {ended}; this is a bug of gridemu")]
    Unbalanced {
        /// The site, or the grid.
        who: String,
        /// The number of jobs that arrived.
        arrived: u64,
        /// The number of jobs that ended, in whatever way.
        ended: u64,
    },
    /// A violation of the rules that windows rely on, or messages that go round in a circle.
    #[error(transparent)]
    Window(#[from] WindowError),
    /// The sink accepts no more records; its owner knows the cause.
    #[error("the records of the run cannot be written any more")]
    SinkClosed,
    /// A grid that is not a single site.
    #[error("only a single site without a broker and without churn can be run and saved without windows")]
    NotSingle,
    /// A snapshot that does not fit the grid.
    #[error("the saved state cannot be restored: {0}")]
    BadSave(String),
}

impl GridError {
    pub(super) fn stuck(at: Time, mut waiters: Vec<Waiter>) -> Self {
        let total = waiters.len();
        waiters.truncate(5);
        Self::Stuck { at, total, first: waiters }
    }
}

fn left(total: usize) -> String {
    if total == 1 { "1 job is left".to_owned() } else { format!("{total} jobs are left") }
}

fn list(first: &[Waiter], total: usize) -> String {
    let mut text: Vec<String> = first
        .iter()
        .map(|waiter| {
            let processors = if waiter.procs == 1 {
                "1 processor".to_owned()
            } else {
                format!("{} processors", waiter.procs)
            };
            match &waiter.site {
                Some(site) => format!("job {} waits for {processors} of `{site}`", waiter.job),
                None => format!("job {} waits at the broker for {processors}", waiter.job),
            }
        })
        .collect();
    if total > first.len() {
        text.push("…".to_owned());
    }
    text.join(", ")
}

impl From<DriveError> for GridError {
    fn from(error: DriveError) -> Self {
        match error {
            DriveError::Entity(error) => Self::Entity(error),
            DriveError::Window(error) => Self::Window(error),
            DriveError::SinkClosed => Self::SinkClosed,
        }
    }
}
