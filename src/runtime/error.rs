//! Errors that end a run of actors.

use std::time::Duration;

use thiserror::Error;

use crate::entity::{Address, EntityError, Stamp};
use crate::grid::{GridError, WindowError};

/// An error that ends a run.
#[derive(Clone, Debug, PartialEq, Error)]
#[non_exhaustive]
pub enum RuntimeError {
    /// An error in an entity.
    #[error(transparent)]
    Entity(#[from] EntityError),
    /// An error of the grid as a whole: no job can move, or its sums are wrong.
    #[error(transparent)]
    Grid(#[from] GridError),
    /// A violation of the rules that windows rely on.
    #[error(transparent)]
    Window(#[from] WindowError),
    /// The sink accepts no more records; its owner knows the cause.
    #[error("the records of the run cannot be written any more")]
    SinkClosed,
    /// An entity panicked.
    #[error("{entity} panicked at {at}: {message}")]
    Panicked {
        /// The entity.
        entity: Address,
        /// The moment that it was to handle.
        at: Stamp,
        /// The message of the panic.
        message: String,
    },
    /// An actor that has stopped, or has dropped its request.
    #[error("{entity} was asked to handle {at}, but its actor never answered")]
    LostReply {
        /// The entity.
        entity: Address,
        /// The moment that it was to handle.
        at: Stamp,
    },
    /// An entity that does not answer.
    #[error("{entity} has not answered for more than {} s, at {at} of the run", .patience.as_secs_f64())]
    Stalled {
        /// The entity.
        entity: Address,
        /// The moment that it handles.
        at: Stamp,
        /// The time without a sign of life after which the run ended.
        patience: Duration,
    },
    /// A failure of the conductor, which is a bug of this library.
    #[error("the conductor of the actors has broken down: {0}; this is a bug of gridemu")]
    Conductor(String),
    /// The system starts no thread.
    #[error("no thread could be started for the actors: {0}")]
    NoThread(String),
    /// An invalid pace.
    #[error("a pace of {0} is not possible; it must be a number of virtual seconds per second, above zero")]
    BadPace(f64),
}
