//! The pool that needs the least energy for the job.

use super::Thrift;
use crate::broker::{
    BrokerAbilities, BrokerBuilt, BrokerPolicyInfo, Choose, Gate, GridView, OneByOne, Pick, Pool, Reason,
    Task,
};
use crate::model::{Named, NamedError, ParamInfo};

const POWER: ParamInfo = ParamInfo {
    key: "power",
    values: "added or busy",
    default: "added",
    doc: "the power of a running job: that of its processors above idle power, or all of it",
};

const PARAMS: [ParamInfo; 5] = {
    let [within, deadline, ties, absent] = Thrift::PARAMS;
    [POWER, within, deadline, ties, absent]
};

pub(super) fn info() -> BrokerPolicyInfo {
    BrokerPolicyInfo::new("greenest", build)
        .doc("Assigns each job, in order of arrival, to the pool where it needs the least facility energy (power × PUE × processors × estimated run time) among those with an expected completion by its deadline.")
        .source("energy-aware meta-scheduling: compare Garg, Yeo, Anandasivam and Buyya 2011")
        .params(&PARAMS)
}

fn build(named: &mut Named, _: u64) -> Result<BrokerBuilt, NamedError> {
    let words = [("added", PowerCounted::Added), ("busy", PowerCounted::Busy)];
    let power = named.take_choice(POWER.key, &words)?.unwrap_or_default();
    let thrift = Thrift::take(named)?;
    Ok((Box::new(OneByOne(Greenest { power, thrift })), BrokerAbilities::STEADY))
}

/// The power of a running job that is counted.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub enum PowerCounted {
    /// The power of its processors above idle: what the grid's energy meter would not show without the job.
    #[default]
    Added,
    /// The whole power of its processors: what the job is charged.
    Busy,
}

/// The pool that needs the least energy for the job: power of a processor × PUE × processors given × estimated run there.
#[derive(Debug)]
pub struct Greenest {
    power: PowerCounted,
    thrift: Thrift,
}

impl Greenest {
    /// The energy in processors × microseconds × milliwatts × millionths.
    fn energy(&self, pool: &Pool, task: Task<'_>) -> u128 {
        let (idle, busy) = (pool.facts.idle.milliwatts(), pool.facts.busy.milliwatts());
        let power = match self.power {
            PowerCounted::Added => busy.saturating_sub(idle),
            PowerCounted::Busy => busy,
        };
        let area = u128::from(pool.procs_for(&task)) * u128::from(pool.run_now(&task).micros());
        area.saturating_mul(u128::from(power) * u128::from(pool.facts.pue_ppm))
    }
}

impl Choose for Greenest {
    fn gate(&self) -> Gate {
        self.thrift.gate()
    }

    fn choose(&mut self, view: &GridView<'_>, task: Task<'_>) -> Pick {
        self.thrift.choose(view, task, Reason::Greenest, |pool, task| self.energy(pool, task))
    }

    fn compares(&self) -> Option<&'static str> {
        Some("energy_j")
    }

    fn compared(&self, pool: &Pool, task: Task<'_>) -> f64 {
        self.energy(pool, task) as f64 * 1e-15
    }
}
