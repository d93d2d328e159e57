//! The mailbox of an entity: keeps messages in order, hands them out moment by moment, and numbers the messages that are sent;
//! and what entities have in common that handle one moment after the other.

#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, VecDeque};

use serde::{Deserialize, Serialize, Serializer};

use super::message::Letter;
use super::{Address, Body, Entity, EntityError, Message, Outbox, Quiescence, Sender, Stamp};
use crate::model::Job;
use crate::units::{Span, Time};

/// Rounds at one instant before the run is given up as stalled.
pub(super) const MOST_ROUNDS: u32 = 10_000;

/// A message goes to its place among the others only if no more than so many of them have to move.
const MOST_MOVES: usize = 64;

/// Messages that have not been handled, the moment up to which all have been, and the number of the next message to send.
#[derive(Clone, Debug, Deserialize)]
#[serde(from = "Saved<VecDeque<Message<L>>>", bound(deserialize = "L: Deserialize<'de>"))]
pub(super) struct Mailbox<L> {
    /// Messages in order. New ones nearly always come last.
    near: VecDeque<Message<L>>,
    /// Those whose place was in the middle of many others.
    far: BTreeMap<Order, Message<L>>,
    /// Everything before this moment has been handled.
    passed: Stamp,
    sequence: u64,
}

/// What a snapshot has: all messages in order.
#[derive(PartialEq, Serialize, Deserialize)]
#[serde(rename = "Mailbox")]
struct Saved<M> {
    letters: M,
    passed: Stamp,
    sequence: u64,
}

type Order = (Stamp, Sender, u64);

fn order<L>(message: &Message<L>) -> Order {
    (message.arrival, message.sender, message.sequence)
}

impl<L> Default for Mailbox<L> {
    fn default() -> Self {
        let passed = Stamp::default();
        Self { near: VecDeque::new(), far: BTreeMap::new(), passed, sequence: 0 }
    }
}

impl<L: Letter> Mailbox<L> {
    /// When the first message arrives.
    pub(super) fn due(&self) -> Option<Stamp> {
        let near = self.near.front().map(|first| first.arrival);
        if self.far.is_empty() {
            return near;
        }
        let far = self.far.first_key_value().map(|((arrival, ..), _)| *arrival);
        near.into_iter().chain(far).min()
    }

    /// The moment before which everything has been handled.
    pub(super) fn passed(&self) -> Stamp {
        self.passed
    }

    /// The moment of the entity's own event at an instant: the first round that has not been handled.
    pub(super) fn own(&self, time: Time) -> Stamp {
        Stamp::at(time).max(self.passed)
    }

    /// Adds a message in its order. False if its sender has already used its number for that moment.
    fn put(&mut self, message: Message<L>) -> bool {
        let place = order(&message);
        let is_last = self.near.back().is_none_or(|last| order(last) < place);
        let is_first = || self.near.front().is_some_and(|first| place < order(first));
        if self.far.is_empty() && is_last {
            self.near.push_back(message);
            return true;
        }
        // A window delivers its messages in reverse.
        if self.far.is_empty() && is_first() {
            self.near.push_front(message);
            return true;
        }
        let at =
            if is_last { self.near.len() } else { self.near.partition_point(|other| order(other) < place) };
        let is_near = self.near.get(at).is_some_and(|other| order(other) == place);
        if is_near || (!self.far.is_empty() && self.far.contains_key(&place)) {
            return false;
        }
        if at.min(self.near.len() - at) <= MOST_MOVES {
            self.near.insert(at, message);
        } else {
            self.far.insert(place, message);
        }
        true
    }

    /// Takes out the next message that belongs to this moment.
    pub(super) fn take(&mut self, now: Stamp) -> Option<Message<L>> {
        if !self.far.is_empty()
            && let Some(far) = self.far.first_entry()
            && self.near.front().is_none_or(|near| order(near) > *far.key())
        {
            return (far.key().0 <= now).then(|| far.remove());
        }
        self.near.pop_front_if(|first| first.arrival <= now)
    }

    /// Takes out the first message of this moment that comes from outside and is `wanted`, before its turn.
    pub(super) fn take_first(&mut self, now: Stamp, wanted: impl Fn(&L) -> bool) -> Option<Message<L>> {
        let is_due = |letter: &&Message<L>| letter.arrival <= now;
        let is_it = |letter: &&Message<L>| letter.sender == Sender::Outside && wanted(&letter.body);
        let far = self.far.values().take_while(is_due).find(is_it).map(order);
        let near = self.near.iter().take_while(is_due).enumerate().find(|(_, letter)| is_it(letter));
        match (near.map(|(at, letter)| (at, order(letter))), far) {
            (Some((at, near)), far) if far.is_none_or(|far| near < far) => self.near.remove(at),
            (_, far) => self.far.remove(&far?),
        }
    }

    /// When the last message from outside arrives.
    pub(super) fn last_from_outside(&self) -> Option<Time> {
        let outside = self.letters().filter(|letter| letter.sender == Sender::Outside);
        outside.map(|letter| letter.arrival.time).max()
    }

    /// Takes out the jobs in messages that will not be handled any more, because the run is over.
    pub(super) fn jobs(&mut self) -> impl Iterator<Item = Box<Job>> + use<L> {
        self.drain().flat_map(|letter| letter.body.into_jobs())
    }

    /// Takes out all messages, in order.
    pub(super) fn drain(&mut self) -> impl Iterator<Item = Message<L>> + use<L> {
        let mut letters = Vec::from(std::mem::take(&mut self.near));
        letters.extend(std::mem::take(&mut self.far).into_values());
        letters.sort_by_key(order);
        letters.into_iter()
    }

    /// Notes that everything earlier than `until` has been handled.
    pub(super) fn pass(&mut self, until: Stamp) {
        self.passed = self.passed.max(until.min(Stamp::at(Time::NEVER)));
    }
}

impl<L> Mailbox<L> {
    /// All messages, not in order.
    fn letters(&self) -> impl Iterator<Item = &Message<L>> {
        self.near.iter().chain(self.far.values())
    }

    fn saved(&self) -> Saved<Vec<&Message<L>>> {
        let mut letters: Vec<&Message<L>> = self.letters().collect();
        letters.sort_by_key(|letter| order(letter));
        Saved { letters, passed: self.passed, sequence: self.sequence }
    }
}

impl<L: Serialize> Serialize for Mailbox<L> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.saved().serialize(serializer)
    }
}

impl<L> From<Saved<VecDeque<Message<L>>>> for Mailbox<L> {
    fn from(Saved { letters, passed, sequence }: Saved<VecDeque<Message<L>>>) -> Self {
        Self { near: letters, far: BTreeMap::new(), passed, sequence }
    }
}

/// Two are equal if their snapshots are.
impl<L: PartialEq> PartialEq for Mailbox<L> {
    fn eq(&self, other: &Self) -> bool {
        self.saved() == other.saved()
    }
}

impl<L: Eq> Eq for Mailbox<L> {}

/// An entity that handles one moment after the other. Every such type is an [`Entity`].
pub(super) trait Moments {
    /// The messages to it.
    type Letter: Letter;

    /// Its address.
    fn address(&self) -> Address;

    /// Its mailbox.
    fn mail(&mut self) -> &mut Mailbox<Self::Letter>;

    /// The next moment at which there is something to do.
    fn next(&self) -> Option<Stamp>;

    /// Handles everything that belongs to one moment.
    fn handle(&mut self, now: Stamp, outbox: &mut dyn Outbox) -> Result<(), EntityError>;

    /// The work that is left.
    fn quiescence(&self) -> Quiescence {
        Quiescence::default()
    }

    /// Its name in errors.
    fn who(&self) -> String {
        self.address().to_string()
    }

    /// Notes that a message has been delivered.
    fn delivered(&mut self, _arrival: Stamp, _sender: Sender) {}

    /// Notes that a moment has been handled.
    fn handled(&mut self, now: Stamp) {
        self.mail().passed = now.next_round();
    }

    /// Sends a message that arrives after `latency`.
    fn send(
        &mut self,
        to: Address,
        now: Stamp,
        latency: Span,
        letter: impl Into<Body>,
        outbox: &mut dyn Outbox,
    ) {
        let sender = Sender::Entity(self.address());
        let mail = self.mail();
        let sequence = mail.sequence;
        mail.sequence += 1;
        outbox.send(to, Message { arrival: now.after(latency), sender, sequence, body: letter.into() });
    }

    /// The error of a saved state that does not fit.
    fn bad_save(&self, problem: &str) -> EntityError {
        EntityError::BadSave { who: self.who(), problem: problem.to_owned() }
    }
}

impl<E: Moments> Entity for E {
    fn address(&self) -> Address {
        Moments::address(self)
    }

    fn next_event(&self) -> Option<Stamp> {
        self.next()
    }

    fn quiescence(&self) -> Quiescence {
        Moments::quiescence(self)
    }

    fn advance(&mut self, until: Stamp, outbox: &mut dyn Outbox) -> Result<(), EntityError> {
        while let Some(now) = self.next().filter(|next| *next < until) {
            if now.round >= MOST_ROUNDS {
                return Err(EntityError::Stalled { who: self.who(), at: now, rounds: now.round });
            }
            self.handle(now, outbox)?;
            self.handled(now);
        }
        self.mail().pass(until);
        Ok(())
    }

    fn deliver(&mut self, message: Message) -> Result<(), EntityError> {
        let Message { arrival, sender, sequence, body } = message;
        let now = self.mail().passed;
        if arrival < now {
            return Err(EntityError::Late { who: self.who(), now, arrival });
        }
        let body = E::Letter::open(body)
            .map_err(|body| EntityError::Misaddressed { who: self.who(), meant: body.receiver() })?;
        if !self.mail().put(Message { arrival, sender, sequence, body }) {
            return Err(EntityError::Repeated { who: self.who(), arrival, sequence });
        }
        self.delivered(arrival, sender);
        Ok(())
    }
}
