//! Counts of the broker.

use serde::{Deserialize, Serialize};

use crate::broker::BeliefErrors;
use crate::units::Span;

/// Counts of the broker.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct BrokerTally {
    /// How often the policy was asked for a plan.
    pub plans: u64,
    /// Assignments made.
    pub assigned: u64,
    /// Assignments of jobs that had been assigned before.
    pub reassigned: u64,
    /// Assignments that the broker has recalled; a job that had left by then stays at its site.
    pub recalled: u64,
    /// Jobs given up because no pool takes them.
    pub given_up: u64,
    /// Sum over assignments of the age of the view of the chosen pool.
    pub age_sum: u128,
    /// The age of the oldest view that an assignment was based on.
    pub age_max: Span,
    /// Most jobs that waited with the broker at once.
    pub longest_queue: u64,
    /// Assignments to a pool whose site turned out to be down, or to have lost the processors.
    pub landed_nowhere: u64,
    /// Plans that took time.
    pub awaited: u64,
    /// The time that they took, in microseconds.
    pub planning: u128,
    /// Decisions that no longer held when their plan arrived.
    pub stale: u64,
    /// How far jobs started from when they were believed to.
    pub starts: BeliefErrors,
    /// How far run times of jobs that completed were from what was believed.
    pub runs: BeliefErrors,
}
