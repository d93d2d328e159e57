//! Attempts of tasks that fail by themselves, whatever the machines do.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::{GridContext, WorkflowSubmission};

/// How often attempts of the tasks of a workflow fail by themselves. Probabilities are in 10⁻⁹.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TaskFailures {
    /// For tasks of a type.
    pub by_type: BTreeMap<String, u32>,
    /// For those of all other types.
    pub others: u32,
    /// With so many failed attempts a task has failed.
    pub attempts: u32,
}

/// How attempts of a job fail by themselves that is a task of a workflow, or a group of tasks.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Faults {
    /// The seed of the draws of its workflow.
    pub seed: u64,
    /// Its tasks, by their places in the workflow before tasks were put into groups, with the probability of each attempt, in 10⁻⁹.
    pub tasks: Vec<(u32, u32)>,
    /// With so many failed attempts it has failed.
    pub most: u32,
    /// The attempts that have failed so far.
    pub failed: u32,
}

impl TaskFailures {
    /// The probability of certainty.
    pub const ALWAYS: u32 = 1_000_000_000;

    /// The probability that an attempt of a task of this type fails, in 10⁻⁹.
    pub fn of(&self, kind: &str) -> u32 {
        self.by_type.get(kind).copied().unwrap_or(self.others)
    }
}

impl WorkflowSubmission {
    /// How attempts of the task at this place fail by themselves; `None` if they do not.
    pub fn faults(&self, at: usize) -> Option<Faults> {
        let failures = self.failures.as_ref()?;
        let all = &self.ungrouped().tasks;
        let tasks: Vec<(u32, u32)> =
            self.parts(at).into_iter().map(|task| (task, failures.of(&all[task as usize].kind))).collect();
        let any = tasks.iter().any(|(_, odds)| *odds > 0);
        any.then_some(Faults { seed: self.seed, tasks, most: failures.attempts, failed: 0 })
    }
}

impl GridContext {
    /// How its attempts fail by themselves, if they may.
    pub(crate) fn faults(&self) -> Option<&Faults> {
        self.task.as_ref()?.faults.as_ref()
    }

    /// Its assignments that count as tries: not those that the broker recalled, nor those with an attempt that failed by itself.
    pub(crate) fn tries(&self) -> u32 {
        self.assignment.saturating_sub(self.recalled + self.faults().map_or(0, |faults| faults.failed))
    }
}
