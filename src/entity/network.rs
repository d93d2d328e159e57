//! The network: transfers data between places, on links that are shared fairly.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use super::mailbox::{Mailbox, Moments};
use super::{Address, Body, EntityError, Outbox, Quiescence, Stamp, ToBroker, ToDispatcher, ToNetwork};
use crate::model::{NetworkSpec, SiteId};
use crate::platform::{Links, Place};
use crate::units::Span;

/// Owns all data transfers, and notifies who asked for each when it has arrived. Messages do not pass through it: they take the
/// latency of their link and no more.
///
/// A copy of a file of a workflow breaks off when word comes that the site at one of its ends has left. The data of other jobs arrives all the same, and their
/// dispatch finds the site down.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Network {
    mail: Mailbox<ToNetwork>,
    links: Links,
    /// The transfers that have not arrived.
    moving: BTreeMap<u64, Moving>,
    begun: u64,
    /// Sites that have left.
    away: BTreeSet<SiteId>,
}

/// A transfer that has not arrived.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Moving {
    reply: Address,
    /// The number that the asker gave it.
    id: u64,
    to: Place,
}

impl Moving {
    fn is_copy(&self) -> bool {
        self.reply == Address::Broker
    }
}

impl Network {
    /// A network without transfers.
    pub fn new(spec: &NetworkSpec) -> Self {
        Self {
            mail: Mailbox::default(),
            links: Links::new(spec),
            moving: BTreeMap::new(),
            begun: 0,
            away: BTreeSet::new(),
        }
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

    fn handle_one(&mut self, letter: ToNetwork, now: Stamp, outbox: &mut dyn Outbox) {
        match letter {
            ToNetwork::Transfer { id, from, to, data, reply } => {
                let moving = Moving { reply, id, to };
                if let Some(site) = self.away(from).or(self.away(to)).filter(|_| moving.is_copy()) {
                    return self.reply(moving, Some(site), now, outbox);
                }
                self.moving.insert(self.begun, moving);
                self.links.begin(self.begun, from, to, data, now.time);
                self.begun += 1;
            }
            ToNetwork::Churn { site, open: true } => _ = self.away.remove(&site),
            ToNetwork::Churn { site, open: false } => {
                self.away.insert(site);
                let moving = &self.moving;
                let goes_on = |id| !moving.get(&id).is_some_and(Moving::is_copy);
                for id in self.links.stop(site.0 + 1, now.time, goes_on) {
                    if let Some(moving) = self.moving.remove(&id) {
                        self.reply(moving, Some(site), now, outbox);
                    }
                }
            }
        }
    }

    /// Notifies who asked for a transfer of its end.
    fn reply(&mut self, moving: Moving, broken: Option<SiteId>, now: Stamp, outbox: &mut dyn Outbox) {
        let Moving { reply, id, .. } = moving;
        let letter: Body = match broken {
            _ if !moving.is_copy() => ToDispatcher::Transferred { id }.into(),
            Some(site) => ToBroker::Broken { id, site }.into(),
            None => ToBroker::Transferred { id }.into(),
        };
        self.send(reply, now, Span::ZERO, letter, outbox);
    }

    /// The site at a place, if it has left.
    fn away(&self, place: Place) -> Option<SiteId> {
        place.checked_sub(1).map(SiteId).filter(|site| self.away.contains(site))
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
            let Some(moving) = self.moving.remove(&arrived.id) else { continue };
            // What was in transit when its source left arrives.
            self.reply(moving, self.away(moving.to), now, outbox);
        }
        while let Some(message) = self.mail.take(now) {
            self.handle_one(message.body, now, outbox);
        }
        Ok(())
    }

    fn quiescence(&self) -> Quiescence {
        Quiescence { self_active: self.links.next().is_some(), ..Quiescence::default() }
    }
}
