//! The pool where the job causes the least carbon: intensity × power of a processor × PUE × processors given, over the expected run there.

use super::{Goal, PowerCounted, Thrift};
use crate::broker::{BrokerAbilities, BrokerBuilt, BrokerPolicyInfo, OneByOne};
use crate::model::{Named, NamedError, ParamInfo};

const PARAMS: [ParamInfo; 7] = {
    let [within, deadline, ties, absent] = Thrift::PARAMS;
    let [horizon, forecast] = Thrift::AHEAD;
    [PowerCounted::PARAM, horizon, forecast, within, deadline, ties, absent]
};

pub(super) fn info() -> BrokerPolicyInfo {
    BrokerPolicyInfo::new("lowest-carbon", build)
        .doc("Assigns each job, in order of arrival, to the pool where it causes the least carbon (intensity × power × PUE × processors, over the expected run) among those with an expected completion by its deadline.")
        .source("carbon-aware meta-scheduling: compare Garg, Yeo, Anandasivam and Buyya 2011")
        .params(&PARAMS)
}

fn build(named: &mut Named, seed: u64) -> Result<BrokerBuilt, NamedError> {
    let goal = Goal::Carbon(PowerCounted::take(named)?);
    let thrift = Thrift::take(named, goal)?.ahead(named, seed)?;
    Ok((Box::new(OneByOne(thrift)), BrokerAbilities::STEADY))
}
