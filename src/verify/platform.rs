//! The description of the grid that a schedule is checked against.

use crate::local::Abilities;
use crate::model::{PartitionId, PartitionSpec, ProcSet, SiteId, SiteSpec};
use crate::units::{Span, Time};

/// A site, and the abilities of its policy.
#[derive(Clone, Debug)]
pub struct PartitionFacts {
    /// The site.
    pub spec: SiteSpec,
    /// The abilities that its policy declares.
    pub abilities: Abilities,
}

impl PartitionFacts {
    /// The partition with this number.
    pub(super) fn partition(&self, partition: PartitionId) -> Option<&PartitionSpec> {
        self.spec.partitions.get(partition.index())
    }

    /// True if no job can run longer than its policy expects.
    pub(super) fn is_punctual(&self) -> bool {
        !self.spec.overrun && !self.may_churn()
    }

    /// True if its machines leave or join by its description; commands may make others do so.
    fn may_churn(&self) -> bool {
        self.spec.churn.random.is_some() || !self.spec.churn.script.is_empty()
    }
}

/// The grid, and which files of the run exist.
#[derive(Clone, Debug, Default)]
pub struct Platform {
    /// Its sites, in their order.
    pub sites: Vec<PartitionFacts>,
    /// Whether every job takes exactly the processors that it requests, as the jobs of all logs and generators do
    /// unless they are made malleable.
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
    /// Whether there are jobs of the sites' own users beside those of the grid; then messages name the owner of a
    /// job.
    pub has_local: bool,
}

impl Platform {
    /// One site of one partition.
    pub fn one(spec: SiteSpec, abilities: Abilities) -> Self {
        Self {
            sites: vec![PartitionFacts { spec, abilities }],
            rigid: true,
            segments: true,
            events: false,
            known: true,
            slack: Span::ZERO,
            has_local: true,
        }
    }

    pub(super) fn get(&self, site: SiteId) -> Option<&PartitionFacts> {
        self.sites.get(site.index())
    }

    /// Whether the policy of a site suspends jobs.
    pub(super) fn preempts(&self, site: SiteId) -> bool {
        self.get(site).is_some_and(|facts| facts.abilities.preempts)
    }

    /// A site in words.
    pub(super) fn site(&self, site: SiteId) -> &str {
        self.get(site).map_or("the grid", |facts| facts.spec.name.as_str())
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
