//! The description of the grid that a schedule is checked against.

use crate::local::Abilities;
use crate::model::{
    CheckpointInterval, JobRef, NamedJob, PartitionId, PartitionSpec, ProcSet, SiteId, SiteSpec,
};
use crate::units::{Span, Time};

/// A site, and the abilities of its policy.
#[derive(Clone, Debug)]
pub struct SiteFacts {
    /// The site.
    pub spec: SiteSpec,
    /// The abilities that its policy declares.
    pub abilities: Abilities,
}

impl SiteFacts {
    /// The partition with this number.
    pub(super) fn partition(&self, partition: PartitionId) -> Option<&PartitionSpec> {
        self.spec.partitions.get(partition.index())
    }

    /// True if no job of a partition can run longer than its policy expects: also because no machine leaves or joins by the
    /// description, and because a job writes as many checkpoints as if it had as few machines as its processors need.
    pub(super) fn is_punctual(&self, partition: &PartitionSpec) -> bool {
        let churn = &self.spec.churn;
        let by_machines = churn
            .checkpoint
            .is_some_and(|checkpoint| !matches!(checkpoint.interval, CheckpointInterval::Every(_)));
        !self.spec.overrun
            && !churn.has_outages()
            && churn.script.is_empty()
            && (partition.cores <= 1 || !by_machines)
    }
}

/// The grid, and which files of the run exist.
#[derive(Clone, Debug, Default)]
pub struct Platform {
    /// Its sites, in their order.
    pub sites: Vec<SiteFacts>,
    /// Whether every job takes exactly the processors that it requests, as the jobs of all logs and generators do
    /// unless they are made malleable. Where it does not, sizes, rates and work are checked against what [`Checker::request`](super::Checker::request)
    /// is told of a job.
    pub rigid: bool,
    /// Whether there are segments. Without them only jobs whose rows have their processors are checked against
    /// processors.
    pub segments: bool,
    /// Whether there are events; without them machines count as up throughout.
    pub events: bool,
    /// Whether speeds, allocation units and limits are known, and not only the number of processors.
    pub known: bool,
    /// The resolution of times: tables of other programs may truncate decimals.
    pub slack: Span,
    /// From when on the grid is as described: a fork began then, and the description of before is not known.
    pub since: Time,
    /// Whether there are jobs of the sites' own users beside those of the grid; then messages name the owner of a
    /// job.
    pub has_local: bool,
}

impl Platform {
    pub(super) fn get(&self, site: SiteId) -> Option<&SiteFacts> {
        self.sites.get(site.index())
    }

    /// A partition that the grid has.
    pub(super) fn partition(&self, site: SiteId, partition: PartitionId) -> Option<&PartitionSpec> {
        self.get(site)?.partition(partition)
    }

    /// A partition by its name, which a site of one partition does not need.
    pub(super) fn named(&self, site: &str, partition: Option<&str>) -> Option<&PartitionSpec> {
        let parts = &self.sites.iter().find(|facts| facts.spec.name == site)?.spec.partitions;
        parts.iter().find(|part| parts.len() == 1 || partition == Some(&part.name))
    }

    /// Whether the policy of a site suspends jobs.
    pub(super) fn preempts(&self, site: SiteId) -> bool {
        self.get(site).is_some_and(|facts| facts.abilities.preempts)
    }

    /// Whether jobs of a site may run at another rate than their share, because sharing costs something.
    pub(super) fn slows(&self, site: SiteId) -> bool {
        self.get(site).is_some_and(|facts| facts.abilities.slows)
    }

    /// Whether machines of a partition can sleep, and so wake up.
    pub(super) fn wakes(&self, site: SiteId, partition: PartitionId) -> bool {
        self.partition(site, partition)
            .is_some_and(|partition| partition.groups.iter().any(|group| group.sleep.is_some()))
    }

    /// Whether a site runs one job at a time on a processor.
    pub(super) fn is_exclusive(&self, site: SiteId) -> bool {
        self.get(site).is_some_and(|facts| facts.abilities.multiprogramming_level <= 1)
    }

    /// A job in words; a single site is not named.
    pub fn job(&self, job: JobRef) -> NamedJob<'_> {
        match job.workload.site().map(|site| self.get(site)) {
            Some(facts) if self.sites.len() > 1 => {
                NamedJob::Local(job.number, facts.map_or("no site", |facts| &facts.spec.name))
            }
            None if self.has_local && !self.sites.is_empty() => NamedJob::Grid(job.number),
            _ => NamedJob::Only(job.number),
        }
    }

    /// Processors in words: `processors 0-3 of delft/default`.
    pub(super) fn processors(&self, site: SiteId, partition: PartitionId, procs: &ProcSet) -> String {
        let word = if procs.len() == 1 { "processor" } else { "processors" };
        format!("{word} {procs} of {}", self.place(site, partition))
    }

    /// A partition in words.
    pub(super) fn place(&self, site: SiteId, partition: PartitionId) -> String {
        let Some(facts) = self.get(site) else { return "no site".to_owned() };
        match facts.partition(partition) {
            Some(part) if facts.spec.partitions.len() > 1 => format!("{}/{}", facts.spec.name, part.name),
            Some(_) => facts.spec.name.clone(),
            None => format!("partition {partition} of {}", facts.spec.name),
        }
    }
}

/// A stretch of time in words.
pub(super) fn stretch(from: Time, to: Time) -> String {
    format!("from {from} s to {to} s")
}
