//! The entities of a grid as pure state machines over messages: no clock, no I/O, no actors.
//!
//! An entity is advanced to a [`Stamp`]: it handles everything earlier in one total order, and answers with messages and
//! records. The driver (a plain loop in [`crate::grid`], or actors) has no influence on the answers.

mod broker;
mod directory;
mod dispatcher;
mod error;
mod faults;
mod mailbox;
mod message;
mod network;
mod portal;
mod quiescence;
mod site;

pub use broker::{AwaitedFile, Broker, BrokerSave, BrokerTally, Reserving};
pub use directory::Directory;
pub use dispatcher::{DispatchTally, Dispatcher, Whereabouts};
pub use error::EntityError;
pub use message::{
    Address, Body, EndedJob, Message, Outbox, Sender, SiteReport, ToBroker, ToDirectory, ToDispatcher,
    ToNetwork, ToPortal, ToSite,
};
pub use network::Network;
pub use portal::{Portal, PortalSave};
pub use quiescence::Quiescence;
pub use site::{Site, SiteSave, Uplink};

pub use crate::units::Stamp;

/// The interface of every entity of the grid.
pub trait Entity {
    /// The entity's address.
    fn address(&self) -> Address;

    /// The next moment at which the entity acts if no message reaches it before. It sends nothing earlier.
    fn next_event(&self) -> Option<Stamp>;

    /// The work that is left, as far as the entity can tell.
    fn quiescence(&self) -> Quiescence {
        Quiescence::default()
    }

    /// Handles everything earlier than `until`: its own events and what has been delivered.
    ///
    /// # Errors
    /// [`EntityError`] says what failed, where and when.
    fn advance(&mut self, until: Stamp, outbox: &mut dyn Outbox) -> Result<(), EntityError>;

    /// Delivers a message, which the entity will handle in the order of its stamp, sender and sequence.
    ///
    /// # Errors
    /// [`EntityError::Late`] if the message's time has passed here, [`EntityError::Repeated`] if its sender has already used its
    /// number for that moment, [`EntityError::Misaddressed`] if it is for another kind of entity.
    fn deliver(&mut self, message: Message) -> Result<(), EntityError>;
}
