//! Any entity of a grid, so that one driver can hold all of them.

use crate::entity::{
    Address, Broker, Directory, Dispatcher, Entity, EntityError, Message, Network, Outbox, Portal,
    Quiescence, Site, Stamp,
};
use crate::units::Time;

/// An entity of a grid.
#[derive(Debug)]
#[non_exhaustive]
pub enum Node {
    /// The portal, where the grid's jobs enter.
    Portal(Box<Portal>),
    /// The broker, which assigns jobs to pools.
    Broker(Box<Broker>),
    /// The dispatcher, which carries assignments out.
    Dispatcher(Box<Dispatcher>),
    /// The directory, which gathers reports of sites.
    Directory(Box<Directory>),
    /// The network, which transfers data.
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

impl Node {
    /// The site, if it is one.
    pub fn as_site(&self) -> Option<&Site> {
        if let Self::Site(site) = self { Some(site) } else { None }
    }

    pub(super) fn site_mut(&mut self) -> Option<&mut Site> {
        if let Self::Site(site) = self { Some(site) } else { None }
    }

    /// Ends the run at `now`: jobs that are still here end as unfinished, and the accounts are closed.
    pub(super) fn close(&mut self, now: Time, outbox: &mut dyn Outbox) {
        match self {
            Self::Broker(broker) => broker.close(now, outbox),
            Self::Dispatcher(dispatcher) => dispatcher.close(now, outbox),
            Self::Site(site) => site.close(now, outbox),
            Self::Portal(_) | Self::Directory(_) | Self::Network(_) => {}
        }
    }
}

impl Entity for Node {
    fn address(&self) -> Address {
        each!(self, entity => entity.address())
    }

    fn next_event(&self) -> Option<Stamp> {
        each!(self, entity => entity.next_event())
    }

    fn quiescence(&self) -> Quiescence {
        each!(self, entity => entity.quiescence())
    }

    fn advance(&mut self, until: Stamp, outbox: &mut dyn Outbox) -> Result<(), EntityError> {
        each!(self, entity => entity.advance(until, outbox))
    }

    fn deliver(&mut self, message: Message) -> Result<(), EntityError> {
        each!(self, entity => entity.deliver(message))
    }
}
