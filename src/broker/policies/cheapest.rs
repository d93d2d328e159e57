//! The cheapest pool.

use super::Thrift;
use crate::broker::{BrokerAbilities, BrokerPolicy, BrokerPolicyInfo, Picture};

pub(super) const INFO: BrokerPolicyInfo = BrokerPolicyInfo {
    name: "cheapest",
    doc: "Sends each job, in order of arrival, where it costs least (price × processors × estimated run) among the pools that promise its completion by its deadline.",
    source: "cost optimisation within a deadline: Buyya, Abramson and Giddy 2000 (Nimrod/G)",
    params: &Thrift::PARAMS,
    abilities: BrokerAbilities::PLAIN,
    build: |mut named, _| {
        let thrift = Thrift::take(&mut named)?;
        named.finish(&Thrift::PARAMS.map(|param| param.key))?;
        Ok(Box::new(Cheapest { thrift }))
    },
};

/// The cheapest pool: price a core-hour as last reported × processors given × estimated run there.
#[derive(Debug)]
pub struct Cheapest {
    thrift: Thrift,
}

impl BrokerPolicy for Cheapest {
    fn plan(&mut self, picture: &mut Picture<'_>) {
        self.thrift.plan(picture, |pool, job| {
            let area = u128::from(pool.procs_for(job)) * u128::from(pool.run_of(job).micros());
            area.saturating_mul(u128::from(pool.report.price.nanos()))
        });
    }
}
