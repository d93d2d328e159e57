//! Minimum completion time.

use crate::broker::{Absent, BrokerAbilities, BrokerPolicy, BrokerPolicyInfo, GridView};

pub(super) fn info() -> BrokerPolicyInfo {
    BrokerPolicyInfo::new("mct", |named, _| {
        Ok((Box::new(Mct { absent: Absent::take(named)? }), BrokerAbilities::STEADY))
    })
    .doc("Assigns each job, in order of arrival, to the pool with its earliest expected completion.")
    .source("minimum completion time: Armstrong, Hensgen and Kidd 1998; Braun et al. 2001")
    .params(&[Absent::PARAM])
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
            view.assign_to(at, best);
        }
    }
}
