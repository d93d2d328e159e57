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
    /// When it next does something by itself.
    pub(super) next: Stamp,
    /// It sends nothing before, unless a message reaches it.
    pub(super) promise: Stamp,
    /// When the first message of the inbox arrives.
    pub(super) due: Stamp,
    /// Messages that have not been delivered.
    pub(super) inbox: Vec<Message>,
    /// What it has been called up to.
    pub(super) until: Stamp,
    /// It was to send nothing before this moment during its call.
    pub(super) silent: Stamp,
}

impl Seat {
    pub(super) fn new(address: Address, next: Option<Stamp>) -> Self {
        let next = next.unwrap_or(Stamp::END);
        Self {
            address,
            unit: 0,
            next,
            // Nothing has been promised yet.
            promise: next,
            due: Stamp::END,
            inbox: Vec::new(),
            until: Stamp::default(),
            silent: Stamp::default(),
        }
    }

    /// When something next happens to it.
    pub(super) fn moment(&self) -> Stamp {
        self.next.min(self.due)
    }

    /// A moment before which it sends nothing.
    pub(super) fn out(&self) -> Stamp {
        self.promise.min(self.due)
    }

    /// It is called.
    pub(super) fn enter(&mut self, until: Stamp) {
        self.until = until;
        self.silent = self.out();
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
