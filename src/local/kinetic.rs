//! Waiting jobs by expansion factor, the largest first, at any instant: a kinetic tournament.
//!
//! While a job waits, its expansion factor (wait + estimate) / estimate is a line in time. A tree of winners keeps which of many
//! lines is the highest, and until when each comparison in it holds [Basch, Guibas and Hershberger 1999, *Data structures for mobile
//! data*]: so the job with the largest factor is known without sorting the queue at each pass, exactly and in O(log² n) amortised.
//!
//! ```
//! use gridemu::local::{Line, Tournament};
//! use gridemu::units::{Span, Time};
//!
//! let at = Time::from_secs;
//! let mut jobs = Tournament::new();
//! // A long job that has waited for a minute, and a short one that comes now.
//! jobs.insert(at(60), Line::new(at(0), Span::from_secs(600)), 1, "long");
//! jobs.insert(at(60), Line::new(at(60), Span::from_secs(60)), 2, "short");
//! assert_eq!(jobs.best(at(60)).map(|best| best.item), Some("long"));
//! assert_eq!(jobs.best(at(80)).map(|best| best.item), Some("short"), "20 s of 60 s are more than 80 s of 600 s");
//! ```

use std::cmp::Ordering;

use serde::{Deserialize, Serialize};

use crate::units::{Span, Time};

/// A quotient of two whole numbers, compared without rounding.
#[derive(Copy, Clone, Debug, Serialize, Deserialize)]
pub struct Quotient {
    /// The dividend.
    pub num: u64,
    /// The divisor, which is not 0.
    pub den: u64,
}

impl PartialEq for Quotient {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Quotient {}

impl PartialOrd for Quotient {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Quotient {
    #[inline]
    fn cmp(&self, other: &Self) -> Ordering {
        let (mine, theirs) = (product(self.num, other.den), product(other.num, self.den));
        mine.cmp(&theirs)
    }
}

/// An expansion factor that grows with time: 1 + (now − since) / span, where `since` is such that the job has waited for now − since, and `span` is
/// its estimate.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Line {
    since: Time,
    span: Span,
}

impl Line {
    /// The factor of a job that has waited as if since then, by its estimate (one tick if it is less).
    pub fn new(since: Time, span: Span) -> Self {
        Self { since, span: span.max(Span::TICK) }
    }

    /// The instant since which it has waited, in effect: what it ran meanwhile counts as not having passed.
    pub fn since(self) -> Time {
        self.since
    }

    /// The estimate, or one tick.
    pub fn span(self) -> Span {
        self.span
    }

    /// The expansion factor at an instant, less 1: wait / estimate.
    #[inline]
    pub fn at(self, now: Time) -> Quotient {
        Quotient { num: now.since(self.since).micros(), den: self.span.micros() }
    }
}

/// A line in a [`Tournament`].
#[derive(Copy, Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Contestant<T> {
    /// Its expansion factor.
    pub line: Line,
    /// Its place in the order of arrival, which decides between equal factors: the earlier one wins.
    pub seq: u64,
    /// What it stands for.
    pub item: T,
}

impl<T> Contestant<T> {
    /// Whether it wins against another at an instant.
    #[inline]
    pub(super) fn beats(&self, other: &Self, now: Time) -> bool {
        match self.line.at(now).cmp(&other.line.at(now)) {
            Ordering::Equal => self.seq < other.seq,
            order => order == Ordering::Greater,
        }
    }

    /// The first instant after `now` at which `other` wins against it, which wins now.
    pub(super) fn beaten_at(&self, other: &Self, now: Time) -> Time {
        let (mine, theirs) = (self.line.span.micros(), other.line.span.micros());
        let Some(gain) = mine.checked_sub(theirs).filter(|gain| *gain > 0) else { return Time::NEVER };
        let waited = |line: Line| now.since(line.since).micros();
        // After s more, other wins if (its wait + s) · mine > (this wait + s) · theirs; or if they are equal and it came first.
        let ahead = product(waited(self.line), theirs).saturating_sub(product(waited(other.line), mine));
        let gain = u128::from(gain);
        let after = if other.seq < self.seq { ahead.div_ceil(gain) } else { ahead / gain + 1 };
        let at = u64::try_from(after).ok().and_then(|after| now.checked_add(Span::from_micros(after)));
        at.unwrap_or(Time::NEVER)
    }
}

/// A node of the tree: who wins below it, and until when no comparison below it turns out otherwise.
#[derive(Copy, Clone, Debug, Serialize, Deserialize)]
struct Node {
    winner: u32,
    until: Time,
}

/// Nobody.
const NONE: u32 = u32::MAX;
const EMPTY: Node = Node { winner: NONE, until: Time::NEVER };

/// Lines, of which the highest is known at any instant. Instants must not decrease from call to call.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Tournament<T> {
    /// By slot.
    entries: Vec<Option<Contestant<T>>>,
    open: Vec<u32>,
    /// A heap-shaped tree over `leaves` slots (a power of two); the root is node 1.
    nodes: Vec<Node>,
    leaves: usize,
    len: usize,
}

impl<T> Default for Tournament<T> {
    fn default() -> Self {
        Self { entries: Vec::new(), open: Vec::new(), nodes: vec![EMPTY; 2], leaves: 1, len: 0 }
    }
}

impl<T: Copy> Tournament<T> {
    /// A tournament without lines.
    pub fn new() -> Self {
        Self::default()
    }

    /// The number of lines.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there is no line.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Adds a line. Returns its slot, by which it is removed.
    pub fn insert(&mut self, now: Time, line: Line, seq: u64, item: T) -> usize {
        self.advance(now);
        let entry = Some(Contestant { line, seq, item });
        self.len += 1;
        if let Some(slot) = self.open.pop() {
            self.entries[slot as usize] = entry;
            self.update(slot as usize, now);
            return slot as usize;
        }
        let slot = self.entries.len();
        self.entries.push(entry);
        if slot < self.leaves {
            self.update(slot, now);
        } else {
            self.leaves = self.entries.len().next_power_of_two();
            self.nodes = vec![EMPTY; 2 * self.leaves];
            for slot in 0..self.entries.len() {
                self.nodes[self.leaves + slot] = self.leaf(slot);
            }
            (1..self.leaves).rev().for_each(|node| self.compare(node, now));
        }
        slot
    }

    /// Removes the line in a slot and returns it; `None` if there is none.
    pub fn remove(&mut self, now: Time, slot: usize) -> Option<Contestant<T>> {
        let gone = self.entries.get_mut(slot)?.take()?;
        self.len -= 1;
        if self.len == 0 {
            *self = Self::default();
            return Some(gone);
        }
        self.open.push(slot as u32);
        self.advance(now);
        self.update(slot, now);
        Some(gone)
    }

    /// The highest line at an instant.
    #[inline]
    pub fn best(&mut self, now: Time) -> Option<Contestant<T>> {
        self.advance(now);
        self.at(self.nodes[1].winner)
    }

    /// The slot of the highest line at an instant.
    pub fn best_slot(&mut self, now: Time) -> Option<usize> {
        self.advance(now);
        Some(self.nodes[1].winner).filter(|winner| *winner != NONE).map(|winner| winner as usize)
    }

    /// Until when the highest line is certain to stay the highest, if none is added or removed.
    pub fn settled_until(&self) -> Time {
        self.nodes[1].until
    }

    /// All lines, in no order.
    pub fn iter(&self) -> impl Iterator<Item = &Contestant<T>> {
        self.entries.iter().flatten()
    }

    #[inline]
    fn at(&self, slot: u32) -> Option<Contestant<T>> {
        self.entries.get(slot as usize).copied().flatten()
    }

    fn leaf(&self, slot: usize) -> Node {
        let there = self.entries.get(slot).is_some_and(Option::is_some);
        Node { winner: if there { slot as u32 } else { NONE }, until: Time::NEVER }
    }

    /// Makes all comparisons anew that may have turned out otherwise by now.
    #[inline]
    fn advance(&mut self, now: Time) {
        if self.nodes[1].until <= now {
            self.refresh(1, now);
        }
    }

    fn refresh(&mut self, node: usize, now: Time) {
        if node < self.leaves && self.nodes[node].until <= now {
            self.refresh(2 * node, now);
            self.refresh(2 * node + 1, now);
            self.compare(node, now);
        }
    }

    /// Compares the winners below a node.
    fn compare(&mut self, node: usize, now: Time) {
        let (left, right) = (self.nodes[2 * node], self.nodes[2 * node + 1]);
        let until = left.until.min(right.until);
        let one = |winner| Node { winner, until };
        self.nodes[node] = match (self.at(left.winner), self.at(right.winner)) {
            (Some(a), Some(b)) if a.beats(&b, now) => {
                Node { winner: left.winner, until: until.min(a.beaten_at(&b, now)) }
            }
            (Some(a), Some(b)) => Node { winner: right.winner, until: until.min(b.beaten_at(&a, now)) },
            (Some(_), None) => one(left.winner),
            (None, _) => one(right.winner),
        };
    }

    /// A slot has changed: makes the comparisons on the way to the root anew.
    fn update(&mut self, slot: usize, now: Time) {
        let mut node = self.leaves + slot;
        self.nodes[node] = self.leaf(slot);
        while node > 1 {
            node /= 2;
            self.compare(node, now);
        }
    }
}

fn product(a: u64, b: u64) -> u128 {
    u128::from(a) * u128::from(b)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::search::tests::cases;

    #[derive(Clone, Debug)]
    enum Step {
        Insert { ago: u64, span: u64 },
        Remove(prop::sample::Index),
        Wait(u64),
    }

    fn step() -> impl Strategy<Value = Step> {
        let span = prop_oneof![4 => 0_u64..30, 1 => 1_u64..2_000, 1 => Just(u64::MAX)];
        prop_oneof![
            5 => (prop_oneof![Just(0_u64), 0_u64..40], span).prop_map(|(ago, span)| Step::Insert { ago, span }),
            2 => any::<prop::sample::Index>().prop_map(Step::Remove),
            4 => prop_oneof![0_u64..10, 0_u64..500].prop_map(Step::Wait),
        ]
    }

    proptest! {
        #![proptest_config(cases(256))]

        /// The slow reference: all lines, compared at each instant.
        #[test]
        fn the_best_is_the_best_of_all(steps in proptest::collection::vec(step(), 0..120)) {
            let mut now = Time::from_micros(1_000);
            let mut fast = Tournament::new();
            let mut slow: Vec<(usize, Contestant<u64>)> = Vec::new();
            // Later lines come earlier in the order as often as not.
            for (seq, step) in (0_u64..).map(|at| at * 7 % 128).zip(steps) {
                match step {
                    Step::Insert { ago, span } => {
                        let since = Time::from_micros(now.micros() - ago.min(now.micros()));
                        let line = Line::new(since, Span::from_micros(span));
                        let slot = fast.insert(now, line, seq, seq);
                        slow.push((slot, Contestant { line, seq, item: seq }));
                    }
                    Step::Remove(which) if !slow.is_empty() => {
                        let (slot, gone) = slow.swap_remove(which.index(slow.len()));
                        prop_assert_eq!(fast.remove(now, slot), Some(gone));
                        prop_assert!(slow.iter().any(|(other, _)| *other == slot) || fast.remove(now, slot).is_none());
                    }
                    Step::Remove(_) => {}
                    Step::Wait(ticks) => {
                        // Up to the instant until which it says so, the best stays.
                        let before = fast.best(now);
                        let until = fast.settled_until();
                        now += Span::from_micros(ticks);
                        if now < until {
                            prop_assert_eq!(fast.best(now), before);
                        }
                    }
                }
                let best = slow.iter().map(|(_, one)| *one).reduce(|a, b| if b.beats(&a, now) { b } else { a });
                prop_assert_eq!(fast.best(now), best);
                prop_assert_eq!(fast.best_slot(now).and_then(|slot| fast.at(slot as u32)), best);
                prop_assert_eq!((fast.len(), fast.is_empty()), (slow.len(), slow.is_empty()));
                prop_assert_eq!(fast.iter().count(), slow.len());
            }
        }
    }
}
