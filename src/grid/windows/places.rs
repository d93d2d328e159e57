//! Where the entity with an address stands.

use super::WindowError;
use super::seat::Seat;
use crate::entity::Address;

const NOBODY: u32 = u32::MAX;

/// The place of each address among the entities.
#[derive(Debug)]
pub(super) struct Places {
    central: [u32; 5],
    sites: Vec<u32>,
}

impl Places {
    pub(super) fn new(seats: &[Seat]) -> Result<Self, WindowError> {
        let sites = seats.iter().map(|seat| match seat.address {
            Address::Site(site) => site.index() + 1,
            _ => 0,
        });
        let mut places = Self { central: [NOBODY; 5], sites: vec![NOBODY; sites.max().unwrap_or(0)] };
        for (place, seat) in (0..).zip(seats) {
            let slot = match central(seat.address) {
                Ok(slot) => &mut places.central[slot],
                Err(site) => &mut places.sites[site],
            };
            if *slot != NOBODY {
                return Err(WindowError::TwoEntities(seat.address));
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

/// The number of a central entity, or else of a site.
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
