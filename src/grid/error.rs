//! What can go wrong with a grid.

use thiserror::Error;

use super::{DriveError, WindowError};
use crate::entity::{Address, EntityError};
use crate::model::{JobId, SiteId};
use crate::units::Time;

/// A job that nothing will ever start.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Waiter {
    /// The job.
    pub job: JobId,
    /// The site where it waits; `None` if it waits with the broker.
    pub site: Option<String>,
    /// For how many processors.
    pub procs: u32,
}

/// What ends a run of a grid.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum GridError {
    /// Nothing to run on.
    #[error("the grid has no site")]
    NoSite,
    /// Names must be unique.
    #[error("two sites are called `{0}`")]
    TwoSites(String),
    /// A command to nobody.
    #[error("there is no site number {0}")]
    NoSuchSite(SiteId),
    /// Commands are told again, and one of them is lost.
    #[error("command number {expected} is missing: the next one that was written down is number {found}")]
    MissingCommand {
        /// The first that is missing.
        expected: u64,
        /// The one that was found.
        found: u64,
    },
    /// A message to nobody.
    #[error("there is no such entity: {0}")]
    NoSuchEntity(Address),
    /// A workload for the portal, and nobody to take it.
    #[error("jobs come through the portal, but the grid has no broker")]
    NoBroker,
    /// Something in an entity.
    #[error(transparent)]
    Entity(#[from] EntityError),
    /// Nothing moves any more and jobs are left.
    #[error("at {at} s nothing moves any more, but {}: {}", left(*.total), list(.first, *.total))]
    Stuck {
        /// When the last thing happened.
        at: Time,
        /// Jobs that are left.
        total: usize,
        /// The first of them.
        first: Vec<Waiter>,
    },
    /// The outcomes do not sum to what was submitted: a mistake in this library.
    #[error("{who} was given {arrived} jobs and recorded the end of {ended}; this is a bug of gridemu")]
    Unbalanced {
        /// Who.
        who: String,
        /// Jobs that arrived.
        arrived: u64,
        /// Jobs that ended, in whatever way.
        ended: u64,
    },
    /// Somebody did not keep to what the others rely on, or the grid goes round in a circle.
    #[error(transparent)]
    Window(#[from] WindowError),
    /// The records cannot be taken any more; whoever takes them knows why.
    #[error("the records of the run cannot be taken any more")]
    SinkClosed,
    /// Not one site by itself.
    #[error("only one site without a broker and without churn can be run and cut without windows")]
    NoReplay,
    /// A snapshot that does not fit.
    #[error("the saved state cannot be taken back: {0}")]
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
                None => format!("job {} waits with the broker for {processors}", waiter.job),
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
