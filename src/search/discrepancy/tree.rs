//! The permutation tree of a problem, with its bounds and its budget.

use super::problem::OrderProblem;
use super::run::Options;
use super::walk::{Entry, Tree};

/// The items that are left, in the order of the heuristic: a list in which one can be unlinked and linked again where it was.
#[derive(Clone, Debug, Default)]
pub(super) struct Left {
    /// The item after each one and before it; the last place stands for both ends.
    next: Vec<u32>,
    previous: Vec<u32>,
}

impl Left {
    pub(super) fn fill(&mut self, items: u32) {
        self.next.clear();
        self.next.extend((1..=items).chain([0]));
        self.previous.clear();
        self.previous.extend([items].into_iter().chain(0..items));
    }

    fn end(&self) -> u32 {
        self.next.len() as u32 - 1
    }

    fn after(&self, item: u32) -> Option<u32> {
        Some(self.next[item as usize]).filter(|next| *next != self.end())
    }

    fn unlink(&mut self, item: u32) {
        let (previous, next) = (self.previous[item as usize], self.next[item as usize]);
        (self.next[previous as usize], self.previous[next as usize]) = (next, previous);
    }

    /// Undoes the last `unlink` that has not been undone.
    fn link(&mut self, item: u32) {
        let (previous, next) = (self.previous[item as usize], self.next[item as usize]);
        (self.next[previous as usize], self.previous[next as usize]) = (item, item);
    }
}

/// The best order so far.
#[derive(Copy, Clone, Debug)]
pub(super) struct Best<C> {
    pub(super) cost: C,
    pub(super) discrepancies: u32,
    /// The number of nodes when it was found.
    pub(super) found_at: u64,
}

/// A permutation tree.
pub(super) struct Permutations<'a, P: OrderProblem> {
    pub(super) problem: &'a mut P,
    pub(super) left: &'a mut Left,
    /// The items on the path to the present node, and how many steps are discrepancies.
    pub(super) order: &'a mut Vec<u32>,
    pub(super) discrepancies: u32,
    pub(super) best_order: &'a mut Vec<u32>,
    pub(super) best: Option<Best<P::Cost>>,
    /// The cost of the first order that was visited: of each strategy it is the heuristic's own.
    pub(super) heuristic: Option<P::Cost>,
    pub(super) options: Options,
    /// A cost than which there is none lower.
    pub(super) least: Option<P::Cost>,
    pub(super) nodes: u64,
    pub(super) pruned: u64,
    pub(super) leaves: u64,
    /// Whether an order has the least cost.
    pub(super) is_least: bool,
    /// Whether there are orders with too many discrepancies.
    pub(super) is_cut: bool,
}

impl<P: OrderProblem> Tree for Permutations<'_, P> {
    type Branch = u32;

    fn choices(&self) -> u32 {
        self.left.end().saturating_sub(1)
    }

    fn first(&self) -> Option<u32> {
        self.left.after(self.left.end())
    }

    fn next(&self, branch: u32) -> Option<u32> {
        self.left.after(branch)
    }

    fn enter(&mut self, branch: u32, is_discrepancy: bool) -> Entry {
        let Options { nodes, prunes, orders, discrepancies, .. } = self.options;
        if self.nodes == nodes || self.is_least || self.leaves + self.pruned >= orders.max(1) {
            return Entry::Over;
        }
        if is_discrepancy && self.discrepancies == discrepancies {
            self.is_cut = true;
            return Entry::Pruned;
        }
        self.nodes += 1;
        let bound = self.problem.place(branch);
        let is_better = self.best.as_ref().is_none_or(|best| bound < best.cost);
        let is_leaf = self.order.len() + 1 == self.left.end() as usize;
        if prunes && !is_better && !is_leaf {
            self.pruned += 1;
            self.problem.take_back();
            return Entry::Pruned;
        }
        self.left.unlink(branch);
        self.order.push(branch);
        self.discrepancies += u32::from(is_discrepancy);
        if is_leaf {
            self.leaves += 1;
            self.heuristic.get_or_insert(bound);
            self.problem.reached(self.order, bound);
            if is_better {
                let (cost, discrepancies, found_at) = (bound, self.discrepancies, self.nodes);
                self.best = Some(Best { cost, discrepancies, found_at });
                self.best_order.clone_from(self.order);
                self.is_least = self.least.is_some_and(|least| cost <= least);
            }
        }
        Entry::Entered
    }

    fn leave(&mut self, branch: u32, is_discrepancy: bool) {
        self.discrepancies -= u32::from(is_discrepancy);
        self.order.pop();
        self.left.link(branch);
        self.problem.take_back();
    }
}
