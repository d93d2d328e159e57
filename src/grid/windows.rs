//! Windows: how far entities may go on without waiting for each other.
//!
//! An entity sends nothing before its next event or the arrival of the next message to it, whichever comes first. So nothing that is
//! sent from now on can arrive before
//!
//! ```text
//! W = least over all groups of (next event of the group + latency of the group)
//! ```
//!
//! and everything earlier than `W`, the *window*, may happen in any order, or at once. The `latency` of a group is its lookahead in the
//! sense of conservative parallel discrete-event simulation.
//!
//! - A *group* is a run of entities that exchange messages without delay: portal, broker, dispatcher, directory and network are one
//!   group, each site is a group of its own. A group of several goes through a window moment by moment, and at each moment only those
//!   entities are called to which something happens. A group of one goes through a window in one call. A group with a latency of zero
//!   makes windows of one round: slower, with the same records.
//! - An ordinary window calls only groups that may send something in it. A group that never sends anything ends no window; it lags
//!   behind, until a window calls all entities and brings them to its end. Then all records before that end are passed on. How far an
//!   entity may lag adapts to the number of records that wait, which bounds memory, and never goes beyond the next full minute of a run
//!   that may end there.
//! - Every message is compared with the latency of its sender's group ([`WindowError::TooSoon`]) and with what its receiver has passed
//!   ([`WindowError::Late`]).
//! - No result depends on where a window ends: not the records, not their order, not the end of the run. A test draws ends at random;
//!   [`drive_by_moments`](super::drive_by_moments) is the slow twin, without windows.
//! - The state is an [entity clock](EntityClock) for each entity and a small tournament of group bounds ([`MinTree`]): no map, no
//!   allocation per window; messages are moved and never copied.
//!
//! [`Windows`] is bookkeeping only: a driver (the plain loop, or the conductor of the actors) asks it for calls and passes the answers
//! to it. At the end of a drive the driver delivers the messages that have not arrived yet, so the entities are the whole state, and
//! each drive makes its windows anew.

mod between;
mod entity_clock;
mod error;
mod options;
mod places;

pub use error::WindowError;
pub use options::{Group, Over, WindowEnds, WindowOptions};

use self::entity_clock::{EntityClock, Unit};
use self::options::Lag;
use self::places::Places;
use super::ending::is_minute;
use super::halt::Halt;
use super::min_tree::MinTree;
use crate::entity::{Address, Message, Quiescence, Stamp};
use crate::units::{Span, Time};

/// The number of rounds at one instant after which the run ends as stalled.
pub(super) const MOST_ROUNDS: u32 = 10_000;

/// The number of messages that the error of a stall names.
const TALK: u32 = 8;

/// A request to advance an entity, after the messages of its [inbox](Windows::inbox) have been delivered to it.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Call {
    /// The entity, by its place.
    pub entity: usize,
    /// The entity handles everything before this moment.
    pub until: Stamp,
}

/// How far each entity has come, and how far it may go on.
///
/// A window is [opened](Self::open), which gives calls that can be carried out in any order, or at once;
/// [stepped](Self::step) as long as that gives calls, each batch of which must have been answered before the next; and
/// [closed](Self::close) when everything has been answered. The driver [posts](Self::post) the messages that a call causes, then
/// [answers](Self::answer) the call.
#[derive(Debug)]
pub struct Windows {
    clocks: Vec<EntityClock>,
    units: Vec<Unit>,
    places: Places,
    /// The earliest moment at which a message of each unit can arrive.
    bounds: MinTree,
    /// The largest latency of the units that send anything.
    widest: Span,
    until: Stamp,
    /// No window without events goes beyond this moment.
    reach: Stamp,
    halt: Option<Halt>,
    ends: Option<WindowEnds>,
    lag: Lag,
    /// What each entity has left to do.
    pending: Vec<Quiescence>,
    over: Option<Over>,
    /// Whether the run has ended before `until`.
    done: bool,
    /// Everything before this moment has happened everywhere.
    passed: Stamp,
    /// No entity has gone beyond this moment.
    furthest: Stamp,
    /// A window that ends here or later brings all entities to its end.
    horizon: Stamp,
    /// The end of the window that was opened last.
    end: Stamp,
    /// Whether that window brings all entities to its end.
    whole: bool,
    /// Groups of several entities that have not finished that window.
    teams: Vec<usize>,
    /// Sender and receiver of the messages in the last rounds before a stall.
    talk: Vec<(Address, Address)>,
}

impl Windows {
    /// Windows over `entities`, in their order, each with the moment of its next event. Groups divide them into consecutive runs.
    ///
    /// # Errors
    /// [`WindowError::Groups`] if the groups have more or fewer members than there are entities,
    /// [`WindowError::TwoEntities`] if two entities have one address.
    pub fn new(
        entities: impl IntoIterator<Item = (Address, Option<Stamp>)>,
        groups: &[Group],
        options: WindowOptions,
    ) -> Result<Self, WindowError> {
        let clocks = entities.into_iter().map(|(address, next)| EntityClock::new(address, next));
        let mut clocks: Vec<EntityClock> = clocks.collect();
        let units = Unit::cut(groups, &mut clocks)?;
        let mut windows = Self {
            places: Places::new(&clocks)?,
            bounds: MinTree::new(units.len()),
            widest: units
                .iter()
                .map(|unit| unit.latency)
                .filter(|span| *span < Span::MAX)
                .max()
                .unwrap_or_default(),
            until: options.until.min(Stamp::at(Time::NEVER)),
            reach: Stamp::END,
            halt: options.halt,
            ends: options.ends,
            lag: Lag::new(options.lag, options.over.is_some()),
            pending: vec![Quiescence::default(); clocks.len()],
            over: options.over,
            done: false,
            passed: options.begin,
            furthest: options.begin,
            horizon: Stamp::default(),
            end: Stamp::default(),
            whole: false,
            teams: Vec::with_capacity(units.len()),
            talk: Vec::new(),
            clocks,
            units,
        };
        for at in 0..windows.units.len() {
            let members = windows.units[at].members.clone();
            let moment = windows.clocks[members].iter().map(|clock| clock.moment).min();
            windows.settle(at, moment.unwrap_or(Stamp::END));
        }
        Ok(windows)
    }

    /// Everything before this moment has happened, everywhere.
    pub fn passed(&self) -> Stamp {
        self.passed
    }

    /// Whether the run has ended before `until`, as [`WindowOptions::over`] answered.
    pub fn is_over(&self) -> bool {
        self.done
    }

    /// Sets what an entity has left to do. The driver calls this before the first window and with every answer, if
    /// [`WindowOptions::over`] is set.
    pub fn left(&mut self, entity: usize, pending: Quiescence) {
        self.pending[entity] = pending;
    }

    /// The end of the window that was opened last.
    pub fn end(&self) -> Stamp {
        self.end
    }

    /// The address of an entity.
    pub fn address(&self, entity: usize) -> Address {
        self.clocks[entity].address
    }

    /// The first moment at which something happens to any entity; [`Stamp::END`] for none.
    pub fn first(&self) -> Stamp {
        self.clocks.iter().map(|clock| clock.moment).min().unwrap_or(Stamp::END)
    }

    /// Whether an entity is the only one of its group.
    pub fn is_alone(&self, entity: usize) -> bool {
        self.units[self.clocks[entity].unit].members.len() == 1
    }

    /// The moment at which something next happens to an entity, by itself or because a message arrives; [`Stamp::END`] for never.
    pub fn moment(&self, entity: usize) -> Stamp {
        self.clocks[entity].moment
    }

    /// Opens the next window: adds the calls of the groups that go through it in one call, and prepares the others to be
    /// [stepped](Self::step). False if everything before the end of the run has happened.
    ///
    /// # Errors
    /// [`WindowError::Stalled`] if an instant has too many rounds.
    pub fn open(&mut self, calls: &mut Vec<Call>) -> Result<bool, WindowError> {
        if self.done {
            return Ok(false);
        }
        let mut end = Stamp::from_key(self.bounds.least()).min(self.until);
        self.whole = end >= self.horizon || end == self.until;
        if self.whole {
            let first = self.first();
            let edge = self.lag.edge(first.min(self.until).min(self.reach));
            if edge > self.passed {
                // Nothing happens before the last full minute: a window without calls brings all entities there.
                self.end = edge;
                return Ok(true);
            }
            self.passed = self.passed.max(first.min(self.until));
            if first >= self.until {
                return Ok(false);
            }
            end = end.min(self.lag.after(first));
        }
        if let Some(ends) = &mut self.ends {
            let first = self.units.iter().map(|unit| unit.moment).min().unwrap_or(Stamp::END);
            let first = if self.whole { self.passed } else { first };
            end = ends.choose(first, end);
        }
        self.end = end;
        let mut stalled = None;
        let Self { clocks, units, teams, bounds, .. } = self;
        let mut enter = |at: usize, clocks: &mut [EntityClock]| {
            let unit = &mut units[at];
            if !self.whole && unit.moment >= end {
                return;
            }
            unit.until = end;
            if unit.members.len() == 1 {
                let entity = unit.members.start;
                let clock = &mut clocks[entity];
                if clock.moment.round >= MOST_ROUNDS {
                    stalled.get_or_insert(entity);
                }
                clock.enter(end);
                calls.push(Call { entity, until: end });
            } else {
                teams.push(at);
            }
        };
        if self.whole {
            // A group that never sends anything lags behind: look at all entities.
            let mut last = None;
            for at in 0..clocks.len() {
                if clocks[at].moment < end && last != Some(clocks[at].unit) {
                    last = Some(clocks[at].unit);
                    enter(clocks[at].unit, clocks);
                }
            }
        } else {
            // Anything that a group sends in this window arrives by then.
            bounds.up_to(end.after(self.widest).key(), |at| enter(at, clocks));
        }
        stalled.map_or(Ok(true), |entity| Err(self.stalled(entity)))
    }

    /// Advances a group of several by one moment: adds the calls of those entities to which something happens. False once all groups
    /// have finished the window.
    ///
    /// # Errors
    /// [`WindowError::Stalled`] if an instant has too many rounds.
    pub fn step(&mut self, calls: &mut Vec<Call>) -> Result<bool, WindowError> {
        while let Some(&at) = self.teams.last() {
            let unit = &mut self.units[at];
            let moments = self.clocks[unit.members.clone()].iter().map(|clock| clock.moment);
            let moment = moments.min().unwrap_or(Stamp::END);
            if moment >= self.end {
                unit.until = self.end;
                self.teams.pop();
                self.settle(at, moment);
                continue;
            }
            let until = moment.next_round();
            unit.until = until;
            let (begun, members) = (calls.len(), unit.members.clone());
            for (entity, clock) in members.clone().zip(&mut self.clocks[members]) {
                if clock.moment == moment {
                    clock.enter(until);
                    calls.push(Call { entity, until });
                }
            }
            if moment.round >= MOST_ROUNDS {
                return Err(self.stalled(calls[begun].entity));
            }
            return Ok(true);
        }
        Ok(false)
    }

    /// The messages to be delivered to an entity before it is advanced; the caller empties it.
    pub fn inbox(&mut self, entity: usize) -> &mut Vec<Message> {
        self.clocks[entity].inbox()
    }

    /// Takes a message that an entity has sent during its call.
    ///
    /// # Errors
    /// [`WindowError`] if there is no receiver, if the message is faster than its group's latency, or if it arrives too late.
    pub fn post(&mut self, from: usize, to: Address, message: Message) -> Result<(), WindowError> {
        let sender = &self.clocks[from];
        let unit = &self.units[sender.unit];
        let Some(place) = self.places.find(to) else {
            return Err(WindowError::NoReceiver { from: sender.address, to });
        };
        let inside = self.clocks[place].unit == sender.unit;
        let latency = if inside { Span::ZERO } else { unit.latency };
        let arrival = message.arrival;
        let earliest = sender.entered.after(latency);
        if arrival < earliest {
            return Err(WindowError::TooSoon { from: sender.address, to, arrival, earliest });
        }
        let passed = if inside { unit.until } else { self.end };
        if arrival < passed {
            return Err(WindowError::Late { from: sender.address, to, arrival, passed });
        }
        if arrival.round > MOST_ROUNDS - TALK {
            // Only the last messages are kept.
            let surplus = (self.talk.len() + 1).saturating_sub(TALK as usize);
            self.talk.drain(..surplus);
            self.talk.push((sender.address, to));
        }
        let clock = &mut self.clocks[place];
        if clock.put(message) && !inside {
            let unit = clock.unit;
            self.settle(unit, arrival.min(self.units[unit].moment));
        }
        Ok(())
    }

    /// Takes the answer to a call, after all messages of the call have been posted. `next` is the entity's next event.
    ///
    /// # Errors
    /// [`WindowError::Behind`] if `next` lies before the end of the call.
    pub fn answer(&mut self, entity: usize, next: Option<Stamp>) -> Result<(), WindowError> {
        let clock = &mut self.clocks[entity];
        let next = next.unwrap_or(Stamp::END);
        if next < clock.until {
            return Err(WindowError::Behind { entity: clock.address, until: clock.until, next });
        }
        clock.answer(next);
        let (unit, moment) = (clock.unit, clock.moment);
        // A group of several is settled when it has finished the window.
        if self.units[unit].members.len() == 1 {
            self.settle(unit, moment);
        }
        Ok(())
    }

    /// Closes the window, after all calls have been answered. Returns whether all entities have now reached its end.
    pub fn close(&mut self) -> bool {
        self.furthest = self.furthest.max(self.end);
        if self.is_halted() {
            self.halt(Time::ZERO);
        }
        if self.whole {
            self.passed = self.end;
            self.horizon = self.lag.after(self.end);
            if let Some(over) = self.over.as_mut().filter(|_| self.end.round == 0 && is_minute(self.end.time))
            {
                self.done |= over.ask(&self.pending, self.end.time);
            }
        }
        self.whole
    }

    /// Adapts how far entities may lag behind to the number of records that waited until all entities had passed them.
    pub fn adapt(&mut self, waited: usize) {
        self.lag.adapt(waited);
        self.horizon = self.lag.after(self.passed);
    }

    /// Sets the moment before which nothing happens to a group.
    fn settle(&mut self, at: usize, moment: Stamp) {
        let unit = &mut self.units[at];
        if moment != unit.moment {
            unit.moment = moment;
            self.bounds.set(at, moment.after(unit.latency).key());
        }
    }

    fn stalled(&self, entity: usize) -> WindowError {
        let EntityClock { address, moment, .. } = self.clocks[entity];
        WindowError::Stalled { entity: address, at: moment, talk: self.talk.clone() }
    }
}
