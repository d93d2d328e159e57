//! Statistics of dedicated jobs and elastic commands in a workload.

use serde::Serialize;

use super::quantity::{Quantity, Values};
use crate::model::{Elastic, Job};

/// Statistics of the dedicated jobs of a workload.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Dedicated {
    /// Number of jobs that request a start.
    pub jobs: u64,
    /// Their share of all jobs.
    pub share: f64,
    /// Time from the submission to the requested start, in seconds.
    pub lead: Quantity,
}

/// Statistics of the elastic commands of a workload.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct CommandContents {
    /// Number of jobs with a command.
    pub jobs: u64,
    /// Their share of all jobs.
    pub share: f64,
    /// Time from the submission to a command, in seconds.
    pub after: Quantity,
    /// The kinds of commands that occur.
    pub kinds: Vec<CommandKind>,
}

/// Statistics of the commands of a kind.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct CommandKind {
    /// `ET`, `RT`, `EP` or `RP`.
    pub code: &'static str,
    /// Their amounts: seconds of time commands, else processors.
    pub amount: Quantity,
}

/// The counters behind these statistics.
#[derive(Debug, Default)]
pub(super) struct Counts {
    leads: Values,
    with_commands: u64,
    after: Values,
    /// Amounts in microseconds or processors, of ET, RT, EP, RP.
    amounts: [Values; 4],
}

/// Codes, and how many units of the recorded amounts make one printed unit.
const KINDS: [(&str, f64); 4] = [("ET", 1e6), ("RT", 1e6), ("EP", 1.0), ("RP", 1.0)];

impl Counts {
    pub(super) fn add(&mut self, job: &Job) {
        if let Some(start) = job.requested_start {
            self.leads.add(start.since(job.submit).micros());
        }
        let Some(commands) = &job.elastic else { return };
        self.with_commands += u64::from(!commands.is_empty());
        for command in commands {
            self.after.add(command.at.since(job.submit).micros());
            let (kind, amount) = match command.change {
                Elastic::ExtendTime(by) => (0, by.micros()),
                Elastic::ReduceTime(by) => (1, by.micros()),
                Elastic::ExtendProcs(by) => (2, by.into()),
                Elastic::ReduceProcs(by) => (3, by.into()),
            };
            self.amounts[kind].add(amount);
        }
    }

    pub(super) fn dedicated(&self, all: u64) -> Option<Dedicated> {
        let jobs = self.leads.count();
        (jobs > 0).then(|| Dedicated {
            jobs,
            share: jobs as f64 / all as f64,
            lead: self.leads.quantity(1e6),
        })
    }

    pub(super) fn commands(&self, all: u64) -> Option<CommandContents> {
        let kinds = self.amounts.iter().zip(KINDS).filter(|(amounts, _)| amounts.count() > 0);
        (self.with_commands > 0).then(|| CommandContents {
            jobs: self.with_commands,
            share: self.with_commands as f64 / all as f64,
            after: self.after.quantity(1e6),
            kinds: kinds.map(|(v, (code, unit))| CommandKind { code, amount: v.quantity(unit) }).collect(),
        })
    }
}
