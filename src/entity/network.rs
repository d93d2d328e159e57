//! The network: transfers data between places, on links that are shared fairly.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::mailbox::{Mailbox, Moments};
use super::{Address, Body, EntityError, Outbox, Quiescence, Stamp, ToBroker, ToDispatcher, ToNetwork};
use crate::model::NetworkSpec;
use crate::platform::Links;
use crate::units::Span;

/// Owns all data transfers, and notifies who asked for each when it has arrived. Messages do not pass through it: they take the
/// latency of their link and no more.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Network {
    mail: Mailbox<ToNetwork>,
    links: Links,
    /// Who asked for each transfer that has not arrived, and their number for it.
    asked: BTreeMap<u64, (Address, u64)>,
    begun: u64,
}

impl Network {
    /// A network without transfers.
    pub fn new(spec: &NetworkSpec) -> Self {
        Self { mail: Mailbox::default(), links: Links::new(spec), asked: BTreeMap::new(), begun: 0 }
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
            let Some((reply, id)) = self.asked.remove(&arrived.id) else { continue };
            let letter = match reply {
                Address::Broker => ToBroker::Transferred { id }.into(),
                _ => Body::from(ToDispatcher::Transferred { id }),
            };
            self.send(reply, now, Span::ZERO, letter, outbox);
        }
        while let Some(message) = self.mail.take(now) {
            let ToNetwork::Transfer { id, from, to, data, reply } = message.body;
            self.asked.insert(self.begun, (reply, id));
            self.links.begin(self.begun, from, to, data, now.time);
            self.begun += 1;
        }
        Ok(())
    }

    fn quiescence(&self) -> Quiescence {
        Quiescence { self_active: self.links.next().is_some(), ..Quiescence::default() }
    }
}
