//! Builds the center of a grid from its description.

use super::{GridError, Node};
use crate::broker::{BrokerRegistry, Pool, PoolFacts, PoolGroup, Rates};
use crate::entity::{Broker, Directory, Dispatcher, Network, Portal, Site, Uplink};
use crate::model::{
    BrokerSpec, GridSpec, PartitionId, PartitionSpec, PlacementRule, PoolId, SiteId, SiteSpec,
};
use crate::platform::SiteFaults;
use crate::units::{Span, Time};
use crate::workload::Source;

/// The entities between the portal's workload and the sites, in the order in which they follow the sites: portal, broker,
/// dispatcher, directory and network. Connects the sites to them.
pub(super) fn build_center(
    spec: &GridSpec,
    settings: &BrokerSpec,
    portal: Box<dyn Source>,
    sites: &mut [Site],
    registry: &BrokerRegistry,
) -> Result<[Node; 5], GridError> {
    let portal = Portal::new(portal)?;
    let pools = sites.iter().enumerate().flat_map(|(at, site)| pools(spec, at, site)).collect();
    let parts = sites.iter().flat_map(Site::partitions);
    let usable = parts.map(|partition| partition.spec().usable()).collect();
    let feedback = portal.has_feedback();
    let mut broker =
        Broker::new(settings.clone(), (pools, usable), spec.seed, feedback, &spec.network, registry)?;
    let latency: Vec<Span> = (0..sites.len()).map(|at| spec.network.link(0, at + 1).latency).collect();
    let faults = SiteFaults::of_grid(spec);
    broker.meet(faults.clone());
    for ((site, latency), faults) in sites.iter_mut().zip(&latency).zip(&faults) {
        site.meet(faults.clone());
        site.connect(Uplink {
            latency: *latency,
            monitoring_interval: settings.monitoring_interval,
            asks: broker.abilities().pulls,
            failed_attempts: settings.failed_attempts,
        });
    }
    Ok([
        Node::Portal(Box::new(portal)),
        Node::Broker(Box::new(broker)),
        Node::Dispatcher(Box::new(Dispatcher::new(settings.clone(), latency, faults.clone()))),
        Node::Directory(Box::new(Directory::new(faults))),
        Node::Network(Box::new(Network::new(&spec.network))),
    ])
}

/// The pools of a site as the broker knows them before the first report.
fn pools(spec: &GridSpec, at: usize, site: &Site) -> Vec<Pool> {
    let pool = |(number, partition): (usize, &crate::local::Partition)| {
        let facts = facts(spec, at, number, partition.spec());
        Pool { report: site.pool_report(number, Time::ZERO), ..Pool::unreported(facts) }
    };
    site.partitions().iter().enumerate().map(pool).collect()
}

/// The constant properties of all pools, in order.
pub(crate) fn pool_facts(spec: &GridSpec) -> Vec<PoolFacts> {
    let of_site = |(at, site): (usize, &'_ SiteSpec)| {
        let parts = site.partitions.iter().enumerate();
        parts.map(|(number, part)| facts(spec, at, number, part)).collect::<Vec<_>>()
    };
    spec.sites.iter().enumerate().flat_map(of_site).collect()
}

/// The constant properties of the pool that a partition of a site is.
fn facts(spec: &GridSpec, at: usize, number: usize, part: &PartitionSpec) -> PoolFacts {
    let (link, described) = (spec.network.link(0, at + 1), &spec.sites[at]);
    PoolFacts {
        id: PoolId { site: SiteId(at as u32), partition: PartitionId(number as u32) },
        site: described.name.clone(),
        partition: part.name.clone(),
        processors: part.most(),
        allocation_unit: part.allocation_unit,
        cores: part.cores,
        equipment: part.equipment(),
        speed: part.speed(),
        groups: groups(part, described.placement),
        idle: part.idle(),
        busy: part.busy(),
        pue_ppm: described.pue_ppm,
        rates: Rates::new(part.price(), described.tariff.clone()),
        latency: link.latency,
        bandwidth: spec.network.bandwidth(0, at + 1),
    }
}

/// The groups of a partition in the order in which their free processors are given; none if there is one.
fn groups(part: &PartitionSpec, rule: PlacementRule) -> Vec<PoolGroup> {
    if part.groups.len() < 2 {
        return Vec::new();
    }
    let blocks: Vec<u32> = part.blocks().map(|blocks| blocks.end - blocks.start).collect();
    let group = |at: usize| PoolGroup { processors: blocks[at], speed: part.groups[at].speed };
    rule.ranked(part).into_iter().map(group).collect()
}
