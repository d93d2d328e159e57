//! The three best orders, and which of them is taken.

use super::options::{GroupChoice, GroupOptions};
use crate::local::policies::preemptive::Factor;

/// How many orders are kept.
const KEPT: usize = 3;

/// The best orders of a search: those with the least slowdown; of equal ones the first.
#[derive(Clone, Debug, Default)]
pub(super) struct Best {
    orders: Vec<(u128, Vec<u32>)>,
}

impl Best {
    /// One more order. False if there are enough better ones, or if it is one of those that are kept.
    pub(super) fn offer(&mut self, cost: u128, order: &[u32]) -> bool {
        let at = self.orders.partition_point(|(kept, _)| *kept <= cost);
        let same = self.orders[..at].iter().rev().take_while(|(kept, _)| *kept == cost);
        if at == KEPT || same.into_iter().any(|(_, kept)| kept == order) {
            return false;
        }
        self.orders.truncate(KEPT - 1);
        self.orders.insert(at, (cost, order.to_vec()));
        true
    }

    /// The orders, the best one first.
    pub(super) fn orders(&self) -> impl Iterator<Item = &[u32]> {
        self.orders.iter().map(|(_, order)| &order[..])
    }
}

/// What orders are compared by: all of them in the same unit each.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(super) struct Merits {
    /// When the last job ends.
    pub(super) makespan: u128,
    /// The sum of response times.
    pub(super) response: u128,
}

impl GroupOptions {
    /// Whether an order takes the place of another one with less slowdown [Kanavallil 2007, section 6.4.4]. As both have the same work, the ratio of their utilizations is
    /// that of their makespans, inverted.
    fn replaces(&self, other: Merits, by: Merits) -> bool {
        let [makespan, utilization, response] = self.factors.map(|factor| u128::from(factor.as_millionths()));
        let one = u128::from(Factor::ONE);
        let is_other = match self.choice {
            GroupChoice::Least => return false,
            GroupChoice::Shorter => by.makespan * one < makespan * other.makespan,
            GroupChoice::Printed => by.makespan * one > makespan * other.makespan,
        };
        is_other
            && other.makespan * one > utilization * by.makespan
            && by.response.saturating_mul(one) < response.saturating_mul(other.response)
    }

    /// Which of some orders is taken, given what they are compared by, the one with the least slowdown first.
    pub(super) fn choose(&self, orders: &[Merits]) -> usize {
        (1..orders.len()).fold(0, |taken, next| match self.replaces(orders[taken], orders[next]) {
            true => next,
            false => taken,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn three_orders_are_kept_and_one_is_taken() {
        let mut best = Best::default();
        let offers =
            [(9, [0, 1, 2]), (7, [0, 2, 1]), (9, [1, 0, 2]), (8, [1, 2, 0]), (9, [2, 0, 1]), (7, [0, 2, 1])];
        let kept = offers.map(|(cost, order)| best.offer(cost, &order));
        assert_eq!(kept, [true, true, true, true, false, false]);
        let orders: Vec<&[u32]> = best.orders().collect();
        assert_eq!(orders, [[0, 2, 1], [1, 2, 0], [0, 1, 2]]);

        let merits = |makespan, response| Merits { makespan, response };
        let of = |choice| GroupOptions { choice, ..GroupOptions::default() };
        let (same, slow, long) = (merits(100, 100), merits(100, 111), merits(106, 100));
        // One that is no worse in the others takes the place of one with less slowdown.
        assert_eq!(of(GroupChoice::Shorter).choose(&[same, same, slow]), 1);
        // 106 is below 1.1 times 100, but the utilization is below 0.95 of the other's.
        assert_eq!(of(GroupChoice::Shorter).choose(&[same, long]), 0);
        assert_eq!(of(GroupChoice::Shorter).choose(&[long, same]), 1);
        // As printed the makespan has to be more than a tenth longer, and the utilization must not be: that cannot be.
        assert_eq!(of(GroupChoice::Printed).choose(&[same, merits(111, 100), merits(130, 1)]), 0);
        assert_eq!(of(GroupChoice::Least).choose(&[same, merits(1, 1)]), 0);
    }
}
