//! A discrepancy search and what it finds.

use super::problem::OrderProblem;
use super::strategy::Strategy;
use super::tree::{Best, Left, Permutations};
use super::walk::{Step, walk};
use crate::search::SearchError;

/// How a search goes.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Options {
    /// The order in which leaves are visited.
    pub strategy: Strategy,
    /// The budget: so many nodes are entered at most, and each again in each iteration that passes through it. The root is none. At least the
    /// number of items, so that the heuristic's own order is among those that are compared.
    pub nodes: u64,
    /// Branch and bound: nothing is visited below a node whose bound is not below the cost of the best order so far. That changes the nodes that are
    /// entered, and not what a search without a limit finds.
    pub prunes: bool,
    /// So many orders are tried at most: completed, or left because of their bounds.
    pub orders: u64,
    /// Orders with more discrepancies are not visited.
    pub discrepancies: u32,
}

impl Default for Options {
    /// Depth-bounded discrepancy search with branch and bound, without a limit.
    fn default() -> Self {
        Self {
            strategy: Strategy::Dds,
            nodes: u64::MAX,
            prunes: true,
            orders: u64::MAX,
            discrepancies: u32::MAX,
        }
    }
}

/// What a search has found, and what it took.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Found<C> {
    /// The cost of the best order; of several such orders it is the one that was visited first.
    pub cost: C,
    /// The cost of the heuristic's own order.
    pub heuristic: C,
    /// The number of discrepancies of the best order.
    pub discrepancies: u32,
    /// The number of nodes when the best order was found.
    pub found_at: u64,
    /// Nodes that were entered.
    pub nodes: u64,
    /// Nodes below which nothing was visited because of their bounds.
    pub pruned: u64,
    /// Orders of all items that were visited, some perhaps several times.
    pub leaves: u64,
    /// Whether no order has a lower cost: all were visited or ruled out.
    pub is_proven: bool,
}

/// A discrepancy search. It can be run many times, and keeps its memory.
#[derive(Clone, Debug, Default)]
pub struct DiscrepancySearch {
    left: Left,
    order: Vec<u32>,
    best: Vec<u32>,
    path: Vec<Step<u32>>,
}

impl DiscrepancySearch {
    /// Looks for the order of the least cost. It is [`DiscrepancySearch::best`] then, and all items have been taken back.
    ///
    /// # Errors
    /// There are no items, or the budget is below their number: it would not reach the end of one order.
    pub fn run<P: OrderProblem>(
        &mut self,
        problem: &mut P,
        options: Options,
    ) -> Result<Found<P::Cost>, SearchError> {
        let (items, Options { strategy, nodes: budget, .. }) = (problem.items(), options);
        if items == 0 {
            return Err(SearchError::NoItems);
        }
        if budget < u64::from(items) {
            return Err(SearchError::Budget { nodes: budget, items });
        }
        self.left.fill(items);
        let Self { left, order, best: best_order, path } = self;
        let least = problem.least();
        let mut tree = Permutations {
            problem,
            left,
            order,
            discrepancies: 0,
            best_order,
            best: None,
            heuristic: None,
            options,
            least,
            nodes: 0,
            pruned: 0,
            leaves: 0,
            is_least: false,
            is_cut: false,
        };
        let is_whole = (0..strategy.iterations(items - 1)).all(|k| walk(&mut tree, strategy, k, path));
        let Permutations { best, heuristic, nodes, pruned, leaves, is_least, is_cut, .. } = tree;
        let (Some(best), Some(heuristic)) = (best, heuristic) else {
            return Err(SearchError::Budget { nodes: budget, items });
        };
        let Best { cost, discrepancies, found_at } = best;
        let is_proven = is_whole && !is_cut || is_least;
        Ok(Found { cost, heuristic, discrepancies, found_at, nodes, pruned, leaves, is_proven })
    }

    /// The order that the last search has found best.
    pub fn best(&self) -> &[u32] {
        &self.best
    }
}
