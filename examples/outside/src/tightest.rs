//! A broker policy: best fit, as in bin packing.

use gridemu::broker::{BrokerAbilities, BrokerPolicy, BrokerPolicyInfo, GridView};

/// The policy's entry in the registry.
pub fn info() -> BrokerPolicyInfo {
    BrokerPolicyInfo::new("tightest", |_, _seed| Ok((Box::new(Tightest), BrokerAbilities::PLAIN)))
        .doc("Sends each job, in order of arrival, to the pool where it leaves the fewest processors free.")
        .source("best fit of bin packing")
}

/// Best fit. A job that fits no site now waits at the broker.
#[derive(Debug)]
struct Tightest;

impl BrokerPolicy for Tightest {
    fn plan(&mut self, view: &mut GridView<'_>) {
        for job in 0..view.waiting().len() {
            // The free processors less those this broker has sent jobs to since. The job fits, so the difference cannot be
            // negative.
            let left = |at: usize| {
                let pool = &view.pools()[at];
                let free = u64::from(pool.report.free).saturating_sub(pool.in_flight.procs);
                view.is_free(job, at).then_some(free)
            };
            if let Some(pool) = view.least(job, true, left) {
                view.assign(job, pool);
            }
        }
    }
}
