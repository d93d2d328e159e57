//! The cheapest pool.

use super::{Goal, PowerCounted, Thrift};
use crate::broker::{
    BrokerAbilities, BrokerBuilt, BrokerPolicyInfo, Choose, Gate, GridView, OneByOne, Pick, Reason, Task,
};
use crate::model::{Named, NamedError, ParamInfo};

const OF: ParamInfo = ParamInfo {
    key: "of",
    values: "price or electricity",
    default: "price",
    doc: "what is paid: the processors (price × processors), or the electricity of the facility (its price × power × PUE × processors), over the expected run",
};

const PARAMS: [ParamInfo; 6] = {
    let [within, deadline, ties, absent] = Thrift::PARAMS;
    [OF, PowerCounted::PARAM, within, deadline, ties, absent]
};

pub(super) fn info() -> BrokerPolicyInfo {
    BrokerPolicyInfo::new("cheapest", build)
        .doc("Assigns each job, in order of arrival, to the pool where it costs least (price × processors, over the expected run) among those with an expected completion by its deadline.")
        .source("cost optimisation within a deadline: Buyya, Abramson and Giddy 2000 (Nimrod/G)")
        .params(&PARAMS)
}

fn build(named: &mut Named, _: u64) -> Result<BrokerBuilt, NamedError> {
    let electricity = named.take_choice(OF.key, &[("price", false), ("electricity", true)])?;
    let power = PowerCounted::take(named)?;
    let goal = if electricity == Some(true) { Goal::Electricity(power) } else { Goal::Price };
    Ok((Box::new(OneByOne(Cheapest { goal, thrift: Thrift::take(named)? })), BrokerAbilities::STEADY))
}

/// The cheapest pool: by the price of processors, or of electricity, over the expected run.
#[derive(Debug)]
pub struct Cheapest {
    goal: Goal,
    thrift: Thrift,
}

impl Choose for Cheapest {
    fn gate(&self) -> Gate {
        self.thrift.gate()
    }

    fn choose(&mut self, view: &GridView<'_>, task: Task<'_>) -> Pick {
        self.thrift.choose(view, task, self.goal, Reason::Cheapest)
    }

    fn compares(&self) -> Option<&'static str> {
        Some(self.goal.name())
    }

    fn compared(&self, view: &GridView<'_>, task: Task<'_>, pool: usize) -> f64 {
        self.thrift.compared(view, task, self.goal, pool)
    }
}
