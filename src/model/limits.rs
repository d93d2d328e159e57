//! What a user allows a job or a workflow beyond its processors: a deadline and a budget.

use serde::{Deserialize, Serialize};

use super::RejectReason;
use super::text::words;
use crate::units::{Money, Price, Span, Time};

words! {
    /// What happens to a job at its deadline, or when it costs more than its budget.
    #[derive(Copy, Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
    #[non_exhaustive]
    pub enum AtLimit {
        /// It goes on, and what is beyond is counted.
        #[default]
        Overrun = "overrun",
        /// It is refused when it is submitted, if it could not keep the limit anywhere; then it goes on.
        Refuse = "refuse",
        /// It ends there.
        Kill = "kill",
    }
}

/// The deadline and the budget of a job.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Limits {
    /// The time after which its result is worth less, if any.
    pub deadline: Option<Time>,
    /// What it should cost at most, if that matters.
    pub budget: Option<Money>,
    /// What happens at the deadline.
    pub at_deadline: AtLimit,
    /// What happens when it costs more than its budget.
    pub at_budget: AtLimit,
    /// When it is ended, if it is ended at a deadline that is not its own: a task is at that of its workflow.
    pub ends: Option<Time>,
}

/// The limits of a workflow, and the parts of its tasks in them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct WorkflowLimits {
    /// Those of the workflow.
    pub whole: Limits,
    /// The deadlines of its tasks, if it has one.
    pub deadlines: Vec<Time>,
    /// The parts of its tasks in the budget, if it has one.
    pub budgets: Vec<Money>,
}

impl WorkflowLimits {
    /// The limits of the task at a place. It is not refused by itself, and not ended before the workflow.
    pub fn of(&self, at: usize) -> Limits {
        let kills = self.whole.at_deadline == AtLimit::Kill;
        Limits {
            deadline: self.deadlines.get(at).copied(),
            budget: self.budgets.get(at).copied(),
            at_deadline: if kills { AtLimit::Kill } else { AtLimit::Overrun },
            at_budget: AtLimit::Overrun,
            ends: self.whole.killed_at(),
        }
    }
}

impl Limits {
    /// Only a deadline, at which nothing happens.
    pub fn by(deadline: Time) -> Self {
        Self { deadline: Some(deadline), ..Self::default() }
    }

    /// Why a job is refused that would run on so many processors for so long from now on, at this price, if it is.
    pub fn refuse(&self, now: Time, procs: u32, run: Span, price: Price) -> Option<RejectReason> {
        let refuses = |at| at == AtLimit::Refuse;
        let late = self.deadline.is_some_and(|deadline| refuses(self.at_deadline) && now + run > deadline);
        let cost = || {
            let area = u128::from(procs) * u128::from(run.micros());
            let nanos = area.saturating_mul(u128::from(price.nanos())) / 3_600_000_000;
            Money::from_nanos(i128::try_from(nanos).unwrap_or(i128::MAX))
        };
        let dear = || self.budget.is_some_and(|budget| refuses(self.at_budget) && cost() > budget);
        if late { Some(RejectReason::Deadline) } else { dear().then_some(RejectReason::Budget) }
    }

    /// The time at which the job is killed, if that is asked for.
    pub fn killed_at(&self) -> Option<Time> {
        self.ends.or(self.deadline).filter(|_| self.at_deadline == AtLimit::Kill)
    }

    /// The cost at which the job is killed, if that is asked for.
    pub fn killed_over(&self) -> Option<Money> {
        self.budget.filter(|_| self.at_budget == AtLimit::Kill)
    }
}
