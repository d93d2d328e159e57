//! The entities of a grid as pure state machines over messages: no clock, no I/O, no actors.
//!
//! An entity is advanced to a [`Stamp`]; it handles everything earlier in one total order and answers with messages and
//! records. What drives it (a plain loop in [`crate::grid`], or actors) has no influence on what it answers.

mod broker;
mod directory;
mod dispatcher;
mod error;
mod mailbox;
mod message;
mod network;
mod pending;
mod portal;
mod site;

pub use broker::{Broker, BrokerSave, BrokerTally};
pub use directory::Directory;
pub use dispatcher::{DispatchTally, Dispatcher, Whereabouts};
pub use error::EntityError;
pub use message::{Address, Body, Message, Outbox, Sender, SiteReport, Stamp};
pub use network::Network;
pub use pending::Pending;
pub use portal::{Portal, PortalSave};
pub use site::{Site, SiteSave, Uplink};

/// What every entity of the grid can do.
pub trait Entity {
    /// Who it is.
    fn address(&self) -> Address;

    /// When it next does something by itself, if nothing reaches it before.
    fn next_event(&self) -> Option<Stamp>;

    /// A moment before which it sends nothing, unless another message reaches it: one that has been delivered already
    /// counts with its arrival. In doubt, the next event.
    fn promise(&self) -> Stamp {
        self.next_event().unwrap_or(Stamp::END)
    }

    /// What is left to do, as far as it knows.
    fn pending(&self) -> Pending {
        Pending::default()
    }

    /// Handles everything earlier than `until`: its own events and what has been delivered.
    ///
    /// # Errors
    /// [`EntityError`] says what broke, where and when.
    fn advance(&mut self, until: Stamp, outbox: &mut dyn Outbox) -> Result<(), EntityError>;

    /// Hands it a message, which it will handle in the order of its stamp, sender and sequence.
    ///
    /// # Errors
    /// [`EntityError::Late`] if the message's time has passed here, [`EntityError::Repeated`] if its sender has used its
    /// number for that moment already.
    fn deliver(&mut self, message: Message) -> Result<(), EntityError>;
}

impl<E: Entity + ?Sized> Entity for Box<E> {
    fn address(&self) -> Address {
        (**self).address()
    }

    fn pending(&self) -> Pending {
        (**self).pending()
    }

    fn next_event(&self) -> Option<Stamp> {
        (**self).next_event()
    }

    fn promise(&self) -> Stamp {
        (**self).promise()
    }

    fn advance(&mut self, until: Stamp, outbox: &mut dyn Outbox) -> Result<(), EntityError> {
        (**self).advance(until, outbox)
    }

    fn deliver(&mut self, message: Message) -> Result<(), EntityError> {
        (**self).deliver(message)
    }
}
