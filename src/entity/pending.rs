//! What is left to do, told by every entity so that a run knows its end.

use serde::{Deserialize, Serialize};

use crate::units::Time;

/// What an entity knows of work that is not done.
///
/// Summed over all entities, `let_in − done` is the number of jobs in the system, wherever they are, also on the way.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Pending {
    /// Jobs that it has let into the system.
    pub let_in: u64,
    /// Jobs that have left the system here, whatever their outcome.
    pub done: u64,
    /// Whether more will be let in, as far as it knows.
    pub more: bool,
    /// When a job last came in, started, ended or went somewhere, or the last was seen of what may bring or move one: an end of
    /// the run that follows from it is never in the past.
    pub last: Time,
    /// Whether something will happen here by itself that moves a job: an end, an arrival, a return, a wake.
    pub moves: bool,
    /// Whether machines may still come or leave here.
    pub may: bool,
}
