//! The pool where the job causes the least carbon.

use super::{Goal, PowerCounted, Thrift};
use crate::broker::{
    BrokerAbilities, BrokerBuilt, BrokerPolicyInfo, Choose, Gate, GridView, OneByOne, Pick, Reason, Task,
};
use crate::model::{Named, NamedError, ParamInfo};

const PARAMS: [ParamInfo; 5] = {
    let [within, deadline, ties, absent] = Thrift::PARAMS;
    [PowerCounted::PARAM, within, deadline, ties, absent]
};

pub(super) fn info() -> BrokerPolicyInfo {
    BrokerPolicyInfo::new("lowest-carbon", build)
        .doc("Assigns each job, in order of arrival, to the pool where it causes the least carbon (intensity × power × PUE × processors, over the expected run) among those with an expected completion by its deadline.")
        .source("carbon-aware meta-scheduling: compare Garg, Yeo, Anandasivam and Buyya 2011")
        .params(&PARAMS)
}

fn build(named: &mut Named, _: u64) -> Result<BrokerBuilt, NamedError> {
    let goal = Goal::Carbon(PowerCounted::take(named)?);
    Ok((Box::new(OneByOne(LowestCarbon { goal, thrift: Thrift::take(named)? })), BrokerAbilities::STEADY))
}

/// The pool where the job causes the least carbon: intensity × power of a processor × PUE × processors given, over the expected run there.
#[derive(Debug)]
pub struct LowestCarbon {
    goal: Goal,
    thrift: Thrift,
}

impl Choose for LowestCarbon {
    fn gate(&self) -> Gate {
        self.thrift.gate()
    }

    fn choose(&mut self, view: &GridView<'_>, task: Task<'_>) -> Pick {
        self.thrift.choose(view, task, self.goal, Reason::LeastCarbon)
    }

    fn compares(&self) -> Option<&'static str> {
        Some(self.goal.name())
    }

    fn compared(&self, view: &GridView<'_>, task: Task<'_>, pool: usize) -> f64 {
        self.thrift.compared(view, task, self.goal, pool)
    }
}
