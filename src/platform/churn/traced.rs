//! Outages of machines that follow a trace.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use serde::{Deserialize, Serialize};
use thiserror::Error;

use super::Turn;
use super::notices::Notices;
use crate::model::{FailureTrace, ProcSet, TracedChurn};
use crate::units::{Span, Time};

/// The machines of a partition that come and go as the nodes of a [`FailureTrace`] did, to the microsecond. After the end of the trace they
/// stay as they are.
///
/// Each machine has the number of the next change of its node; a heap has the times of these changes. So a change costs a logarithm of
/// the number of machines, however long the trace is.
#[derive(Clone, Debug)]
pub struct TracedOutages {
    /// The trace; `None` if the machines do not follow one any more.
    trace: Option<FailureTrace>,
    origin: Span,
    /// The node of each machine.
    nodes: Vec<u32>,
    /// For each machine, how many changes of its node are past: it is down if that is odd.
    changes: Vec<u32>,
    /// The next change of each machine, if there is one.
    queue: BinaryHeap<Reverse<(Time, u32)>>,
    /// Machines that must first become what the trace says.
    behind: ProcSet,
    /// All changes up to this time are past.
    until: Time,
    notices: Notices,
}

/// The state of [`TracedOutages`]: all else follows from the trace.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TracedSave {
    digest: u128,
    until: Time,
}

impl TracedSave {
    /// All changes up to this time were past.
    pub const fn until(&self) -> Time {
        self.until
    }
}

/// A saved state that does not fit.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("its machines followed another failure trace than `{0}` when it was saved")]
pub struct TracedError(String);

impl TracedOutages {
    /// The machines of partition `partition` at the beginning of a run.
    pub fn new(churn: &TracedChurn, partition: usize) -> Self {
        let nodes = churn.nodes.get(partition).cloned().unwrap_or_default();
        let mut outages = Self {
            trace: Some(churn.trace.clone()),
            origin: churn.origin,
            changes: vec![0; nodes.len()],
            nodes,
            queue: BinaryHeap::new(),
            behind: ProcSet::new(),
            until: Time::ZERO,
            notices: Notices::default(),
        };
        outages.go_to(Time::ZERO);
        outages
    }

    /// The same with so much notice of each machine that leaves.
    #[must_use]
    pub fn with_notice(mut self, notice: Span) -> Self {
        self.notices = Notices::new(notice);
        self.announce(&ProcSet::new(), Time::ZERO);
        self
    }

    /// Determines anew when machines begin to drain that do not do so yet: at `now` at the earliest.
    fn announce(&mut self, draining: &ProcSet, now: Time) {
        let changes = self.queue.iter().map(|entry| entry.0);
        let leaves = changes.filter(|(_, machine)| self.changes[*machine as usize].is_multiple_of(2));
        self.notices.announce(leaves, draining, now);
    }

    /// The machines that begin to drain up to and including `now`. Those that come or leave until then are [due](Self::due) before.
    pub fn draining(&mut self, now: Time) -> ProcSet {
        self.notices.due(now, |machine| self.changes[machine as usize].is_multiple_of(2))
    }

    /// Machines that have followed a trace until now, and are `down` by it: they come back at once, and stay.
    pub fn ceasing(down: &ProcSet, now: Time) -> Self {
        Self {
            trace: None,
            origin: Span::ZERO,
            nodes: Vec::new(),
            changes: Vec::new(),
            queue: BinaryHeap::new(),
            behind: down.clone(),
            until: now,
            notices: Notices::default(),
        }
    }

    /// The time of the next change of a machine, in the run; changes before the run begins are at 0.
    fn change(&self, machine: u32, past: u32) -> Option<Time> {
        let node = *self.nodes.get(machine as usize)?;
        let outage = self.trace.as_ref()?.nodes()?.of(node).get(past as usize / 2)?;
        let at = if past.is_multiple_of(2) { outage.from } else { outage.to };
        (at < Span::MAX).then(|| Time::ZERO + (at.max(self.origin) - self.origin))
    }

    /// Makes all changes up to `now` past ones.
    fn go_to(&mut self, now: Time) {
        self.until = now;
        self.queue.clear();
        let until = (now.since(Time::ZERO)) + self.origin;
        for machine in 0..self.nodes.len() as u32 {
            let nodes = self.trace.as_ref().and_then(FailureTrace::nodes);
            let own = nodes.map(|nodes| nodes.of(self.nodes[machine as usize])).unwrap_or_default();
            let begun = own.partition_point(|outage| outage.from <= until);
            let over = own[..begun].last().is_none_or(|last| last.to <= until);
            let past = (2 * begun - usize::from(!over)) as u32;
            self.changes[machine as usize] = past;
            self.queue.extend(self.change(machine, past).map(|at| Reverse((at, machine))));
        }
    }

    /// The machines that are down now, by the trace.
    pub fn down(&self) -> ProcSet {
        let down = self.changes.iter().zip(0..).filter(|(past, _)| *past % 2 == 1);
        down.map(|(_, machine)| machine).collect()
    }

    /// The next instant at which a machine comes, leaves or begins to drain; `None` if there is none.
    pub fn next(&self) -> Option<Time> {
        if !self.behind.is_empty() {
            return Some(self.until);
        }
        let change = self.queue.peek().map(|Reverse((time, _))| *time);
        change.into_iter().chain(self.notices.next()).min()
    }

    /// The machines that come or leave up to and including `now`, in order of time; those of one instant in order of their
    /// numbers. No machine occurs twice in one instant.
    pub fn due(&mut self, now: Time) -> Vec<(u32, Turn)> {
        let turn = |past: u32| if past % 2 == 1 { Turn::Down } else { Turn::Up };
        let behind = std::mem::take(&mut self.behind);
        let mut turns: Vec<(u32, Turn)> = behind
            .iter()
            .map(|machine| (machine, turn(self.changes.get(machine as usize).copied().unwrap_or_default())))
            .collect();
        while let Some(Reverse((time, machine))) = self.queue.peek().copied().filter(|top| top.0.0 <= now) {
            self.queue.pop();
            self.until = time;
            let past = &mut self.changes[machine as usize];
            *past += 1;
            let past = *past;
            let next = self.change(machine, past);
            self.queue.extend(next.map(|at| Reverse((at, machine))));
            if let Some(leaves) = next.filter(|_| past.is_multiple_of(2)) {
                self.notices.add(leaves, machine, time);
            }
            turns.push((machine, turn(past)));
        }
        turns
    }

    /// The state.
    pub fn save(&self) -> TracedSave {
        TracedSave { digest: self.trace.as_ref().map_or(0, FailureTrace::digest), until: self.until }
    }

    /// Whether a state is of the same trace.
    pub fn follows_the_same(&self, saved: &TracedSave) -> bool {
        self.trace.as_ref().is_some_and(|trace| trace.digest() == saved.digest)
    }

    /// Restores a state in which these machines were `draining`.
    ///
    /// # Errors
    /// [`TracedError`] if it is of another trace.
    pub fn restore(&mut self, saved: &TracedSave, draining: &ProcSet) -> Result<(), TracedError> {
        match &self.trace {
            Some(trace) if trace.digest() != saved.digest => Err(TracedError(trace.name().to_owned())),
            _ => {
                self.go_to(saved.until);
                self.announce(draining, Time::ZERO);
                Ok(())
            }
        }
    }

    /// Goes on at `now` with machines of which `down` have been down so far, by this trace, by another one, or by none: they become what
    /// this one says, at that instant. Those that are `draining` go on to do so.
    pub fn go_on_at(&mut self, now: Time, down: &ProcSet, draining: &ProcSet) {
        self.go_to(now);
        self.announce(draining, now);
        let mine = self.down();
        self.behind = mine.clone();
        self.behind.insert_all(down);
        self.behind.remove_all(&mine.intersection(down));
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::model::{NodeOutages, Outage};
    use crate::units::Timestamp;

    fn churn(outages: &[Vec<(u64, u64)>], origin: u64) -> TracedChurn {
        let mut nodes = NodeOutages::default();
        for own in outages {
            let own = own
                .iter()
                .map(|(from, to)| Outage { from: Span::from_micros(*from), to: Span::from_micros(*to) });
            nodes.push("n".to_owned(), own);
        }
        let [begin, end] = [0, 1_000].map(Timestamp::from_micros);
        let trace = FailureTrace::new("a.tab", begin, end, nodes);
        TracedChurn {
            trace,
            origin: Span::from_micros(origin),
            nodes: vec![(0..outages.len() as u32).collect()],
        }
    }

    fn of(machines: &[u32]) -> ProcSet {
        machines.iter().copied().collect()
    }

    #[test]
    fn machines_follow_their_nodes() {
        let churn =
            churn(&[vec![(0, 10), (20, 30)], vec![(15, u64::MAX)], vec![], vec![(2, 5), (10, 12)]], 5);
        let mut outages = TracedOutages::new(&churn, 0);
        // At 5 of the trace the outage of the last one is just over.
        assert_eq!(outages.down(), of(&[0]));
        let mut told = Vec::new();
        while let Some(at) = outages.next() {
            told.push((at, outages.due(at)));
        }
        let at = Time::from_micros;
        assert_eq!(
            told,
            [
                (at(5), vec![(0, Turn::Up), (3, Turn::Down)]),
                (at(7), vec![(3, Turn::Up)]),
                (at(10), vec![(1, Turn::Down)]),
                (at(15), vec![(0, Turn::Down)]),
                (at(25), vec![(0, Turn::Up)]),
            ]
        );
        assert_eq!(outages.down(), of(&[1]));
    }

    #[test]
    fn a_fork_goes_on_with_another_trace_at_once() {
        let now = Time::from_micros(4);
        let mut outages = TracedOutages::new(&churn(&[vec![(0, 9)], vec![(3, 9)], vec![]], 0), 0);
        outages.go_on_at(now, &of(&[1, 2]), &of(&[]));
        assert_eq!(outages.next(), Some(now));
        assert_eq!(outages.due(now), [(0, Turn::Down), (2, Turn::Up)]);
        assert_eq!(outages.next(), Some(Time::from_micros(9)));
        let mut ceasing = TracedOutages::ceasing(&of(&[1]), now);
        assert_eq!(
            (ceasing.next(), ceasing.due(now), ceasing.next()),
            (Some(now), vec![(1, Turn::Up)], None)
        );
    }

    proptest! {
        #[test]
        fn what_is_restored_goes_on(
            lengths in proptest::collection::vec(proptest::collection::vec(1_u64..9, 0..12), 1..5),
            origin in 0_u64..30,
            stop in 0_u64..60,
        ) {
            let outages: Vec<Vec<(u64, u64)>> = lengths.iter().map(|lengths| {
                let mut at = 0;
                lengths.chunks_exact(2).map(|pair| {
                    let from = at + pair[0];
                    at = from + pair[1];
                    (from, at)
                }).collect()
            }).collect();
            let churn = churn(&outages, origin);
            let down_at = |at: u64| -> ProcSet {
                let is_down = |own: &Vec<(u64, u64)>| own.iter().any(|(from, to)| (*from..*to).contains(&(at + origin)));
                outages.iter().zip(0..).filter(|(own, _)| is_down(own)).map(|(_, machine)| machine).collect()
            };
            let mut straight = TracedOutages::new(&churn, 0);
            prop_assert_eq!(straight.down(), down_at(0));
            while let Some(at) = straight.next().filter(|at| at.micros() <= stop) {
                straight.due(at);
                prop_assert_eq!(straight.down(), down_at(at.micros()));
            }
            let mut again = TracedOutages::new(&churn, 0);
            again.restore(&straight.save(), &ProcSet::new()).unwrap();
            let mut forked = TracedOutages::new(&churn, 0);
            forked.go_on_at(Time::from_micros(stop), &straight.down(), &ProcSet::new());
            while let Some(at) = straight.next() {
                prop_assert_eq!((again.next(), forked.next()), (Some(at), Some(at)));
                let due = straight.due(at);
                prop_assert_eq!(&again.due(at), &due);
                prop_assert_eq!(forked.due(at), due);
                prop_assert_eq!(straight.down(), down_at(at.micros()));
            }
            prop_assert_eq!((again.next(), forked.next()), (None, None));
        }
    }
}
