//! The work that is left, as every entity reports it, so that a run can detect its end.

use serde::{Deserialize, Serialize};

use crate::units::Time;

/// The work that is left, as far as one entity can tell.
///
/// Summed over all entities, `admitted − done` is the number of jobs in the system, including those in messages.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Quiescence {
    /// Jobs that it has admitted to the system.
    pub admitted: u64,
    /// Jobs that have left the system here, with any outcome.
    pub done: u64,
    /// Whether it will admit more jobs, as far as it can tell.
    pub more: bool,
    /// When a job was last admitted, started, ended or moved, or when a cause of such events last ceased: an end of
    /// the run derived from this is never in the past.
    pub last: Time,
    /// When the last job that was sent from here, and counts as moving in no other way, reaches its site.
    pub landing: Time,
    /// Whether an event to come here may move a job: an end, an arrival, a return, a wake.
    pub self_active: bool,
    /// Whether machines may still go down or come up here.
    pub churn_pending: bool,
    /// Results that stay where they are until a site is back.
    pub stranded: u64,
    /// When a site that has left comes back by its script, or came back last.
    pub back: Option<Time>,
}
