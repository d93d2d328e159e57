//! Builds the center of a grid from its description.

use super::{GridError, Node};
use crate::broker::{BrokerRegistry, Pool, PoolFacts};
use crate::entity::{Broker, Directory, Dispatcher, Network, Portal, Site, Uplink};
use crate::model::{BrokerSpec, GridSpec, PartitionId, PoolId, SiteId};
use crate::units::{Span, Time};
use crate::workload::Source;

/// The entities between the portal's workload and the sites: portal, broker, dispatcher, directory and network.
#[derive(Debug)]
pub(super) struct Center {
    pub(super) portal: Box<Portal>,
    pub(super) broker: Box<Broker>,
    pub(super) dispatcher: Box<Dispatcher>,
    pub(super) directory: Box<Directory>,
    pub(super) network: Box<Network>,
}

impl Center {
    /// Builds the center of the described grid and connects the sites to it.
    pub(super) fn build(
        spec: &GridSpec,
        broker: &BrokerSpec,
        portal: Box<dyn Source>,
        sites: &mut [Site],
        registry: &BrokerRegistry,
    ) -> Result<Self, GridError> {
        let portal = Portal::new(portal)?;
        let feedback = portal.has_feedback();
        let pools = sites.iter().enumerate().flat_map(|(at, site)| pools(spec, at, site)).collect();
        let broker_entity = Broker::new(broker.clone(), pools, spec.seed, feedback, registry)?;
        let latency: Vec<Span> = (0..sites.len()).map(|at| spec.network.link(0, at + 1).latency).collect();
        let asks = broker_entity.abilities().pulls;
        for (site, latency) in sites.iter_mut().zip(&latency) {
            site.connect(Uplink {
                latency: *latency,
                monitoring_interval: broker.monitoring_interval,
                asks,
                failed_attempts: broker.failed_attempts,
            });
        }
        Ok(Self {
            portal: Box::new(portal),
            broker: Box::new(broker_entity),
            dispatcher: Box::new(Dispatcher::new(broker.clone(), latency)),
            directory: Box::new(Directory::new(sites.len())),
            network: Box::new(Network::new(&spec.network)),
        })
    }

    /// The entities, in the order in which they follow the sites.
    pub(super) fn into_nodes(self) -> [Node; 5] {
        [
            Node::Portal(self.portal),
            Node::Broker(self.broker),
            Node::Dispatcher(self.dispatcher),
            Node::Directory(self.directory),
            Node::Network(self.network),
        ]
    }
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
            processors: part.usable(),
            allocation_unit: part.allocation_unit,
            speed: part.speed,
            idle: part.idle,
            busy: part.busy,
            pue_ppm: described.pue_ppm,
            latency: link.latency,
            bandwidth: link.bandwidth,
        };
        Pool {
            facts,
            report: site.pool_report(number, Time::ZERO),
            measured: Time::ZERO,
            open: true,
            in_flight: crate::broker::InFlight::default(),
            asked: 0,
        }
    };
    site.partitions().iter().enumerate().map(pool).collect()
}
