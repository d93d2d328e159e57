//! The mailbox of an entity: keeps messages in order, hands them out moment by moment, and numbers the messages that are sent;
//! and what entities have in common that handle one moment after the other.

use std::collections::VecDeque;

use serde::{Deserialize, Serialize};

use super::{Address, Body, Entity, EntityError, Message, Outbox, Quiescence, Sender, Stamp};
use crate::model::Job;
use crate::units::{Span, Time};

/// Rounds at one instant before the run is given up as stalled.
pub(super) const MOST_ROUNDS: u32 = 10_000;

/// Messages that have not been handled, the moment up to which all have been, and the number of the next message to send.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Mailbox {
    /// Messages in order. New ones nearly always come last.
    letters: VecDeque<Message>,
    /// Everything before this moment has been handled.
    passed: Stamp,
    sequence: u64,
}

fn order(message: &Message) -> (Stamp, Sender, u64) {
    (message.arrival, message.sender, message.sequence)
}

impl Mailbox {
    /// When the first message arrives.
    pub(super) fn due(&self) -> Option<Stamp> {
        self.letters.front().map(|first| first.arrival)
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
    fn put(&mut self, message: Message) -> bool {
        let at = match self.letters.back() {
            Some(last) if order(last) >= order(&message) => {
                self.letters.partition_point(|other| order(other) < order(&message))
            }
            _ => self.letters.len(),
        };
        let is_new = self.letters.get(at).is_none_or(|other| order(other) != order(&message));
        if is_new {
            self.letters.insert(at, message);
        }
        is_new
    }

    /// Takes out the next message that belongs to this moment.
    pub(super) fn take(&mut self, now: Stamp) -> Option<Message> {
        self.letters.pop_front_if(|first| first.arrival <= now)
    }

    /// Takes out the first message of this moment that comes from outside and is `wanted`, before its turn.
    pub(super) fn take_first(&mut self, now: Stamp, wanted: impl Fn(&Body) -> bool) -> Option<Message> {
        let due = self.letters.iter().take_while(|letter| letter.arrival <= now);
        let from_outside = |letter: &&Message| letter.sender == Sender::Outside && wanted(&letter.body);
        let at = due.enumerate().find(|(_, letter)| from_outside(letter)).map(|(at, _)| at)?;
        self.letters.remove(at)
    }

    /// When the last message from outside arrives.
    pub(super) fn last_from_outside(&self) -> Option<Time> {
        let outside = self.letters.iter().filter(|letter| letter.sender == Sender::Outside);
        outside.map(|letter| letter.arrival.time).max()
    }

    /// Takes out the jobs in messages that will not be handled any more, because the run is over.
    pub(super) fn jobs(&mut self) -> impl Iterator<Item = Box<Job>> + use<> {
        let letters = std::mem::take(&mut self.letters).into_iter();
        letters.filter_map(|letter| match letter.body {
            Body::Submit(job) | Body::Returned { job, .. } | Body::Assign { job, .. } => Some(job),
            _ => None,
        })
    }

    /// The number of messages that report the end of a job.
    pub(super) fn ends(&self) -> u64 {
        self.letters.iter().filter(|letter| matches!(letter.body, Body::Ended { .. })).count() as u64
    }

    /// Notes that everything earlier than `until` has been handled.
    pub(super) fn pass(&mut self, until: Stamp) {
        self.passed = self.passed.max(until.min(Stamp::at(Time::NEVER)));
    }
}

/// An entity that handles one moment after the other. Every such type is an [`Entity`].
pub(super) trait Moments {
    /// Its address.
    fn address(&self) -> Address;

    /// Its mailbox.
    fn mail(&mut self) -> &mut Mailbox;

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
    fn send(&mut self, to: Address, now: Stamp, latency: Span, body: Body, outbox: &mut dyn Outbox) {
        let sender = Sender::Entity(self.address());
        let mail = self.mail();
        let sequence = mail.sequence;
        mail.sequence += 1;
        outbox.send(to, Message { arrival: now.after(latency), sender, sequence, body });
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
        let Message { arrival, sender, sequence, .. } = message;
        let now = self.mail().passed;
        if arrival < now {
            return Err(EntityError::Late { who: self.who(), now, arrival });
        }
        if !self.mail().put(message) {
            return Err(EntityError::Repeated { who: self.who(), arrival, sequence });
        }
        self.delivered(arrival, sender);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::entity::Directory;
    use crate::model::JobId;

    fn letter(round: u32, sender: Sender, sequence: u64) -> Message {
        let arrival = Stamp { time: Time::from_secs(1), round };
        Message { arrival, sender, sequence, body: Body::Cancel(JobId(sequence)) }
    }

    #[test]
    fn messages_are_handed_out_by_moment_sender_and_number() {
        let mut entity = Directory::new(0);
        let broker = Sender::Entity(Address::Broker);
        for message in
            [letter(1, broker, 0), letter(0, broker, 2), letter(0, Sender::Outside, 5), letter(0, broker, 1)]
        {
            entity.deliver(message).unwrap();
        }
        assert!(matches!(entity.deliver(letter(0, broker, 1)), Err(EntityError::Repeated { .. })));
        let now = Stamp::at(Time::from_secs(1));
        let letters = std::iter::from_fn(|| entity.mail().take(now));
        let order: Vec<u64> = letters.map(|message| message.sequence).collect();
        assert_eq!(order, [5, 1, 2]);
        entity.handled(now);
        assert_eq!(entity.mail().due(), Some(now.next_round()));
        assert!(
            entity.mail().take_first(now.next_round(), |_| true).is_none(),
            "the last one is of the broker"
        );
        assert!(matches!(entity.deliver(letter(0, broker, 9)), Err(EntityError::Late { .. })));
    }
}
