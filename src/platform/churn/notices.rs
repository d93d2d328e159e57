//! When machines begin to drain that are known to leave.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::announced;
use crate::model::ProcSet;
use crate::units::{Span, Time};

/// The machines of a partition that will leave, each once, by when they begin to drain.
#[derive(Clone, Debug, Default)]
pub(super) struct Notices {
    /// How long before it leaves a machine drains; 0 if none does.
    notice: Span,
    queue: BinaryHeap<Reverse<(Time, u32)>>,
}

impl Notices {
    /// Of so much notice, and nothing announced.
    pub(super) fn new(notice: Span) -> Self {
        Self { notice, queue: BinaryHeap::new() }
    }

    /// Announces all anew: when which machine leaves. Those that are `draining` go on to do so; others begin at `now` at the earliest.
    pub(super) fn announce(
        &mut self,
        leaves: impl Iterator<Item = (Time, u32)>,
        draining: &ProcSet,
        now: Time,
    ) {
        self.queue.clear();
        leaves
            .filter(|(_, machine)| !draining.contains(*machine))
            .for_each(|(at, machine)| self.add(at, machine, now));
    }

    /// Announces that a machine leaves, which has been back since `back`.
    pub(super) fn add(&mut self, leaves: Time, machine: u32, back: Time) {
        if !self.notice.is_zero() {
            self.queue.push(Reverse((announced(leaves, self.notice, back), machine)));
        }
    }

    /// When the next machine begins to drain.
    pub(super) fn next(&self) -> Option<Time> {
        self.queue.peek().map(|Reverse((time, _))| *time)
    }

    /// The machines that begin to drain up to and including `now`, of those that are up.
    pub(super) fn due(&mut self, now: Time, is_up: impl Fn(u32) -> bool) -> ProcSet {
        let mut draining = ProcSet::new();
        while let Some(Reverse((_, machine))) = self.queue.peek().copied().filter(|top| top.0.0 <= now) {
            self.queue.pop();
            if is_up(machine) {
                draining.insert(machine);
            }
        }
        draining
    }
}
