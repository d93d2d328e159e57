//! What is known of an entity, and of a group.

use std::ops::Range;

use super::{Group, WindowError};
use crate::entity::{Address, Message, Stamp};
use crate::units::Span;

/// What is known of an entity.
#[derive(Debug)]
pub(super) struct Seat {
    pub(super) address: Address,
    /// Its group.
    pub(super) unit: usize,
    /// When something next happens to it, by itself or because a message reaches it.
    pub(super) moment: Stamp,
    /// It sends nothing before.
    pub(super) out: Stamp,
    /// When the first message of the inbox arrives.
    due: Stamp,
    /// Messages that have not been delivered.
    inbox: Vec<Message>,
    /// What it has been called up to.
    pub(super) until: Stamp,
    /// It was to send nothing before this moment when it was called.
    pub(super) silent: Stamp,
}

impl Seat {
    /// Nothing has been promised yet.
    pub(super) fn new(address: Address, next: Option<Stamp>) -> Self {
        let next = next.unwrap_or(Stamp::END);
        Self {
            address,
            unit: 0,
            moment: next,
            out: next,
            due: Stamp::END,
            inbox: Vec::new(),
            until: Stamp::default(),
            silent: Stamp::default(),
        }
    }

    /// It is called.
    pub(super) fn enter(&mut self, until: Stamp) {
        self.until = until;
        self.silent = self.out;
    }

    /// A message is on its way to it. True if it may make it speak earlier than it would have.
    pub(super) fn put(&mut self, message: Message) -> bool {
        let arrival = message.arrival;
        self.inbox.push(message);
        self.due = self.due.min(arrival);
        self.moment = self.moment.min(arrival);
        let sooner = arrival < self.out;
        self.out = self.out.min(arrival);
        sooner
    }

    /// The inbox, to be emptied.
    pub(super) fn inbox(&mut self) -> &mut Vec<Message> {
        self.due = Stamp::END;
        &mut self.inbox
    }

    /// It has done what it was called for. What was put into its inbox meanwhile still counts.
    pub(super) fn answer(&mut self, next: Stamp, promise: Stamp) {
        self.moment = next.min(self.due);
        self.out = promise.min(self.due);
    }
}

/// What is known of a group.
#[derive(Debug)]
pub(super) struct Unit {
    pub(super) members: Range<usize>,
    pub(super) latency: Span,
    /// A moment before which none of them sends anything.
    pub(super) out: Stamp,
    /// What its members have passed, as far as each other's messages go.
    pub(super) until: Stamp,
}

impl Unit {
    /// Cuts the seats into groups, and tells each its own.
    pub(super) fn cut(groups: &[Group], seats: &mut [Seat]) -> Result<Vec<Self>, WindowError> {
        let grouped = groups.iter().map(|group| group.members).sum();
        if grouped != seats.len() {
            return Err(WindowError::Groups { grouped, entities: seats.len() });
        }
        let mut units: Vec<Self> = Vec::with_capacity(groups.len());
        let mut first = 0;
        for Group { members, latency } in groups.iter().copied().filter(|group| group.members > 0) {
            let members = first..first + members;
            first = members.end;
            seats[members.clone()].iter_mut().for_each(|seat| seat.unit = units.len());
            units.push(Self { members, latency, out: Stamp::END, until: Stamp::default() });
        }
        Ok(units)
    }
}
