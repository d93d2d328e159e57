//! What happens between two windows: what is due next, halts, and messages from outside.

use super::{WindowError, Windows};
use crate::entity::{Address, Message, Stamp};
use crate::grid::ending::next_minute;
use crate::grid::halt::{Halt, instant_from};
use crate::units::Time;

impl Windows {
    /// The first moment at which the driver has anything to do: an event, a full minute at which the run may be over, or the end of the
    /// drive.
    pub fn due(&self) -> Stamp {
        let first = self.first().min(self.until);
        if self.over.is_some() { first.min(Stamp::at(next_minute(self.passed.time))) } else { first }
    }

    /// While nothing happens, no entity goes beyond this moment. A paced run sets it to the present.
    pub fn reach(&mut self, reach: Stamp) {
        self.reach = reach;
    }

    /// The first instant that no entity has gone beyond.
    pub fn instant(&self) -> Time {
        instant_from(self.furthest)
    }

    /// Whether a halt of this drive has been requested.
    pub fn is_halted(&self) -> bool {
        self.halt.as_ref().is_some_and(Halt::is_asked)
    }

    /// Ends the drive at `time`, or at the first instant that no entity has gone beyond, whichever is later.
    pub fn halt(&mut self, time: Time) {
        self.until = self.until.min(Stamp::at(time.max(self.instant())));
    }

    /// Posts a message from outside to an entity, between two windows. False if the address does not exist.
    ///
    /// # Errors
    /// [`WindowError::Past`] if an entity has gone beyond its arrival.
    pub fn post_from_outside(&mut self, to: Address, message: Message) -> Result<bool, WindowError> {
        let Some(place) = self.places.find(to) else { return Ok(false) };
        let arrival = message.arrival;
        if arrival < self.furthest {
            return Err(WindowError::Past { to, arrival, passed: self.furthest });
        }
        let clock = &mut self.clocks[place];
        let (sooner, unit) = (clock.put(message), clock.unit);
        if sooner {
            self.settle(unit, arrival.min(self.units[unit].moment));
        }
        // The entity receives it with its next call; until then the run must not count as over.
        self.pending[place].more = true;
        Ok(true)
    }

    /// Whether an entity has this address.
    pub fn knows(&self, address: Address) -> bool {
        self.places.find(address).is_some()
    }
}
