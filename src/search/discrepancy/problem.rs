//! What a discrepancy search needs to know of a problem.

/// A problem whose solutions are the orders of some items.
///
/// Items are numbered from 0 in the order of the heuristic. A placement is an incremental change that is undone on the way back, so that a problem
/// should allocate nothing for it.
pub trait OrderProblem {
    /// What is minimised: the costs of orders, and bounds of them.
    type Cost: Copy + Ord;

    /// The number of items, none of which is placed when a search begins.
    fn items(&self) -> u32;

    /// Puts an item behind those that have been placed. Returns a lower bound of the costs of all orders that begin with these items, and if none is
    /// left the cost of this order.
    fn place(&mut self, item: u32) -> Self::Cost;

    /// Undoes the last placement that has not been undone.
    fn take_back(&mut self);

    /// All items have been placed, in this order and at this cost: for problems that want to know more of an order than its cost. Whatever it changes it
    /// undoes. Does nothing by default.
    fn reached(&mut self, order: &[u32], cost: Self::Cost) {
        _ = (order, cost);
    }

    /// A lower bound of the costs of all orders, if one is known: an order of this cost ends the search. `None` is the default.
    fn least(&self) -> Option<Self::Cost> {
        None
    }
}
