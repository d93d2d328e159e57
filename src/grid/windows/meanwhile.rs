//! Between two windows: what is due, cutting the drive short, and being told something by somebody outside.

use super::{WindowError, Windows};
use crate::entity::{Address, Message, Stamp};
use crate::grid::Halt;
use crate::grid::ending::next_minute;
use crate::grid::leg::instant_from;
use crate::units::Time;

impl Windows {
    /// The first moment for which anything is to be done: something happens, the run may be over, or the drive is.
    pub fn due(&self) -> Stamp {
        let first = self.first().min(self.until);
        if self.over.is_some() { first.min(Stamp::at(next_minute(self.passed.time))) } else { first }
    }

    /// While nothing happens, nobody gets further than this: the present, for whoever keeps to a clock.
    pub fn reach(&mut self, reach: Stamp) {
        self.reach = reach;
    }

    /// The first instant that nobody has gone beyond.
    pub fn instant(&self) -> Time {
        instant_from(self.furthest)
    }

    /// Whether the halt of this drive is asked.
    pub fn is_halted(&self) -> bool {
        self.halt.as_ref().is_some_and(Halt::is_asked)
    }

    /// Nothing happens any more from `time` on, or from the first instant on that nobody has gone beyond.
    pub fn halt(&mut self, time: Time) {
        self.until = self.until.min(Stamp::at(time.max(self.instant())));
    }

    /// Somebody outside tells an entity something, between two windows. False if there is nobody of that address.
    ///
    /// # Errors
    /// [`WindowError::Past`] if somebody has gone beyond its arrival.
    pub fn tell(&mut self, to: Address, message: Message) -> Result<bool, WindowError> {
        let Some(place) = self.places.find(to) else { return Ok(false) };
        let arrival = message.arrival;
        if arrival < self.furthest {
            return Err(WindowError::Past { to, arrival, passed: self.furthest });
        }
        let seat = &mut self.seats[place];
        let (sooner, unit) = (seat.put(message), seat.unit);
        if sooner {
            self.settle(unit, arrival.min(self.units[unit].out));
        }
        // It will know when it is called next; until then the run must not be taken for over.
        self.pending[place].more = true;
        Ok(true)
    }

    /// Whether there is an entity of that address.
    pub fn knows(&self, address: Address) -> bool {
        self.places.find(address).is_some()
    }
}
