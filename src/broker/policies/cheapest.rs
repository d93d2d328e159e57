//! The cheapest pool.

use super::Thrift;
use crate::broker::{BrokerAbilities, BrokerBuilt, BrokerPolicy, BrokerPolicyInfo, GridView};
use crate::model::{Named, NamedError};

pub(super) fn info() -> BrokerPolicyInfo {
    BrokerPolicyInfo::new("cheapest", build)
        .doc("Assigns each job, in order of arrival, to the pool where it costs least (price × processors × estimated run time) among those with an expected completion by its deadline.")
        .source("cost optimisation within a deadline: Buyya, Abramson and Giddy 2000 (Nimrod/G)")
        .params(&Thrift::PARAMS)
}

fn build(named: &mut Named, _: u64) -> Result<BrokerBuilt, NamedError> {
    let thrift = Thrift::take(named)?;
    Ok((Box::new(Cheapest { thrift }), BrokerAbilities::PLAIN))
}

/// The cheapest pool: price of a core-hour as last reported × processors given × estimated run time there.
#[derive(Debug)]
pub struct Cheapest {
    thrift: Thrift,
}

impl BrokerPolicy for Cheapest {
    fn plan(&mut self, view: &mut GridView<'_>) {
        self.thrift.plan(view, |pool, job| {
            let area = u128::from(pool.procs_for(job)) * u128::from(pool.run_of(job).micros());
            area.saturating_mul(u128::from(pool.report.price.nanos()))
        });
    }
}
