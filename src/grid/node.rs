//! Any entity of a grid, so that one driver can hold them all.

use crate::entity::{
    Address, Broker, Directory, Dispatcher, Entity, EntityError, Message, Network, Outbox, Pending, Portal, Site, Stamp,
};

/// An entity of a grid.
#[derive(Debug)]
pub enum Node {
    /// Where work enters.
    Portal(Box<Portal>),
    /// Who decides.
    Broker(Box<Broker>),
    /// Who carries out.
    Dispatcher(Box<Dispatcher>),
    /// What the grid knows of itself.
    Directory(Box<Directory>),
    /// Who moves data.
    Network(Box<Network>),
    /// A site.
    Site(Box<Site>),
}

macro_rules! each {
    ($node:expr, $entity:ident => $do:expr) => {
        match $node {
            Node::Portal($entity) => $do,
            Node::Broker($entity) => $do,
            Node::Dispatcher($entity) => $do,
            Node::Directory($entity) => $do,
            Node::Network($entity) => $do,
            Node::Site($entity) => $do,
        }
    };
}

impl Entity for Node {
    fn address(&self) -> Address {
        each!(self, entity => entity.address())
    }

    fn next_event(&self) -> Option<Stamp> {
        each!(self, entity => entity.next_event())
    }

    fn promise(&self) -> Stamp {
        each!(self, entity => entity.promise())
    }

    fn pending(&self) -> Pending {
        each!(self, entity => entity.pending())
    }

    fn advance(&mut self, until: Stamp, outbox: &mut dyn Outbox) -> Result<(), EntityError> {
        each!(self, entity => entity.advance(until, outbox))
    }

    fn deliver(&mut self, message: Message) -> Result<(), EntityError> {
        each!(self, entity => entity.deliver(message))
    }
}
