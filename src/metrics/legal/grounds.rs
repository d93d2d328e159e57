//! What is known of the grid that a schedule is held against.

use crate::local::Abilities;
use crate::model::{PartitionId, PartitionSpec, ProcSet, SiteId, SiteSpec};
use crate::units::{Span, Time};

/// A site, and what its policy may do.
#[derive(Clone, Debug)]
pub struct Ground {
    /// The site.
    pub spec: SiteSpec,
    /// What its policy has declared.
    pub abilities: Abilities,
}

impl Ground {
    /// The partition of that number.
    pub(super) fn partition(&self, partition: PartitionId) -> Option<&PartitionSpec> {
        self.spec.partitions.get(partition.index())
    }

    /// True if nothing can make a job run longer than its policy expected.
    pub(super) fn is_punctual(&self) -> bool {
        !self.spec.overrun && !self.may_churn()
    }

    /// True if its machines come and go by its description; commands may make others do so.
    fn may_churn(&self) -> bool {
        self.spec.churn.random.is_some() || !self.spec.churn.script.is_empty()
    }
}

/// The grid, and which files of the run there are.
#[derive(Clone, Debug, Default)]
pub struct Grounds {
    /// Its sites, in their order.
    pub sites: Vec<Ground>,
    /// Whether every job takes exactly the processors that it asks for, as the jobs of all logs and generators do that are not made malleable.
    pub rigid: bool,
    /// Whether segments are told. Without them only those jobs are placed whose rows say where they ran.
    pub segments: bool,
    /// Whether events are told: without them machines are taken to stand.
    pub events: bool,
    /// Whether speeds, allocation blocks and limits are known, and not only how many processors there are.
    pub known: bool,
    /// How exact times are: tables of others may cut decimals off.
    pub slack: Span,
    /// Whether there are jobs of the sites' own beside those of the grid: then it is said whose a job is.
    pub has_local: bool,
}

impl Grounds {
    /// One site of one partition.
    pub fn one(spec: SiteSpec, abilities: Abilities) -> Self {
        Self {
            sites: vec![Ground { spec, abilities }],
            rigid: true,
            segments: true,
            events: false,
            known: true,
            slack: Span::ZERO,
            has_local: true,
        }
    }

    pub(super) fn get(&self, site: SiteId) -> Option<&Ground> {
        self.sites.get(site.index())
    }

    /// Whether the policy of a site suspends jobs.
    pub(super) fn preempts(&self, site: SiteId) -> bool {
        self.get(site).is_some_and(|ground| ground.abilities.preempts)
    }

    /// A site in words.
    pub(super) fn site(&self, site: SiteId) -> &str {
        self.get(site).map_or("the grid", |ground| ground.spec.name.as_str())
    }

    /// Processors in words: `processors 0-3 of delft/default`.
    pub(super) fn processors(&self, site: SiteId, partition: PartitionId, procs: &ProcSet) -> String {
        let word = if procs.len() == 1 { "processor" } else { "processors" };
        format!("{word} {procs} of {}", self.place(site, partition))
    }

    /// A partition in words.
    pub(super) fn place(&self, site: SiteId, partition: PartitionId) -> String {
        let Some(ground) = self.get(site) else { return "no site".to_owned() };
        match ground.partition(partition) {
            Some(part) if ground.spec.partitions.len() > 1 => format!("{}/{}", ground.spec.name, part.name),
            Some(_) => ground.spec.name.clone(),
            None => format!("partition {partition} of {}", ground.spec.name),
        }
    }
}

/// A stretch of time in words.
pub(super) fn stretch(from: Time, to: Time) -> String {
    format!("from {from} s to {to} s")
}
