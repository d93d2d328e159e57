//! Windows: how far entities may go on without waiting for each other.
//!
//! Let `out` of an entity be a moment before which it sends nothing: the earliest message on its way to it, or its
//! promise, whichever comes first. Nothing that is sent from now on can arrive before the least of `out + latency` over
//! all groups of entities, so everything earlier than that moment, the end of the *window*, may happen in any order, or at
//! once. Only those who may have something to say before it are called. The others lag behind, up to a limit, and are
//! brought up when a message reaches them.
//!
//! A group is a run of entities that talk to each other without delay. It goes through a window moment by moment, so that
//! its latency is that of its messages to others. A group of one goes through a window in one call.
//!
//! This is bookkeeping only: who drives the entities (a plain loop, or a conductor of actors) asks for calls and tells the
//! answers. No result depends on where a window ends.

mod error;
mod meanwhile;
mod options;
mod places;
mod seat;

pub use error::WindowError;
pub use options::{Group, Over, WindowEnds, WindowOptions};

use self::options::Lag;
use self::places::Places;
use self::seat::{Seat, Unit};
use super::ending::is_minute;
use super::least::Least;
use super::leg::Halt;
use crate::entity::{Address, Message, Pending, Stamp};
use crate::units::{Span, Time};

/// Rounds at one instant before the run is given up as stalled.
pub(super) const MOST_ROUNDS: u32 = 10_000;

/// Messages that a stall names.
const TALK: u32 = 8;

/// Somebody is to be advanced, after the messages of its [inbox](Windows::inbox) have been delivered to it.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Call {
    /// Who, by its place among the entities.
    pub entity: usize,
    /// Up to here.
    pub until: Stamp,
}

/// Who stands where, and who may go on up to when.
///
/// A window is [opened](Self::open), which gives calls that can be carried out in any order, or at once;
/// [stepped](Self::step) as long as that gives calls, each batch of which must have been answered before the next; and
/// [closed](Self::close) when everything has been answered. The messages that a call brings forth are
/// [posted](Self::post), then it is [answered](Self::answer).
#[derive(Debug)]
pub struct Windows {
    seats: Vec<Seat>,
    units: Vec<Unit>,
    places: Places,
    /// When what a unit sends can arrive first.
    bounds: Least,
    /// The largest latency of any unit that sends anything.
    widest: Span,
    until: Stamp,
    /// No window in which nothing happens goes beyond this.
    reach: Stamp,
    halt: Option<Halt>,
    promises: bool,
    ends: Option<WindowEnds>,
    lag: Lag,
    /// What each entity has left to do.
    pending: Vec<Pending>,
    over: Option<Over>,
    /// The run is over before its time.
    done: bool,
    /// Everything before this moment has happened everywhere.
    passed: Stamp,
    /// Nobody has got further than this.
    furthest: Stamp,
    /// A window that ends here or later leaves nobody behind.
    horizon: Stamp,
    /// The end of the window that was opened last.
    end: Stamp,
    /// Whether that window leaves nobody behind.
    whole: bool,
    /// Groups of several that are not through that window yet.
    teams: Vec<usize>,
    /// Who sent to whom in the last rounds before a stall.
    talk: Vec<(Address, Address)>,
}

impl Windows {
    /// Entities in their order, each with the moment of its next event. Groups cut them into consecutive runs.
    ///
    /// # Errors
    /// [`WindowError::Groups`] if the groups have more or fewer members than there are entities,
    /// [`WindowError::TwoEntities`] if two entities have one address.
    pub fn new(
        entities: impl IntoIterator<Item = (Address, Option<Stamp>)>,
        groups: &[Group],
        options: WindowOptions,
    ) -> Result<Self, WindowError> {
        let seats = entities.into_iter().map(|(address, next)| Seat::new(address, next));
        let mut seats: Vec<Seat> = seats.collect();
        let units = Unit::cut(groups, &mut seats)?;
        let mut windows = Self {
            places: Places::new(&seats)?,
            bounds: Least::new(units.len()),
            widest: units
                .iter()
                .map(|unit| unit.latency)
                .filter(|span| *span < Span::MAX)
                .max()
                .unwrap_or_default(),
            until: options.until.min(Stamp::at(Time::NEVER)),
            reach: Stamp::END,
            halt: options.halt,
            promises: options.promises,
            ends: options.ends,
            lag: Lag::new(options.lag, options.over.is_some()),
            pending: vec![Pending::default(); seats.len()],
            over: options.over,
            done: false,
            passed: options.begin,
            furthest: options.begin,
            horizon: Stamp::default(),
            end: Stamp::default(),
            whole: false,
            teams: Vec::with_capacity(units.len()),
            talk: Vec::new(),
            seats,
            units,
        };
        for at in 0..windows.units.len() {
            let members = windows.units[at].members.clone();
            let out = windows.seats[members].iter().map(|seat| seat.out).min();
            windows.settle(at, out.unwrap_or(Stamp::END));
        }
        Ok(windows)
    }

    /// Everything before this moment has happened, everywhere.
    pub fn passed(&self) -> Stamp {
        self.passed
    }

    /// Whether the run is over before its time, as it was asked to say; see [`WindowOptions::over`].
    pub fn is_over(&self) -> bool {
        self.done
    }

    /// What an entity has left to do: to be told before the first window and with every answer, where it matters when the run
    /// is over.
    pub fn left(&mut self, entity: usize, pending: Pending) {
        self.pending[entity] = pending;
    }

    /// The end of the window that was opened last.
    pub fn end(&self) -> Stamp {
        self.end
    }

    /// The address of an entity.
    pub fn address(&self, entity: usize) -> Address {
        self.seats[entity].address
    }

    /// The first moment at which something happens to anybody; [`Stamp::END`] for none.
    pub fn first(&self) -> Stamp {
        self.seats.iter().map(|seat| seat.moment).min().unwrap_or(Stamp::END)
    }

    /// Whether an entity is the only one of its group.
    pub fn is_alone(&self, entity: usize) -> bool {
        self.units[self.seats[entity].unit].members.len() == 1
    }

    /// When something next happens to an entity, by itself or because a message reaches it; [`Stamp::END`] for never.
    pub fn moment(&self, entity: usize) -> Stamp {
        self.seats[entity].moment
    }

    /// Opens the next window: adds the calls of those who go through it in one, and gets the others ready to be
    /// [stepped](Self::step). False if everything before the end of the run has happened.
    ///
    /// # Errors
    /// [`WindowError::Stalled`] if a round too many comes next.
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
                // Nothing happens before the last full minute: a window without calls gets everybody there.
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
            let first = self.units.iter().map(|unit| unit.out).min().unwrap_or(Stamp::END);
            let first = if self.whole { self.passed } else { first };
            end = ends.choose(first, end);
        }
        self.end = end;
        let mut stalled = None;
        let Self { seats, units, teams, bounds, .. } = self;
        let mut enter = |at: usize, seats: &mut [Seat]| {
            let unit = &mut units[at];
            if !self.whole && unit.out >= end {
                return;
            }
            unit.until = end;
            if unit.members.len() == 1 {
                let entity = unit.members.start;
                let seat = &mut seats[entity];
                if seat.moment.round >= MOST_ROUNDS {
                    stalled.get_or_insert(entity);
                }
                seat.enter(end);
                calls.push(Call { entity, until: end });
            } else {
                teams.push(at);
            }
        };
        if self.whole {
            // Who is not on their way out lags behind: look at everybody.
            let mut last = None;
            for at in 0..seats.len() {
                if seats[at].moment < end && last != Some(seats[at].unit) {
                    last = Some(seats[at].unit);
                    enter(seats[at].unit, seats);
                }
            }
        } else {
            // Who sends nothing in this window can wait for another. Whoever sends something can be heard by then.
            bounds.up_to(end.after(self.widest).key(), |at| enter(at, seats));
        }
        stalled.map_or(Ok(true), |entity| Err(self.stalled(entity)))
    }

    /// The next moment of a group of several that is not through the open window: adds the calls of those to whom something
    /// happens. False once all are through.
    ///
    /// # Errors
    /// [`WindowError::Stalled`] if it is a round too many.
    pub fn step(&mut self, calls: &mut Vec<Call>) -> Result<bool, WindowError> {
        while let Some(&at) = self.teams.last() {
            let unit = &mut self.units[at];
            let (mut moment, mut out) = (Stamp::END, Stamp::END);
            for seat in &self.seats[unit.members.clone()] {
                moment = moment.min(seat.moment);
                out = out.min(seat.out);
            }
            // What sends nothing in this window can wait for another.
            if (if self.whole { moment } else { out }) >= self.end {
                unit.until = self.end;
                self.teams.pop();
                self.settle(at, out);
                continue;
            }
            let until = moment.next_round();
            unit.until = until;
            let (begun, members) = (calls.len(), unit.members.clone());
            for (entity, seat) in members.clone().zip(&mut self.seats[members]) {
                if seat.moment == moment {
                    seat.enter(until);
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

    /// The messages to be delivered to an entity before it is advanced; whoever asks empties it.
    pub fn inbox(&mut self, entity: usize) -> &mut Vec<Message> {
        self.seats[entity].inbox()
    }

    /// An entity that was called sends a message.
    ///
    /// # Errors
    /// [`WindowError`] if there is no receiver, if the message should not have been sent yet, or if it comes too late.
    pub fn post(&mut self, from: usize, to: Address, message: Message) -> Result<(), WindowError> {
        let sender = &self.seats[from];
        let unit = &self.units[sender.unit];
        let Some(place) = self.places.find(to) else {
            return Err(WindowError::NoReceiver { from: sender.address, to });
        };
        let inside = self.seats[place].unit == sender.unit;
        let latency = if inside { Span::ZERO } else { unit.latency };
        let arrival = message.arrival;
        if arrival < sender.silent.after(latency) {
            let (entity, promised) = (sender.address, sender.silent);
            return Err(WindowError::PromiseBroken {
                entity,
                to,
                promised,
                sent: left(arrival, latency),
                arrival,
            });
        }
        let passed = if inside { unit.until } else { self.end };
        if arrival < passed {
            return Err(WindowError::Late { from: sender.address, to, arrival, passed });
        }
        if arrival.round > MOST_ROUNDS - TALK {
            // The last ones are kept.
            let surplus = (self.talk.len() + 1).saturating_sub(TALK as usize);
            self.talk.drain(..surplus);
            self.talk.push((sender.address, to));
        }
        let seat = &mut self.seats[place];
        if seat.put(message) && !inside {
            let unit = seat.unit;
            self.settle(unit, arrival.min(self.units[unit].out));
        }
        Ok(())
    }

    /// A call has been carried out, and all it sent has been posted: when the entity next does something by itself, and a
    /// moment before which it sends nothing.
    ///
    /// # Errors
    /// [`WindowError::Behind`] if there is something that it should have done already.
    pub fn answer(&mut self, entity: usize, next: Option<Stamp>, promise: Stamp) -> Result<(), WindowError> {
        let seat = &mut self.seats[entity];
        let next = next.unwrap_or(Stamp::END);
        if next < seat.until {
            return Err(WindowError::Behind { entity: seat.address, until: seat.until, next });
        }
        // Nobody sends anything before anything happens to it.
        seat.answer(next, if self.promises { promise.max(next) } else { next });
        let (unit, out) = (seat.unit, seat.out);
        // A group of several is settled when it is through.
        if self.units[unit].members.len() == 1 {
            self.settle(unit, out);
        }
        Ok(())
    }

    /// Everybody who was called has answered. Returns whether everybody has now got as far as the end of the window.
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

    /// Tells how many records had to wait until everybody had passed them, so that not many more will.
    pub fn adapt(&mut self, waited: usize) {
        self.lag.adapt(waited);
        self.horizon = self.lag.after(self.passed);
    }

    /// A group is silent until then.
    fn settle(&mut self, at: usize, out: Stamp) {
        let unit = &mut self.units[at];
        if out != unit.out {
            unit.out = out;
            self.bounds.set(at, out.after(unit.latency).key());
        }
    }

    fn stalled(&self, entity: usize) -> WindowError {
        let Seat { address, moment, .. } = self.seats[entity];
        WindowError::Stalled { entity: address, at: moment, talk: self.talk.clone() }
    }
}

/// The latest moment at which a message can have left.
fn left(arrival: Stamp, latency: Span) -> Stamp {
    let Stamp { time, round } = arrival;
    if latency.is_zero() {
        Stamp { time, round: round.saturating_sub(1) }
    } else {
        let left = time.micros().saturating_sub(latency.micros());
        Stamp::at(Time::from_micros(left))
    }
}
