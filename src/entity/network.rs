//! The network: transfers data between places, on links that are shared fairly.

use serde::{Deserialize, Serialize};

use super::mailbox::{Mailbox, Moments};
use super::{Address, EntityError, Outbox, Quiescence, Stamp, ToDispatcher, ToNetwork};
use crate::model::NetworkSpec;
use crate::platform::Links;
use crate::units::Span;

/// Owns all data transfers, and notifies the dispatcher when each has arrived. Messages do not pass through it: they take the
/// latency of their link and no more.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Network {
    mail: Mailbox<ToNetwork>,
    links: Links,
}

impl Network {
    /// A network without transfers.
    pub fn new(spec: &NetworkSpec) -> Self {
        Self { mail: Mailbox::default(), links: Links::new(spec) }
    }

    /// Restores the state of a network of the same grid. With `adopt`, its connections may change from that moment on.
    ///
    /// # Errors
    /// [`EntityError::BadSave`] if the state does not fit.
    pub fn restore(&mut self, saved: Self, adopt: Option<Stamp>) -> Result<(), EntityError> {
        let spec = std::mem::replace(self, saved).links.network().clone();
        if *self.links.network() == spec {
            return Ok(());
        }
        let Some(now) = adopt.filter(|_| self.links.network().links.len() == spec.links.len()) else {
            return Err(self.bad_save("it was saved with other connections"));
        };
        self.links.change(&spec, now.time);
        Ok(())
    }
}

impl Moments for Network {
    type Letter = ToNetwork;

    fn address(&self) -> Address {
        Address::Network
    }

    fn mail(&mut self) -> &mut Mailbox<ToNetwork> {
        &mut self.mail
    }

    fn next(&self) -> Option<Stamp> {
        let own = self.links.next().map(|time| self.mail.own(time));
        own.into_iter().chain(self.mail.due()).min()
    }

    fn handle(&mut self, now: Stamp, outbox: &mut dyn Outbox) -> Result<(), EntityError> {
        for arrived in self.links.due(now.time) {
            let arrived = ToDispatcher::Transferred { id: arrived.id };
            self.send(Address::Dispatcher, now, Span::ZERO, arrived, outbox);
        }
        while let Some(message) = self.mail.take(now) {
            let ToNetwork::Transfer { id, from, to, data } = message.body;
            self.links.begin(id, from, to, data, now.time);
        }
        Ok(())
    }

    fn quiescence(&self) -> Quiescence {
        Quiescence { self_active: self.links.next().is_some(), ..Quiescence::default() }
    }
}
