//! All measures of a grid run over its records.

use serde::{Deserialize, Serialize};

use super::{
    Backlog, Churn, Definitions, DifferentDefinitions, Elasticity, Exact, Groups, Recovery, RecoveryRule,
    Window,
};
use crate::model::{ChurnSpec, PartitionSpec, Record, SiteSpec};

/// Collects the records of a grid run, one at a time, in any order.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct GridMeasures {
    window: Window,
    pub(super) groups: Groups,
    pub(super) backlog: Backlog,
    pub(super) churn: Churn,
    pub(super) recovery: Option<Recovery>,
    elastic: Elasticity,
}

impl GridMeasures {
    /// Nothing yet, of a grid of these sites. How long throughput takes to recover is watched if any of them has
    /// churn or begins with machines away; if some are away by chance from the beginning, say how many are there
    /// with [`GridMeasures::watching`].
    pub fn new(definitions: Definitions, window: Window, sites: &[SiteSpec]) -> Self {
        let measures = Self {
            window,
            groups: Groups::new(definitions, window, sites.len()),
            backlog: Backlog::default(),
            churn: Churn::new(window),
            recovery: None,
            elastic: Elasticity::default(),
        };
        let none = ChurnSpec::default();
        let has_churn = |site: &SiteSpec| {
            site.churn.random != none.random
                || !site.churn.script.is_empty()
                || site.partitions.iter().any(|partition| partition.absent > 0)
        };
        if sites.iter().any(has_churn) {
            measures.watching(RecoveryRule::default(), present(sites))
        } else {
            measures
        }
    }

    /// The same, watching how long throughput takes to recover from big losses, whether churn is planned or not. It
    /// costs eight bytes a completed job. `present` processors are there at the beginning, before the first event:
    /// without machines that are away by chance from the beginning, which no event tells.
    #[must_use]
    pub fn watching(mut self, rule: RecoveryRule, present: u64) -> Self {
        self.recovery = Some(Recovery::new(rule, present));
        self
    }

    /// Adds a record; only jobs and events are measured.
    #[inline]
    pub fn add(&mut self, record: &Record) {
        match record {
            Record::Job(job) => {
                self.groups.add(job);
                self.backlog.add(job);
                self.churn.add_job(job);
                if let Some(recovery) = &mut self.recovery {
                    recovery.add_job(job);
                }
            }
            Record::Event(event) => {
                self.churn.add_event(event);
                self.elastic.add(event);
                if let Some(recovery) = &mut self.recovery {
                    recovery.add_event(event);
                }
            }
            Record::Segment(_) | Record::Machine(_) => {}
        }
    }

    /// Adds everything that `other` has seen of the same grid.
    ///
    /// # Errors
    /// [`DifferentDefinitions`], with nothing added, if the two do not measure the same.
    pub fn merge(&mut self, other: &Self) -> Result<(), DifferentDefinitions> {
        if self.recovery.is_some() != other.recovery.is_some() {
            return Err(DifferentDefinitions);
        }
        self.groups.merge(&other.groups)?;
        self.backlog.merge(&other.backlog);
        self.churn.merge(&other.churn);
        self.elastic.merge(&other.elastic);
        if let (Some(mine), Some(theirs)) = (&mut self.recovery, &other.recovery) {
            mine.merge(theirs);
        }
        Ok(())
    }

    /// What counts.
    pub const fn window(&self) -> Window {
        self.window
    }

    /// The jobs by site and origin.
    pub const fn groups(&self) -> &Groups {
        &self.groups
    }

    /// Elastic commands.
    pub const fn elastic(&self) -> &Elasticity {
        &self.elastic
    }

    /// What churn did.
    pub const fn churn(&self) -> &Churn {
        &self.churn
    }
}

impl Exact for GridMeasures {
    fn exact(&mut self, each: &mut dyn FnMut(&mut Vec<u64>)) {
        self.groups.exact(each);
        self.churn.exact(each);
        if let Some(recovery) = &mut self.recovery {
            recovery.exact(each);
        }
    }
}

/// Processors that the descriptions say are there at the beginning.
fn present(sites: &[SiteSpec]) -> u64 {
    let partitions = sites.iter().flat_map(|site| &site.partitions);
    let there = |partition: &PartitionSpec| {
        u64::from(partition.machines.saturating_sub(partition.absent)) * u64::from(partition.cores)
    };
    partitions.map(there).sum()
}
