//! The cheapest pool.

use super::Thrift;
use crate::broker::{
    BrokerAbilities, BrokerPolicyInfo, Choose, Gate, GridView, OneByOne, Pick, Pool, Reason, Task,
};

pub(super) fn info() -> BrokerPolicyInfo {
    BrokerPolicyInfo::new("cheapest", |named, _| {
        Ok((Box::new(OneByOne(Cheapest { thrift: Thrift::take(named)? })), BrokerAbilities::STEADY))
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

/// The price in processors × microseconds × nanos of a price of a core-hour.
fn cost(pool: &Pool, task: Task<'_>) -> u128 {
    let area = u128::from(pool.procs_for(&task)) * u128::from(pool.run_now(&task).micros());
    area.saturating_mul(u128::from(pool.report.price.nanos()))
}

impl Choose for Cheapest {
    fn gate(&self) -> Gate {
        self.thrift.gate()
    }

    fn choose(&mut self, view: &GridView<'_>, task: Task<'_>) -> Pick {
        self.thrift.choose(view, task, Reason::Cheapest, cost)
    }

    fn compares(&self) -> Option<&'static str> {
        Some("cost")
    }

    fn compared(&self, pool: &Pool, task: Task<'_>) -> f64 {
        cost(pool, task) as f64 * (1.0 / 3.6e18)
    }
}
