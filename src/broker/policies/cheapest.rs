//! The cheapest pool: by the price of processors, or of electricity.

use super::{Goal, PowerCounted, Thrift};
use crate::broker::{BrokerAbilities, BrokerBuilt, BrokerPolicyInfo, OneByOne};
use crate::model::{Named, NamedError, ParamInfo};

const OF: ParamInfo = ParamInfo {
    key: "of",
    values: "price or electricity",
    default: "price",
    doc: "what is paid: the processors (price × processors), or the electricity of the facility (its price × power × PUE × processors), over the expected run",
};

const PARAMS: [ParamInfo; 8] = {
    let [within, deadline, ties, absent] = Thrift::PARAMS;
    let [horizon, forecast] = Thrift::AHEAD;
    [OF, PowerCounted::PARAM, horizon, forecast, within, deadline, ties, absent]
};

pub(super) fn info() -> BrokerPolicyInfo {
    BrokerPolicyInfo::new("cheapest", build)
        .doc("Assigns each job, in order of arrival, to the pool where it costs least (price × processors, over the expected run) among those with an expected completion by its deadline.")
        .source("cost optimisation within a deadline: Buyya, Abramson and Giddy 2000 (Nimrod/G)")
        .params(&PARAMS)
}

fn build(named: &mut Named, seed: u64) -> Result<BrokerBuilt, NamedError> {
    let electricity = named.take_choice(OF.key, &[("price", false), ("electricity", true)])?;
    let power = PowerCounted::take(named)?;
    let goal = if electricity == Some(true) { Goal::Electricity(power) } else { Goal::Price };
    let thrift = Thrift::take(named, goal)?.ahead(named, seed)?;
    Ok((Box::new(OneByOne(thrift)), BrokerAbilities::STEADY))
}
