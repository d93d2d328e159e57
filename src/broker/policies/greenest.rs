//! The pool that needs the least energy for the job: power of a processor × PUE × processors given × estimated run there.

use super::{Goal, PowerCounted, Thrift};
use crate::broker::{BrokerAbilities, BrokerBuilt, BrokerPolicyInfo, OneByOne};
use crate::model::{Named, NamedError, ParamInfo};

const PARAMS: [ParamInfo; 5] = {
    let [within, deadline, ties, absent] = Thrift::PARAMS;
    [PowerCounted::PARAM, within, deadline, ties, absent]
};

pub(super) fn info() -> BrokerPolicyInfo {
    BrokerPolicyInfo::new("greenest", build)
        .doc("Assigns each job, in order of arrival, to the pool where it needs the least facility energy (power × PUE × processors × estimated run time) among those with an expected completion by its deadline.")
        .source("energy-aware meta-scheduling: compare Garg, Yeo, Anandasivam and Buyya 2011")
        .params(&PARAMS)
}

fn build(named: &mut Named, _: u64) -> Result<BrokerBuilt, NamedError> {
    let goal = Goal::Energy(PowerCounted::take(named)?);
    Ok((Box::new(OneByOne(Thrift::take(named, goal)?)), BrokerAbilities::STEADY))
}
