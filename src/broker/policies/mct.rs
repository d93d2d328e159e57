//! Minimum completion time.

use crate::broker::{BrokerAbilities, BrokerPolicy, BrokerPolicyInfo, Picture};

pub(super) const INFO: BrokerPolicyInfo = BrokerPolicyInfo {
    name: "mct",
    doc: "Sends each job, in order of arrival, to the pool that promises its earliest completion.",
    source: "minimum completion time: Armstrong, Hensgen and Kidd 1998; Braun et al. 2001",
    params: &[],
    abilities: BrokerAbilities { pulls: false, random: false },
    build: |named, _| {
        named.finish(&[])?;
        Ok(Box::new(Mct))
    },
};

/// Minimum completion time. Among equals the first pool.
#[derive(Debug)]
pub struct Mct;

impl BrokerPolicy for Mct {
    fn plan(&mut self, picture: &mut Picture<'_>) {
        for job in 0..picture.waiting().len() {
            let candidates = (0..picture.pools().len()).filter(|pool| picture.fits(job, *pool, true));
            let best = candidates.filter_map(|pool| Some((picture.completion(job, pool)?, pool))).min();
            if let Some((_, pool)) = best {
                picture.assign(job, pool);
            }
        }
    }
}
