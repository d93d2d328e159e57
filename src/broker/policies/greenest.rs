//! The pool that needs the least energy for the job.

use super::Thrift;
use crate::broker::{BrokerAbilities, BrokerPolicy, BrokerPolicyInfo, Picture};
use crate::model::ParamInfo;

const POWER: ParamInfo = ParamInfo {
    key: "power",
    values: "added or busy",
    default: "added",
    doc: "what a running job draws: what its processors draw above idle, since they would draw that anyway, or all that they draw",
};

const PARAMS: [ParamInfo; 5] = {
    let [within, deadline, ties, absent] = Thrift::PARAMS;
    [POWER, within, deadline, ties, absent]
};

pub(super) const INFO: BrokerPolicyInfo = BrokerPolicyInfo {
    name: "greenest",
    doc: "Sends each job, in order of arrival, where it needs the least energy of the facility (power × PUE × processors × estimated run) among the pools that promise its completion by its deadline.",
    source: "energy-aware meta-scheduling: compare Garg, Yeo, Anandasivam and Buyya 2011",
    params: &PARAMS,
    abilities: BrokerAbilities::PLAIN,
    build: |mut named, _| {
        let words = [("added", PowerCounted::Added), ("busy", PowerCounted::Busy)];
        let power = named.take_choice(POWER.key, &words)?.unwrap_or_default();
        let thrift = Thrift::take(&mut named)?;
        named.finish(&PARAMS.map(|param| param.key))?;
        Ok(Box::new(Greenest { power, thrift }))
    },
};

/// What a running job draws.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub enum PowerCounted {
    /// What its processors draw above idle: what the meter of the grid would not show without the job.
    #[default]
    Added,
    /// All that its processors draw: what the job is charged.
    Busy,
}

/// The pool that needs the least energy for the job: power of a processor × PUE × processors given × estimated run there.
#[derive(Debug)]
pub struct Greenest {
    power: PowerCounted,
    thrift: Thrift,
}

impl BrokerPolicy for Greenest {
    fn plan(&mut self, picture: &mut Picture<'_>) {
        self.thrift.plan(picture, |pool, job| {
            let (idle, busy) = (pool.facts.idle.milliwatts(), pool.facts.busy.milliwatts());
            let power = match self.power {
                PowerCounted::Added => busy.saturating_sub(idle),
                PowerCounted::Busy => busy,
            };
            let area = u128::from(pool.procs_for(job)) * u128::from(pool.run_of(job).micros());
            area.saturating_mul(u128::from(power) * u128::from(pool.facts.pue_ppm))
        });
    }
}
