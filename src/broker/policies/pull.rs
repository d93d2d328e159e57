//! Pull: pools ask for work.

use crate::broker::{BrokerAbilities, BrokerBuilt, BrokerPolicy, BrokerPolicyInfo, GridView};
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
        Box::new(Pull { pass }),
        BrokerAbilities { pulls: true, batch: true, steady: pass, ..BrokerAbilities::PLAIN },
    ))
}

/// Pull: pools ask for work, and only those that asked get jobs.
#[derive(Debug)]
pub struct Pull {
    /// Whether a job may overtake an earlier one that is too large for what was asked.
    pass: bool,
}

fn most_asked(view: &GridView<'_>) -> u32 {
    view.pools().iter().map(|pool| pool.asked).max().unwrap_or(0)
}

impl BrokerPolicy for Pull {
    fn plan(&mut self, view: &mut GridView<'_>) {
        let mut most = most_asked(view);
        for (at, job) in view.waiting().iter().enumerate() {
            if most == 0 {
                return;
            }
            if self.pass && job.size().min() > most {
                continue;
            }
            let asked = |pool: usize| {
                let pool = &view.pools()[pool];
                (pool.procs_for(job) <= pool.asked).then_some(())
            };
            if let Some(pool) = view.least(at, true, asked) {
                view.assign(at, pool);
                most = most_asked(view);
            } else if !self.pass && view.least(at, true, |_| Some(())).is_some() {
                return;
            }
        }
    }
}
