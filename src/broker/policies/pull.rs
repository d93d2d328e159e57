//! Pull: pools ask for work.

use crate::broker::{
    BrokerAbilities, BrokerBuilt, BrokerPolicyInfo, Choose, Gate, GridView, OneByOne, Pick, Reason, Task,
};
use crate::model::{Named, NamedError, ParamInfo};

const PASS: ParamInfo = ParamInfo {
    key: "pass",
    values: "yes or no",
    default: "yes",
    doc: "whether jobs may pass an earlier one that is larger than every request; with `no` they wait behind it, unless it fits in no pool now",
};

pub(super) fn info() -> BrokerPolicyInfo {
    BrokerPolicyInfo::new("pull", build)
        .doc("Keeps jobs until pools request work; assigns each job, in order of arrival, to the first pool that has requested enough processors.")
        .source("receiver-initiated load sharing: Eager, Lazowska and Zahorjan 1986; in grids, pilot jobs: Casajus et al. 2010 (DIRAC)")
        .params(&[PASS])
}

fn build(named: &mut Named, _: u64) -> Result<BrokerBuilt, NamedError> {
    let pass = named.take_choice(PASS.key, &[("yes", true), ("no", false)])?.unwrap_or(true);
    Ok((
        Box::new(OneByOne(Pull { pass })),
        BrokerAbilities { pulls: true, batch: true, steady: pass, ..BrokerAbilities::PLAIN },
    ))
}

/// Pull: pools ask for work, and only those that asked get jobs.
#[derive(Debug)]
pub struct Pull {
    /// Whether a job may overtake an earlier one that is too large for what was asked.
    pass: bool,
}

impl Choose for Pull {
    fn gate(&self) -> Gate {
        if self.pass { Gate::Asked } else { Gate::Fits }
    }

    fn choose(&mut self, view: &GridView<'_>, task: Task<'_>) -> Pick {
        if view.pools().iter().all(|pool| pool.asked == 0) {
            return Pick::Stop;
        }
        let asked = |pool: usize| {
            let pool = &view.pools()[pool];
            (pool.procs_for(&task) <= pool.asked).then_some(())
        };
        match view.least(task, true, asked) {
            Some(pool) => Pick::Pool(pool, Reason::Asked),
            None if !self.pass && view.least(task, true, |_| Some(())).is_some() => Pick::Stop,
            None => Pick::Leave,
        }
    }
}
