//! What a policy that searches has spent.

use serde::{Deserialize, Serialize};

/// What the decisions of a policy that searches have taken so far. A pass at which no job can start is none.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SearchEffort {
    /// Decisions for which there was a search.
    pub decisions: u64,
    /// Nodes that were entered.
    pub nodes: u64,
    /// The most nodes of one decision.
    pub most_nodes: u64,
    /// Nodes below which nothing was visited because of their bounds.
    pub pruned: u64,
    /// Decisions whose order is known to be the best there is.
    pub proven: u64,
    /// Decisions whose order is better than the heuristic's own.
    pub improved: u64,
    /// Groups of medium jobs that were formed, where a policy searches for groups of jobs.
    pub medium_groups: u64,
    /// Groups of long jobs.
    pub long_groups: u64,
    /// Jobs in groups when these were formed: a job that is in two groups, one after the other, counts twice.
    pub grouped: u64,
}

impl SearchEffort {
    /// The effort of both together.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        Self {
            decisions: self.decisions + other.decisions,
            nodes: self.nodes + other.nodes,
            most_nodes: self.most_nodes.max(other.most_nodes),
            pruned: self.pruned + other.pruned,
            proven: self.proven + other.proven,
            improved: self.improved + other.improved,
            medium_groups: self.medium_groups + other.medium_groups,
            long_groups: self.long_groups + other.long_groups,
            grouped: self.grouped + other.grouped,
        }
    }
}
