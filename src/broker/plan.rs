//! What a broker policy answers: a plan, as decisions in their order.

use serde::{Deserialize, Serialize};
use smallvec::SmallVec;

use super::outside::ProgramError;
use crate::model::TaskId;
use crate::units::{Span, Time};

/// Decisions in the order in which they are carried out. Short plans need no allocation.
pub type Plan = SmallVec<[Decision; 4]>;

/// A decision about a task.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Decision {
    /// The task.
    pub task: TaskId,
    /// What is done with it.
    pub act: Act,
    /// Why, in a word.
    pub reason: Reason,
    /// When it is expected to start; [`Time::NEVER`] if its processors are not present.
    pub start: Time,
    /// When it is expected to end; [`Time::NEVER`] likewise.
    pub end: Time,
}

/// What is done with a task.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub enum Act {
    /// It is sent to the pool at this place among the pools.
    Assign(usize),
    /// It goes to the pool at this place when all that it waits for has completed, and after all that is planned there to start earlier. The
    /// broker does so itself; an earlier decision of this kind about the task is replaced.
    Plan(usize),
    /// It waits with the broker until an instant, and is decided about anew then: it would be best to send it to a pool so late.
    PutOff {
        /// The place of the pool among the pools.
        pool: usize,
        /// The instant.
        until: Time,
    },
}

impl Act {
    /// The place of its pool among the pools.
    pub const fn pool(self) -> usize {
        match self {
            Self::Assign(pool) | Self::Plan(pool) | Self::PutOff { pool, .. } => pool,
        }
    }
}

/// What a plan says of a task that it puts off.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PutOff {
    /// Until when.
    pub until: Time,
    /// Why the pool was best to which it would go then.
    pub reason: Reason,
}

/// What a plan says of a task that has not been sent yet.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Planned {
    /// The place of its pool among the pools.
    pub pool: usize,
    /// When it is expected to start. Tasks go to a pool in this order, then by number.
    pub start: Time,
    /// When it is expected to end.
    pub end: Time,
    /// Why it goes there.
    pub reason: Reason,
}

crate::model::words! {
    /// Why a task goes to a pool.
    #[derive(Copy, Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
    #[non_exhaustive]
    pub enum Reason {
        /// Its completion is expected there first.
        Earliest = "earliest completion",
        /// It runs shortest there.
        Shortest = "shortest run",
        /// It would lose most by going elsewhere, of those whose completion is expected there first.
        Suffers = "would suffer most elsewhere",
        /// What waits for it is expected to be over first if it is there.
        Foreseen = "earliest completion with what follows",
        /// It costs least there.
        Cheapest = "least cost",
        /// It needs least energy there.
        Greenest = "least energy",
        /// It causes least carbon there.
        LeastCarbon = "least carbon",
        /// The weighted sum of what it takes there is least.
        Weighted = "least weighted sum",
        /// It runs shortest there, of the pools with free processors.
        Free = "shortest run on free processors",
        /// The pool has asked for work.
        Asked = "asked for work",
        /// It is the pool's turn.
        Turn = "its turn",
        /// It was drawn by lot.
        Drawn = "drawn by lot",
        /// The pool has the least load.
        LeastLoaded = "least load",
        /// The processors are not there, but would be with all machines up.
        Absent = "would have the processors",
        /// Another reason of the policy's own.
        Policy = "the policy's own",
        /// Its completion is expected there first, of the pools where it costs no more than it may, or else it costs least there.
        Affordable = "earliest completion within the budget",
        /// It goes there in the schedule that was chosen of a front.
        Compromise = "compromise of the objectives",
        /// Processors are reserved for it there.
        Reserved = "reserved for it",
    }
}

/// The answer of a broker policy that was asked for a plan.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Answer {
    /// This plan, carried out at once. Tasks that it does not decide about go on waiting.
    Done(Plan),
    /// This plan, which took so long to make: it is carried out then, without the decisions that no longer hold. Nothing else is planned before.
    After(Span, Plan),
    /// The same, if it took any time, and the policy is asked again at an instant, even if nothing happens until then. The first of several such
    /// instants counts.
    Later {
        /// The instant; it is in the future.
        at: Time,
        /// How long the plan took.
        takes: Span,
        /// The plan.
        plan: Plan,
    },
    /// The policy cannot answer, which ends the run.
    Failed(Box<ProgramError>),
}
