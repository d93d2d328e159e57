//! What can go wrong between entities.

use thiserror::Error;

use crate::entity::{Address, Stamp};

/// Somebody did not keep to what the others rely on.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum WindowError {
    /// A message that its sender had promised not to send yet.
    #[error(
        "{entity} promised to send nothing before {promised}, but sent a message to {to} that left at {sent} at the \
         latest (it arrives at {arrival}); this is a bug of gridemu, and promises can be turned off meanwhile"
    )]
    PromiseBroken {
        /// Who promised.
        entity: Address,
        /// To whom it sent.
        to: Address,
        /// The moment before which nothing was to be sent.
        promised: Stamp,
        /// The latest moment at which it can have been sent: its arrival less the smallest latency.
        sent: Stamp,
        /// When it arrives.
        arrival: Stamp,
    },
    /// A message for a moment that its receiver has passed.
    #[error("{from} sent a message to {to} for {arrival}, but everything before {passed} has happened there")]
    Late {
        /// Who sent.
        from: Address,
        /// To whom.
        to: Address,
        /// When it was to arrive.
        arrival: Stamp,
        /// What the receiver has passed.
        passed: Stamp,
    },
    /// A message from outside for a moment that has passed.
    #[error("{to} cannot be told anything for {arrival}: everything before {passed} may have happened")]
    Past {
        /// To whom.
        to: Address,
        /// When it was to arrive.
        arrival: Stamp,
        /// How far somebody has got.
        passed: Stamp,
    },
    /// A message to nobody.
    #[error("{from} sent a message to {to}, who is not part of this grid")]
    NoReceiver {
        /// Who sent.
        from: Address,
        /// To whom.
        to: Address,
    },
    /// An entity that does not move on.
    #[error("{entity} was brought up to {until}, but says that its next event is at {next}")]
    Behind {
        /// Who.
        entity: Address,
        /// What it should have handled everything before.
        until: Stamp,
        /// What it says comes next.
        next: Stamp,
    },
    /// Too many rounds at one instant: messages go round in a circle.
    #[error("{entity} does not get past {at}: {} rounds at one instant{}", .at.round, pairs(.talk))]
    Stalled {
        /// Who has something to do in the last round.
        entity: Address,
        /// Where it stands.
        at: Stamp,
        /// Sender and receiver of the last messages without delay.
        talk: Vec<(Address, Address)>,
    },
    /// Two entities that cannot be told apart.
    #[error("two entities of the grid are {0}")]
    TwoEntities(Address),
    /// Groups that do not cover the entities.
    #[error("groups of {grouped} entities were given for {entities}")]
    Groups {
        /// Members of all groups.
        grouped: usize,
        /// Entities.
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
