//! The network: transfers data between places, on links that are shared fairly.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use super::mailbox::{Mailbox, Moments};
use super::{Address, Body, EntityError, Outbox, Quiescence, Stamp, ToBroker, ToDispatcher, ToNetwork};
use crate::model::{NetworkSpec, SiteId, StorageSpec};
use crate::platform::{DataBill, Links, Moved, Place, Storage};
use crate::units::{Bytes, Span, Time};

/// Owns all data transfers, and notifies who asked for each when it has arrived. Messages do not pass through it: they take the
/// latency of their link and no more.
///
/// A copy of a file of a workflow is also read from the storage where it comes from and written to that where it goes. All three go on at once, and it has arrived
/// when the last of them is done. A copy breaks off when word comes that the site at one of its ends has left. The data of other jobs arrives all the same, and their
/// dispatch finds the site down.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Network {
    mail: Mailbox<ToNetwork>,
    links: Links,
    /// The storages that have a bandwidth.
    storages: BTreeMap<Place, Storage>,
    /// The transfers that have not arrived.
    moving: BTreeMap<u64, Moving>,
    begun: u64,
    /// Sites that have left.
    away: BTreeSet<SiteId>,
    /// The account of what has arrived.
    moved: Moved,
}

/// A transfer that has not arrived.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Moving {
    reply: Address,
    /// The number that the asker gave it.
    id: u64,
    from: Place,
    to: Place,
    data: Bytes,
    /// How many of reading, link and writing are not done.
    parts: u8,
}

impl Moving {
    fn is_copy(&self) -> bool {
        self.reply == Address::Broker
    }
}

impl Network {
    /// A network without transfers.
    pub fn new(spec: &NetworkSpec) -> Self {
        let limited = |(place, storage): (Place, &StorageSpec)| {
            storage.bandwidth.map(|_| (place, Storage::new(StorageSpec { capacity: None, ..*storage })))
        };
        Self {
            mail: Mailbox::default(),
            links: Links::new(spec),
            storages: (0..).zip(&spec.storages).filter_map(limited).collect(),
            moving: BTreeMap::new(),
            begun: 0,
            away: BTreeSet::new(),
            moved: Moved::new(spec.data),
        }
    }

    /// Restores the state of a network of the same grid. With `adopt`, its connections may change from that moment on.
    ///
    /// # Errors
    /// [`EntityError::BadSave`] if the state does not fit.
    pub fn restore(&mut self, saved: Self, adopt: Option<Stamp>) -> Result<(), EntityError> {
        let mut own = std::mem::replace(self, saved);
        let spec = own.links.network().clone();
        if *self.links.network() == spec {
            return Ok(());
        }
        let Some(now) = adopt else {
            return Err(self.bad_save("it was saved with other connections"));
        };
        self.links.change(&spec, now.time);
        self.moved.change(spec.data);
        for (place, storage) in &mut self.storages {
            let StorageSpec { bandwidth, .. } = spec.storage(*place as usize);
            storage.change(StorageSpec { bandwidth, capacity: None }, now.time);
            own.storages.remove(place);
        }
        self.storages.append(&mut own.storages);
        Ok(())
    }

    fn handle_one(&mut self, letter: ToNetwork, now: Stamp, outbox: &mut dyn Outbox) {
        match letter {
            ToNetwork::Transfer { id, from, to, data, reply } => {
                let mut moving = Moving { reply, id, from, to, data, parts: 1 };
                let is_copy = moving.is_copy();
                if let Some(site) = self.away(from).or(self.away(to)).filter(|_| moving.is_copy()) {
                    return self.reply(moving, Some(site), now, outbox);
                }
                for place in [from, to].into_iter().filter(|_| is_copy) {
                    if let Some(storage) = self.storages.get_mut(&place) {
                        storage.begin(self.begun, data, now.time);
                        moving.parts += 1;
                    }
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
                let place = site.0 + 1;
                let mut broken: BTreeSet<u64> =
                    self.links.stop(place, now.time, goes_on).into_iter().collect();
                broken.extend(self.storages.get_mut(&place).into_iter().flat_map(|disk| disk.stop(now.time)));
                // What is still read at its source has not left its link.
                let comes = |id: &u64| moving.get(id).is_some_and(|moving| moving.to == place);
                broken.extend(self.storages.values().flat_map(Storage::unfinished).filter(comes));
                for id in broken {
                    let Some(moving) = self.moving.remove(&id) else { continue };
                    for place in [moving.from, moving.to] {
                        if let Some(storage) = self.storages.get_mut(&place) {
                            storage.give_up(id, now.time);
                        }
                    }
                    self.reply(moving, Some(site), now, outbox);
                }
            }
        }
    }

    /// What the data that has arrived took, if it takes or costs anything.
    pub fn bill(&self) -> Option<DataBill> {
        self.moved.bill()
    }

    /// Handles the end of a part of a transfer: after the last one it has arrived.
    fn part_done(&mut self, id: u64, now: Stamp, outbox: &mut dyn Outbox) {
        let Some(moving) = self.moving.get_mut(&id) else { return };
        moving.parts -= 1;
        if moving.parts == 0
            && let Some(moving) = self.moving.remove(&id)
        {
            // What was in transit when its source left arrives. Data of jobs arrives in any case.
            let broken = self.away(moving.to);
            if moving.from != moving.to && (broken.is_none() || !moving.is_copy()) {
                self.moved.add(moving.data);
            }
            self.reply(moving, broken, now, outbox);
        }
    }

    /// When a part of a transfer ends next, if nothing else begins.
    fn next_end(&self) -> Option<Time> {
        self.storages.values().map(Storage::next).chain([self.links.next()]).flatten().min()
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
        let own = self.next_end().map(|time| self.mail.own(time));
        own.into_iter().chain(self.mail.due()).min()
    }

    fn handle(&mut self, now: Stamp, outbox: &mut dyn Outbox) -> Result<(), EntityError> {
        for arrived in self.links.due(now.time) {
            self.part_done(arrived.id, now, outbox);
        }
        let done: Vec<_> = self.storages.values_mut().flat_map(|storage| storage.due(now.time)).collect();
        done.into_iter().for_each(|(_, id)| self.part_done(id, now, outbox));
        while let Some(message) = self.mail.take(now) {
            self.handle_one(message.body, now, outbox);
        }
        Ok(())
    }

    fn quiescence(&self) -> Quiescence {
        Quiescence { self_active: self.next_end().is_some(), ..Quiescence::default() }
    }
}
