//! The cheapest pool.

use super::Thrift;
use crate::broker::{BrokerAbilities, BrokerPolicy, BrokerPolicyInfo, GridView};

pub(super) fn info() -> BrokerPolicyInfo {
    BrokerPolicyInfo::new("cheapest", |named, _| {
        Ok((Box::new(Cheapest { thrift: Thrift::take(named)? }), BrokerAbilities::STEADY))
    })
    .doc("Assigns each job, in order of arrival, to the pool where it costs least (price × processors × estimated run time) among those with an expected completion by its deadline.")
    .source("cost optimisation within a deadline: Buyya, Abramson and Giddy 2000 (Nimrod/G)")
    .params(&Thrift::PARAMS)
}

/// The cheapest pool: price of a core-hour as last reported × processors given × estimated run time there.
#[derive(Debug)]
pub struct Cheapest {
    thrift: Thrift,
}

impl BrokerPolicy for Cheapest {
    fn plan(&mut self, view: &mut GridView<'_>) {
        // Processors × microseconds × nanos of a price of a core-hour.
        self.thrift.plan(view, ("cost", 1.0 / 3.6e18), |pool, job| {
            let area = u128::from(pool.procs_for(job)) * u128::from(pool.run_of(job).micros());
            area.saturating_mul(u128::from(pool.report.price.nanos()))
        });
    }
}
