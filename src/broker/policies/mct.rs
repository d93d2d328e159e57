//! Minimum completion time.

use crate::broker::{Absent, BrokerAbilities, BrokerBuilt, BrokerPolicy, BrokerPolicyInfo, GridView};
use crate::model::{Named, NamedError};

pub(super) fn info() -> BrokerPolicyInfo {
    BrokerPolicyInfo::new("mct", build)
        .doc("Assigns each job, in order of arrival, to the pool with its earliest expected completion.")
        .source("minimum completion time: Armstrong, Hensgen and Kidd 1998; Braun et al. 2001")
        .params(&[Absent::PARAM])
}

fn build(named: &mut Named, _: u64) -> Result<BrokerBuilt, NamedError> {
    let absent = Absent::take(named)?;
    Ok((Box::new(Mct { absent }), BrokerAbilities::PLAIN))
}

/// Minimum completion time.
#[derive(Debug)]
pub struct Mct {
    absent: Absent,
}

impl BrokerPolicy for Mct {
    fn plan(&mut self, view: &mut GridView<'_>) {
        for (at, job) in view.waiting().iter().enumerate() {
            let best = view
                .least(at, true, |pool| view.completion(at, pool))
                // It is not known when machines come back, so that only the shortest run can be chosen there.
                .or_else(|| self.absent.least(view, at, |pool| Some(view.pools()[pool].run_of(job))));
            if let Some(pool) = best {
                view.assign(at, pool);
            }
        }
    }
}
