//! Errors in the messages between entities.

use thiserror::Error;

use crate::entity::{Address, Stamp};

/// A violation of the rules that windows rely on.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum WindowError {
    /// A message that is faster than the latency of its sender's group.
    #[error("{from} sent a message to {to} for {arrival}, but none of its group arrives before {earliest}")]
    TooSoon {
        /// The sender.
        from: Address,
        /// The receiver.
        to: Address,
        /// The arrival of the message.
        arrival: Stamp,
        /// The earliest arrival of a message that the group sends at this moment.
        earliest: Stamp,
    },
    /// A message for a moment that its receiver has passed.
    #[error("{from} sent a message to {to} for {arrival}, but everything before {passed} has happened there")]
    Late {
        /// The sender.
        from: Address,
        /// The receiver.
        to: Address,
        /// The arrival of the message.
        arrival: Stamp,
        /// The moment that the receiver has passed.
        passed: Stamp,
    },
    /// A message from outside for a moment that has passed.
    #[error("{to} cannot receive a message for {arrival}: everything before {passed} may have happened")]
    Past {
        /// The receiver.
        to: Address,
        /// The arrival of the message.
        arrival: Stamp,
        /// The latest moment that any entity has passed.
        passed: Stamp,
    },
    /// A message to an address that does not exist.
    #[error("{from} sent a message to {to}, which is not part of this grid")]
    NoReceiver {
        /// The sender.
        from: Address,
        /// The receiver.
        to: Address,
    },
    /// An entity whose next event lies before the end of its call.
    #[error("{entity} was advanced to {until}, but reports its next event at {next}")]
    Behind {
        /// The entity.
        entity: Address,
        /// The end of its call.
        until: Stamp,
        /// The next event that it reports.
        next: Stamp,
    },
    /// Too many rounds at one instant: messages go round in a circle.
    #[error("{entity} does not get beyond {at}: {} rounds at one instant{}", .at.round, pairs(.talk))]
    Stalled {
        /// An entity that has something to do in the last round.
        entity: Address,
        /// The moment of that round.
        at: Stamp,
        /// Sender and receiver of the last messages without delay.
        talk: Vec<(Address, Address)>,
    },
    /// Two entities with one address.
    #[error("two entities of the grid are {0}")]
    TwoEntities(Address),
    /// Groups whose members do not add up to the entities.
    #[error("groups of {grouped} entities were given for {entities}")]
    Groups {
        /// The number of members of all groups.
        grouped: usize,
        /// The number of entities.
        entities: usize,
    },
}

fn pairs(talk: &[(Address, Address)]) -> String {
    if talk.is_empty() {
        return String::new();
    }
    let pairs: Vec<String> = talk.iter().map(|(from, to)| format!("{from} to {to}")).collect();
    format!("; the last messages were from {}", pairs.join(", "))
}
