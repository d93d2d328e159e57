//! The pool that needs the least energy for the job.

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
    BrokerPolicyInfo::new("greenest", build)
        .doc("Assigns each job, in order of arrival, to the pool where it needs the least facility energy (power × PUE × processors × estimated run time) among those with an expected completion by its deadline.")
        .source("energy-aware meta-scheduling: compare Garg, Yeo, Anandasivam and Buyya 2011")
        .params(&PARAMS)
}

fn build(named: &mut Named, _: u64) -> Result<BrokerBuilt, NamedError> {
    let goal = Goal::Energy(PowerCounted::take(named)?);
    Ok((Box::new(OneByOne(Greenest { goal, thrift: Thrift::take(named)? })), BrokerAbilities::STEADY))
}

/// The pool that needs the least energy for the job: power of a processor × PUE × processors given × estimated run there.
#[derive(Debug)]
pub struct Greenest {
    goal: Goal,
    thrift: Thrift,
}

impl Choose for Greenest {
    fn gate(&self) -> Gate {
        self.thrift.gate()
    }

    fn choose(&mut self, view: &GridView<'_>, task: Task<'_>) -> Pick {
        self.thrift.choose(view, task, self.goal, Reason::Greenest)
    }

    fn compares(&self) -> Option<&'static str> {
        Some(self.goal.name())
    }

    fn compared(&self, view: &GridView<'_>, task: Task<'_>, pool: usize) -> f64 {
        self.thrift.compared(view, task, self.goal, pool)
    }
}
