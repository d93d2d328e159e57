//! Discrepancy search: the best order of some items, when a heuristic already knows a good one.
//!
//! The orders are the leaves of a *permutation tree*: a node at depth `d` says which items are the first `d`, and has a child for each item that is
//! left, in the order of the heuristic. So the leftmost path is the heuristic's own order. Each step to another child than the first is a
//! *discrepancy*, whichever child it is. A [`Strategy`] says in which order leaves are visited: those with few discrepancies first, or those with
//! discrepancies near the root, where a heuristic knows least. A [`DiscrepancySearch`] visits them until it has seen all or has
//! entered as many nodes as its budget allows, and keeps the best ([`Found`]). It leaves out what cannot be better (branch and bound).
//!
//! An [`OrderProblem`] places items one after the other, and takes them back. Each node costs one placement; nothing is copied or allocated for it.
//!
//! ```
//! use gridemu::search::discrepancy::{DiscrepancySearch, Options, OrderProblem};
//!
//! /// Tasks on one machine, whose ends are summed; the heuristic has them in the order of arrival.
//! struct Tasks {
//!     lengths: Vec<u64>,
//!     /// After each placement: the end of the last task, and the sum of all ends.
//!     placed: Vec<(u64, u64)>,
//! }
//!
//! impl OrderProblem for Tasks {
//!     type Cost = u64;
//!
//!     fn items(&self) -> u32 {
//!         self.lengths.len() as u32
//!     }
//!
//!     fn place(&mut self, item: u32) -> u64 {
//!         let (end, sum) = self.placed.last().copied().unwrap_or_default();
//!         let end = end + self.lengths[item as usize];
//!         self.placed.push((end, sum + end));
//!         sum + end
//!     }
//!
//!     fn take_back(&mut self) {
//!         self.placed.pop();
//!     }
//! }
//!
//! let mut tasks = Tasks { lengths: vec![5, 1, 3], placed: Vec::new() };
//! let mut search = DiscrepancySearch::default();
//! let found = search.run(&mut tasks, Options { nodes: 1_000, ..Options::default() })?;
//! // The shortest task first: 1 + 4 + 9.
//! assert_eq!((search.best(), found.cost), (&[1, 2, 0][..], 14));
//! // All six orders were visited, one, two and three of them in three iterations that begin at the root.
//! assert!(found.is_proven);
//! assert_eq!((found.leaves, found.nodes), (6, 3 + 6 + 9));
//! # Ok::<(), gridemu::search::SearchError>(())
//! ```

mod problem;
mod run;
mod strategy;
#[cfg(test)]
mod tests;
mod tree;
mod walk;

pub use problem::OrderProblem;
pub use run::{DiscrepancySearch, Found, Options};
pub use strategy::Strategy;
