//! All measures of a grid run over its records.

use serde::{Deserialize, Serialize};

use super::coallocations::Coallocations;
use super::fronts::Fronts;
use super::preemption::Suspensions;
use super::{
    Backlog, Churn, Definitions, Elasticity, Exact, Groups, Recovery, RecoveryRule, WaitComparison, Window,
    WorkflowMeasures,
};
use crate::model::{
    ChurnSpec, EventRecord, JobRecord, Outcome, PartitionSpec, Record, RejectReason, SiteSpec,
};

/// Collects the records of a grid run, one at a time, in any order.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct GridMeasures {
    pub(super) window: Window,
    pub(super) groups: Groups,
    pub(super) backlog: Backlog,
    pub(super) churn: Churn,
    pub(super) recovery: Option<Recovery>,
    pub(super) elastic: Elasticity,
    pub(super) workflows: WorkflowMeasures,
    pub(super) fronts: Fronts,
    pub(super) coallocations: Coallocations,
    pub(super) suspensions: Suspensions,
    single: Option<Single>,
}

/// What is measured only in a grid of one site.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Single {
    waits: WaitComparison,
    /// Jobs that were rejected because they request more than the machine has.
    too_large: u64,
}

impl GridMeasures {
    /// Creates an empty collector for a grid of these sites. It measures the recovery of throughput if any site has
    /// churn or begins with machines down. If some machines are down at random from the beginning, give the number of
    /// present processors with [`GridMeasures::watching`].
    pub fn new(definitions: Definitions, window: Window, sites: &[SiteSpec]) -> Self {
        let single = (sites.len() == 1)
            .then(|| Single { waits: WaitComparison::new(definitions.clone()), too_large: 0 });
        let penalty = definitions.penalty;
        let measures = Self {
            window,
            groups: Groups::new(definitions, window, sites.len()),
            backlog: Backlog::default(),
            churn: Churn::new(window),
            recovery: None,
            elastic: Elasticity::default(),
            workflows: WorkflowMeasures::new(penalty),
            fronts: Fronts::default(),
            coallocations: Coallocations::default(),
            suspensions: Suspensions::default(),
            single,
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

    /// Also measures the recovery of throughput after major outages, whether churn is planned or not. It costs eight
    /// bytes a completed job. `present` is the number of processors that are up at the beginning, before the first
    /// event: it excludes machines that are down at random from the beginning, of which there is no event.
    #[must_use]
    pub fn watching(mut self, rule: RecoveryRule, present: u64) -> Self {
        self.recovery = Some(Recovery::new(rule, present));
        self
    }

    /// Adds a record; only jobs, events, workflows, copies of their files, fronts and co-allocated jobs are measured.
    #[inline]
    pub fn add(&mut self, record: &Record) {
        match record {
            Record::Job(job) => self.add_job(job),
            Record::Event(event) => self.add_event(event),
            Record::Workflow(workflow) => self.workflows.add(workflow, self.window),
            Record::Transfer(copy) => self.workflows.add_transfer(copy),
            Record::Front(front) if self.window.contains(front.at) => self.fronts.add(front),
            Record::Coallocation(job) if self.window.contains(job.submit) => self.coallocations.add(job),
            Record::Segment(_)
            | Record::Machine(_)
            | Record::Task(_)
            | Record::Front(_)
            | Record::Coallocation(_)
            | Record::Slice(_)
            | Record::Group(_) => {}
        }
    }

    fn add_job(&mut self, job: &JobRecord) {
        self.groups.add(job);
        self.backlog.add(job);
        self.churn.add_job(job);
        if let Some(single) = self.single.as_mut().filter(|_| self.window.contains(job.submit)) {
            let too_large = Outcome::Rejected(RejectReason::TooLarge);
            single.too_large += u64::from(job.outcome == too_large);
            single.waits.add(job);
        }
        if let Some(recovery) = &mut self.recovery {
            recovery.add_job(job);
        }
    }

    fn add_event(&mut self, event: &EventRecord) {
        self.churn.add_event(event);
        self.elastic.add(event);
        self.suspensions.add(event, self.window);
        if let Some(recovery) = &mut self.recovery {
            recovery.add_event(event);
        }
    }

    /// The jobs by site and origin.
    pub const fn groups(&self) -> &Groups {
        &self.groups
    }

    /// What happened to machines, jobs and reservations, by site, kind and cause.
    pub const fn churn(&self) -> &Churn {
        &self.churn
    }

    /// Elastic commands.
    pub const fn elastic(&self) -> &Elasticity {
        &self.elastic
    }

    /// Emulated and recorded waits, in a grid of one site.
    pub fn waits(&self) -> Option<&WaitComparison> {
        self.single.as_ref().map(|single| &single.waits)
    }

    /// Jobs that were rejected because they request more than the machine has, in a grid of one site; otherwise 0.
    pub fn too_large(&self) -> u64 {
        self.single.as_ref().map_or(0, |single| single.too_large)
    }
}

impl Exact for GridMeasures {
    fn exact(&mut self, each: &mut dyn FnMut(&mut Vec<u64>)) {
        self.groups.exact(each);
        self.churn.exact(each);
        if let Some(single) = &mut self.single {
            single.waits.exact(each);
        }
        if let Some(recovery) = &mut self.recovery {
            recovery.exact(each);
        }
    }
}

/// Processors that are up at the beginning according to the descriptions.
fn present(sites: &[SiteSpec]) -> u64 {
    let partitions = sites.iter().flat_map(|site| &site.partitions);
    let there = |partition: &PartitionSpec| {
        u64::from(partition.machines().saturating_sub(partition.absent)) * u64::from(partition.cores)
    };
    partitions.map(there).sum()
}
