//! From the address of an entity to its place.

use super::WindowError;
use super::entity_clock::EntityClock;
use crate::entity::Address;

const NOBODY: u32 = u32::MAX;

/// The place of each address among the entities.
#[derive(Debug)]
pub(super) struct Places {
    central: [u32; 5],
    sites: Vec<u32>,
}

impl Places {
    pub(super) fn new(clocks: &[EntityClock]) -> Result<Self, WindowError> {
        let sites = clocks.iter().map(|clock| match clock.address {
            Address::Site(site) => site.index() + 1,
            _ => 0,
        });
        let mut places = Self { central: [NOBODY; 5], sites: vec![NOBODY; sites.max().unwrap_or(0)] };
        for (place, clock) in (0..).zip(clocks) {
            let slot = match central(clock.address) {
                Ok(slot) => &mut places.central[slot],
                Err(site) => &mut places.sites[site],
            };
            if *slot != NOBODY {
                return Err(WindowError::TwoEntities(clock.address));
            }
            *slot = place;
        }
        Ok(places)
    }

    pub(super) fn find(&self, address: Address) -> Option<usize> {
        let place = match central(address) {
            Ok(slot) => self.central[slot],
            Err(site) => *self.sites.get(site)?,
        };
        (place != NOBODY).then_some(place as usize)
    }
}

/// The number of an entity of the center, or else of a site.
fn central(address: Address) -> Result<usize, usize> {
    match address {
        Address::Portal => Ok(0),
        Address::Broker => Ok(1),
        Address::Dispatcher => Ok(2),
        Address::Directory => Ok(3),
        Address::Network => Ok(4),
        Address::Site(site) => Err(site.index()),
    }
}
