//! What can end a run of actors before its time.

use std::time::Duration;

use thiserror::Error;

use crate::entity::{Address, EntityError, Stamp};
use crate::grid::{DriveError, GridError, WindowError};

/// What ends a run before its time.
#[derive(Clone, Debug, PartialEq, Error)]
pub enum RuntimeError {
    /// Something in an entity.
    #[error(transparent)]
    Entity(#[from] EntityError),
    /// The grid as a whole: it can go no further, or its sums are wrong.
    #[error(transparent)]
    Grid(#[from] GridError),
    /// Somebody did not keep to what the others rely on.
    #[error(transparent)]
    Window(#[from] WindowError),
    /// The records cannot be taken any more; whoever takes them knows why.
    #[error("the records of the run cannot be taken any more")]
    SinkClosed,
    /// An entity panicked.
    #[error("{entity} panicked at {at}: {message}")]
    Panicked {
        /// Who.
        entity: Address,
        /// The moment it was to handle.
        at: Stamp,
        /// What the panic said.
        message: String,
    },
    /// An actor is gone, or has dropped what it was asked.
    #[error("{entity} was asked to handle {at}, but its actor never answered")]
    LostReply {
        /// Who.
        entity: Address,
        /// The moment it was to handle.
        at: Stamp,
    },
    /// An entity does not come back.
    #[error("{entity} has been at work on {at} for more than {} s and shows no sign of life", .patience.as_secs_f64())]
    Stalled {
        /// Who.
        entity: Address,
        /// The moment it handles.
        at: Stamp,
        /// How long was waited.
        patience: Duration,
    },
    /// The conductor has broken down, which is a mistake in this library.
    #[error("the conductor of the actors has broken down: {0}; this is a bug of gridemu")]
    Conductor(String),
    /// The system gives no thread.
    #[error("no thread could be started for the actors: {0}")]
    NoThread(String),
    /// A pace that cannot be kept.
    #[error("a pace of {0} is not possible; it is the number of virtual seconds a second, and above zero")]
    BadPace(f64),
}

impl From<DriveError> for RuntimeError {
    fn from(error: DriveError) -> Self {
        match error {
            DriveError::Entity(error) => Self::Entity(error),
            DriveError::Window(error) => Self::Window(error),
            DriveError::SinkClosed => Self::SinkClosed,
        }
    }
}
