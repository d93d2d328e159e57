//! The names of sites and partitions in output files.

use super::cells::{self, Label};
use crate::model::{PartitionId, SiteId, SiteSpec};

/// The name of the site of a job that is with the broker or the dispatcher.
pub(super) const NO_SITE: &str = "grid";

/// Site and partition names as cells, and the number of each partition's first processor when the processors of all
/// sites are numbered consecutively.
#[derive(Debug)]
pub(super) struct Names {
    sites: Vec<(Label, Vec<Partition>)>,
    grid: Label,
    /// Whether any processor draws power.
    pub(super) powered: bool,
}

#[derive(Debug)]
struct Partition {
    name: Label,
    first: u64,
}

impl Names {
    pub(super) fn of(sites: &[SiteSpec]) -> Self {
        let mut first = 0;
        let mut site = |spec: &SiteSpec| {
            let partitions = spec.partitions.iter().map(|partition| {
                let here = first;
                first += u64::from(partition.processors());
                Partition { name: Label::new(&partition.name), first: here }
            });
            (Label::new(&spec.name), partitions.collect())
        };
        Self {
            sites: sites.iter().map(&mut site).collect(),
            grid: Label::new(NO_SITE),
            powered: sites.iter().flat_map(|site| &site.partitions).any(|part| part.busy().milliwatts() > 0),
        }
    }

    /// Appends a site's name, or its number if it has none; `grid` if there is no site.
    pub(super) fn site(&self, out: &mut Vec<u8>, site: SiteId) {
        match self.sites.get(site.index()) {
            Some((name, _)) => name.write(out),
            None if site == SiteId::GRID => self.grid.write(out),
            None => cells::integer(out, site.0),
        }
    }

    /// Appends a partition's name, or its number if it has none; nothing if there is no site.
    pub(super) fn partition(&self, out: &mut Vec<u8>, site: SiteId, partition: PartitionId) {
        match self.get(site, partition) {
            Some(found) => found.name.write(out),
            None if site == SiteId::GRID => out.push(b','),
            None => cells::integer(out, partition.0),
        }
    }

    /// The number of a partition's first processor in the numbering over all sites.
    pub(super) fn first_processor(&self, site: SiteId, partition: PartitionId) -> u64 {
        self.get(site, partition).map_or(0, |found| found.first)
    }

    fn get(&self, site: SiteId, partition: PartitionId) -> Option<&Partition> {
        self.sites.get(site.index())?.1.get(partition.index())
    }
}
