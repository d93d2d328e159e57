//! The clocks of entities and of groups.

use std::ops::Range;

use super::{Group, WindowError};
use crate::entity::{Address, Message, Stamp};
use crate::units::Span;

/// How far an entity has come, and what is next for it.
#[derive(Debug)]
pub(super) struct EntityClock {
    pub(super) address: Address,
    /// The index of its group.
    pub(super) unit: usize,
    /// The moment at which something next happens to it, by itself or because a message arrives.
    pub(super) moment: Stamp,
    /// The arrival of the first message in the inbox.
    due: Stamp,
    /// Messages that have not been delivered yet.
    inbox: Vec<Message>,
    /// The end of its latest call.
    pub(super) until: Stamp,
    /// The moment that was next when it was called.
    pub(super) entered: Stamp,
}

impl EntityClock {
    /// The clock of an entity that has not been called yet.
    pub(super) fn new(address: Address, next: Option<Stamp>) -> Self {
        let next = next.unwrap_or(Stamp::END);
        Self {
            address,
            unit: 0,
            moment: next,
            due: Stamp::END,
            inbox: Vec::new(),
            until: Stamp::default(),
            entered: Stamp::default(),
        }
    }

    /// Begins a call up to `until`.
    pub(super) fn enter(&mut self, until: Stamp) {
        self.until = until;
        self.entered = self.moment;
    }

    /// Puts a message into the inbox. True if this brings the entity's next moment forward.
    pub(super) fn put(&mut self, message: Message) -> bool {
        let arrival = message.arrival;
        self.inbox.push(message);
        self.due = self.due.min(arrival);
        let sooner = arrival < self.moment;
        self.moment = self.moment.min(arrival);
        sooner
    }

    /// The inbox; the caller empties it.
    pub(super) fn inbox(&mut self) -> &mut Vec<Message> {
        self.due = Stamp::END;
        &mut self.inbox
    }

    /// Ends a call. Messages that arrived in the inbox during the call still count.
    pub(super) fn answer(&mut self, next: Stamp) {
        self.moment = next.min(self.due);
    }
}

/// How far a group has come.
#[derive(Debug)]
pub(super) struct Unit {
    pub(super) members: Range<usize>,
    pub(super) latency: Span,
    /// The earliest moment at which something happens to any member.
    pub(super) moment: Stamp,
    /// The moment that its members have passed, for messages among them.
    pub(super) until: Stamp,
}

impl Unit {
    /// Divides the clocks into groups, and sets the group of each.
    pub(super) fn cut(groups: &[Group], clocks: &mut [EntityClock]) -> Result<Vec<Self>, WindowError> {
        let grouped = groups.iter().map(|group| group.members).sum();
        if grouped != clocks.len() {
            return Err(WindowError::Groups { grouped, entities: clocks.len() });
        }
        let mut units: Vec<Self> = Vec::with_capacity(groups.len());
        let mut first = 0;
        for Group { members, latency } in groups.iter().copied().filter(|group| group.members > 0) {
            let members = first..first + members;
            first = members.end;
            clocks[members.clone()].iter_mut().for_each(|clock| clock.unit = units.len());
            units.push(Self { members, latency, moment: Stamp::END, until: Stamp::default() });
        }
        Ok(units)
    }
}
