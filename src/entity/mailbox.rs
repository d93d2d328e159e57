//! The mailbox of an entity: keeps messages in order, hands them out moment by moment, and numbers the messages that are sent.

use std::collections::VecDeque;

use serde::{Deserialize, Serialize};

use super::{Address, Body, EntityError, Message, Outbox, Sender, Stamp};
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

    /// Adds a message in its order.
    pub(super) fn put(&mut self, message: Message, who: impl Fn() -> String) -> Result<(), EntityError> {
        if message.arrival < self.passed {
            return Err(EntityError::Late { who: who(), now: self.passed, arrival: message.arrival });
        }
        let at = match self.letters.back() {
            Some(last) if order(last) >= order(&message) => {
                self.letters.partition_point(|other| order(other) < order(&message))
            }
            _ => self.letters.len(),
        };
        if self.letters.get(at).is_some_and(|other| order(other) == order(&message)) {
            let (arrival, sequence) = (message.arrival, message.sequence);
            return Err(EntityError::Repeated { who: who(), arrival, sequence });
        }
        self.letters.insert(at, message);
        Ok(())
    }

    /// Takes out the next message that belongs to this moment.
    pub(super) fn take(&mut self, now: Stamp) -> Option<Message> {
        self.letters.pop_front_if(|first| first.arrival <= now)
    }

    /// Takes out the first message of this moment that comes from outside and is `wanted`, before its turn.
    pub(super) fn take_first(&mut self, now: Stamp, wanted: impl Fn(&Body) -> bool) -> Option<Message> {
        let due = self.letters.iter().take_while(|letter| letter.arrival <= now);
        let at = due.enumerate().find(|(_, letter)| wanted(&letter.body)).map(|(at, _)| at)?;
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

    /// Notes that a moment has been handled.
    pub(super) fn handled(&mut self, now: Stamp) {
        self.passed = now.next_round();
    }

    /// Notes that everything earlier than `until` has been handled.
    pub(super) fn pass(&mut self, until: Stamp) {
        self.passed = self.passed.max(until.min(Stamp::at(Time::NEVER)));
    }

    /// Sends a message that arrives after `latency`.
    pub(super) fn send(
        &mut self,
        from: Address,
        to: Address,
        now: Stamp,
        latency: Span,
        body: Body,
        outbox: &mut dyn Outbox,
    ) {
        let sequence = self.sequence;
        self.sequence += 1;
        outbox
            .send(to, Message { arrival: now.after(latency), sender: Sender::Entity(from), sequence, body });
    }
}

/// An entity that handles one moment after the other.
pub(super) trait Moments {
    /// Its mailbox.
    fn mail(&mut self) -> &mut Mailbox;

    /// The next moment at which there is something to do.
    fn next(&self) -> Option<Stamp>;

    /// Handles everything that belongs to one moment.
    fn handle(&mut self, now: Stamp, outbox: &mut dyn Outbox) -> Result<(), EntityError>;

    /// Its name in errors.
    fn who(&self) -> String;
}

/// Handles every moment earlier than `until`.
pub(super) fn advance(
    entity: &mut impl Moments,
    until: Stamp,
    outbox: &mut dyn Outbox,
) -> Result<(), EntityError> {
    while let Some(now) = entity.next().filter(|next| *next < until) {
        if now.round >= MOST_ROUNDS {
            return Err(EntityError::Stalled { who: entity.who(), at: now, rounds: now.round });
        }
        entity.handle(now, outbox)?;
        entity.mail().handled(now);
    }
    entity.mail().pass(until);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::JobId;

    fn letter(round: u32, sender: Sender, sequence: u64) -> Message {
        let arrival = Stamp { time: Time::from_secs(1), round };
        Message { arrival, sender, sequence, body: Body::Cancel(JobId(sequence)) }
    }

    #[test]
    fn messages_are_handed_out_by_moment_sender_and_number() {
        let mut mail = Mailbox::default();
        let broker = Sender::Entity(Address::Broker);
        for message in
            [letter(1, broker, 0), letter(0, broker, 2), letter(0, Sender::Outside, 5), letter(0, broker, 1)]
        {
            mail.put(message, String::new).unwrap();
        }
        assert!(matches!(mail.put(letter(0, broker, 1), String::new), Err(EntityError::Repeated { .. })));
        let now = Stamp::at(Time::from_secs(1));
        let order: Vec<u64> = std::iter::from_fn(|| mail.take(now)).map(|message| message.sequence).collect();
        assert_eq!(order, [5, 1, 2]);
        mail.handled(now);
        assert_eq!(mail.due(), Some(now.next_round()));
        assert!(matches!(mail.put(letter(0, broker, 9), String::new), Err(EntityError::Late { .. })));
    }
}
