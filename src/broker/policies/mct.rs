//! Minimum completion time.

use crate::broker::{Absent, BrokerAbilities, BrokerPolicy, BrokerPolicyInfo, Picture};

pub(super) const INFO: BrokerPolicyInfo = BrokerPolicyInfo {
    name: "mct",
    doc: "Sends each job, in order of arrival, to the pool that promises its earliest completion.",
    source: "minimum completion time: Armstrong, Hensgen and Kidd 1998; Braun et al. 2001",
    params: &[Absent::PARAM],
    abilities: BrokerAbilities::PLAIN,
    build: |mut named, _| {
        let absent = Absent::take(&mut named)?;
        named.finish(&[Absent::PARAM.key])?;
        Ok(Box::new(Mct { absent }))
    },
};

/// Minimum completion time.
#[derive(Debug)]
pub struct Mct {
    absent: Absent,
}

impl BrokerPolicy for Mct {
    fn plan(&mut self, picture: &mut Picture<'_>) {
        for (at, job) in picture.waiting().iter().enumerate() {
            let best = picture
                .least(at, true, |pool| picture.completion(at, pool))
                // Nobody knows when machines come back: there, the shortest run is all there is to go by.
                .or_else(|| self.absent.least(picture, at, |pool| Some(picture.pools()[pool].run_of(job))));
            if let Some(pool) = best {
                picture.assign(at, pool);
            }
        }
    }
}
