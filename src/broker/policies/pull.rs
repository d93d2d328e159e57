//! Pools ask for work.

use crate::broker::{BrokerAbilities, BrokerPolicy, BrokerPolicyInfo, Picture};
use crate::model::ParamInfo;

const PASS: ParamInfo = ParamInfo {
    key: "pass",
    values: "yes or no",
    default: "yes",
    doc: "whether jobs may pass an earlier one that is larger than what any pool has asked for; with `no` they wait behind it, unless no pool has enough processors present for it",
};

pub(super) const INFO: BrokerPolicyInfo = BrokerPolicyInfo {
    name: "pull",
    doc: "Keeps jobs until pools ask for work; each job, in order of arrival, goes to the first pool that has asked for as many processors.",
    source: "receiver-initiated load sharing: Eager, Lazowska and Zahorjan 1986; in grids, pilot jobs: Casajus et al. 2010 (DIRAC)",
    params: &[PASS],
    abilities: BrokerAbilities { pulls: true, batch: true, ..BrokerAbilities::PLAIN },
    build: |mut named, _| {
        let pass = named.take_choice(PASS.key, &[("yes", true), ("no", false)])?.unwrap_or(true);
        named.finish(&[PASS.key])?;
        Ok(Box::new(Pull { pass }))
    },
};

/// Pools ask for work.
#[derive(Debug)]
pub struct Pull {
    /// Whether jobs may pass an earlier one that is too large for what was asked.
    pass: bool,
}

fn most_asked(picture: &Picture<'_>) -> u32 {
    picture.pools().iter().map(|pool| pool.asked).max().unwrap_or(0)
}

impl BrokerPolicy for Pull {
    fn plan(&mut self, picture: &mut Picture<'_>) {
        let mut most = most_asked(picture);
        for (at, job) in picture.waiting().iter().enumerate() {
            if most == 0 {
                return;
            }
            if self.pass && job.size().min() > most {
                continue;
            }
            let asked = |pool: usize| {
                let pool = &picture.pools()[pool];
                (pool.procs_for(job) <= pool.asked).then_some(())
            };
            if let Some(pool) = picture.least(at, true, asked) {
                picture.assign(at, pool);
                most = most_asked(picture);
            } else if !self.pass && picture.least(at, true, |_| Some(())).is_some() {
                return;
            }
        }
    }
}
