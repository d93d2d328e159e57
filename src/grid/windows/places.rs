//! From the address of an entity to its place.

use super::WindowError;
use super::entity_clock::EntityClock;
use crate::entity::Address;

const NONE: u32 = u32::MAX;

/// The place of each address among the entities, by the slot of the address.
#[derive(Debug)]
pub(super) struct Places(Vec<u32>);

impl Places {
    pub(super) fn new(clocks: &[EntityClock]) -> Result<Self, WindowError> {
        let slots = clocks.iter().map(|clock| slot(clock.address) + 1).max().unwrap_or(0);
        let mut places = vec![NONE; slots];
        for (place, clock) in (0..).zip(clocks) {
            if std::mem::replace(&mut places[slot(clock.address)], place) != NONE {
                return Err(WindowError::TwoEntities(clock.address));
            }
        }
        Ok(Self(places))
    }

    pub(super) fn find(&self, address: Address) -> Option<usize> {
        let place = *self.0.get(slot(address))?;
        (place != NONE).then_some(place as usize)
    }
}

/// The number of an address: first the entities of the center, then the sites.
fn slot(address: Address) -> usize {
    match address {
        Address::Portal => 0,
        Address::Broker => 1,
        Address::Dispatcher => 2,
        Address::Directory => 3,
        Address::Network => 4,
        Address::Site(site) => 5 + site.index(),
    }
}
