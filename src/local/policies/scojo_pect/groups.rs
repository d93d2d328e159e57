//! Group optimisation on SCOJO-PECT [Kanavallil 2007, chapters 5 to 7].
//!
//! When enough medium or long jobs wait in a slice of their class, they form a group, and a search looks for the order in which to plan them. While
//! the group lasts, its jobs come before others of the class, in that order.

mod choice;
mod finish;
mod levels;
mod options;
mod schedule;
#[cfg(test)]
mod tests;

use serde::{Deserialize, Serialize};

pub(super) use self::finish::{Ends, finish};
pub(super) use self::levels::GroupSearch;
pub use self::options::{GroupBound, GroupChoice, GroupLimits, GroupOptions};
pub(super) use self::schedule::{Member, Weights};
use super::queues::CLASSES;
use crate::local::{GroupFacts, SearchEffort};
use crate::model::JobKey;
use crate::units::Time;

/// The plan of a group.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Plan {
    /// Its jobs that have not started, in the order of the plan: place in the order of arrival, key, and the planned slowdown in parts of 2³².
    pub(super) jobs: Vec<(u64, JobKey, u64)>,
    /// The job with whose end the group is over.
    pub(super) finish: u64,
    pub(super) formed: Time,
    /// From when on it holds: the search takes its time.
    pub(super) ready: Time,
    pub(super) size: u32,
    pub(super) nodes: u64,
    pub(super) orders: u64,
    pub(super) is_better: bool,
    /// When it was last held against what was planned.
    pub(super) checked: Time,
}

/// The groups that there are, and what searches have taken.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct Groups {
    pub(super) plans: [Option<Plan>; CLASSES],
    pub(super) effort: SearchEffort,
}

impl Groups {
    /// The plan of a class, if it holds now.
    pub(super) fn plan(&self, class: usize, now: Time) -> Option<&Plan> {
        self.plans[class].as_ref().filter(|plan| plan.ready <= now)
    }

    /// A job has started, or does not wait any more.
    pub(super) fn remove(&mut self, seq: u64) {
        for plan in self.plans.iter_mut().flatten() {
            plan.jobs.retain(|(of, ..)| *of != seq);
        }
    }

    /// When a plan begins to hold that does not yet.
    pub(super) fn ready(&self, now: Time) -> Option<Time> {
        self.plans.iter().flatten().map(|plan| plan.ready).filter(|ready| *ready > now).min()
    }

    /// What is told of the plans.
    pub(super) fn facts(&self) -> [Option<GroupFacts>; CLASSES] {
        self.plans.each_ref().map(|plan| {
            plan.as_ref().map(|plan| {
                let Plan { formed, ready, size, nodes, orders, is_better, .. } = *plan;
                let left = plan.jobs.iter().map(|(_, job, _)| *job).collect();
                GroupFacts { left, formed, ready, size, nodes, orders, is_better }
            })
        })
    }
}

impl Plan {
    pub(super) fn has(&self, seq: u64) -> bool {
        self.jobs.iter().any(|(of, ..)| *of == seq)
    }
}
