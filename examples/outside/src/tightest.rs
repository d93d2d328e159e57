//! A broker policy: best fit, as in bin packing.

use gridemu::broker::{
    BrokerAbilities, BrokerPolicyInfo, Choose, Gate, GridView, OneByOne, Pick, Reason, Task,
};

/// The policy's entry in the registry.
pub fn info() -> BrokerPolicyInfo {
    BrokerPolicyInfo::new("tightest", |_, _seed| Ok((Box::new(OneByOne(Tightest)), BrokerAbilities::PLAIN)))
        .doc("Sends each job, in order of arrival, to the pool where it leaves the fewest processors free.")
        .source("best fit of bin packing")
}

/// Best fit. A job that fits no site now waits at the broker.
#[derive(Debug)]
struct Tightest;

impl Choose for Tightest {
    /// Without this, the policy would be asked about every task that waits, at every report.
    fn gate(&self) -> Gate {
        Gate::Free
    }

    fn choose(&mut self, view: &GridView<'_>, task: Task<'_>) -> Pick {
        // The free processors less those this broker has sent jobs to since. The job fits, so the difference cannot be
        // negative.
        let left = |at: usize| {
            let pool = &view.pools()[at];
            let free = u64::from(pool.report.free).saturating_sub(pool.in_flight.procs);
            view.is_free(task, at).then_some(free)
        };
        Pick::found(view.least(task, true, left), Reason::Policy)
    }
}
