//! Builds the center of a grid from its description.

use super::{GridError, Node};
use crate::broker::{BrokerRegistry, Pool, PoolFacts, PoolGroup, Rates};
use crate::entity::{Broker, Directory, Dispatcher, Network, Portal, Site, Uplink};
use crate::model::{BrokerSpec, GridSpec, PartitionId, PartitionSpec, PlacementRule, PoolId, SiteId};
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
    let broker =
        Broker::new(settings.clone(), (pools, usable), spec.seed, feedback, &spec.network, registry)?;
    let latency: Vec<Span> = (0..sites.len()).map(|at| spec.network.link(0, at + 1).latency).collect();
    for (site, latency) in sites.iter_mut().zip(&latency) {
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
        Node::Dispatcher(Box::new(Dispatcher::new(settings.clone(), latency))),
        Node::Directory(Box::new(Directory::new(sites.len()))),
        Node::Network(Box::new(Network::new(&spec.network))),
    ])
}

/// The pools of a site as the broker knows them before the first report.
fn pools(spec: &GridSpec, at: usize, site: &Site) -> Vec<Pool> {
    let link = spec.network.link(0, at + 1);
    let described = &spec.sites[at];
    let pool = |(number, partition): (usize, &crate::local::Partition)| {
        let part = partition.spec();
        let id = PoolId { site: SiteId(at as u32), partition: PartitionId(number as u32) };
        let facts = PoolFacts {
            id,
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
        };
        Pool { report: site.pool_report(number, Time::ZERO), ..Pool::unreported(facts) }
    };
    site.partitions().iter().enumerate().map(pool).collect()
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
