//! The fastest pool with free processors.

use crate::broker::{Absent, BrokerAbilities, BrokerPolicy, BrokerPolicyInfo, Picture};
use crate::model::ParamInfo;

const FULL: ParamInfo = ParamInfo {
    key: "full",
    values: "wait or queue",
    default: "wait",
    doc: "a job for which no pool has enough processors free waits with the broker, while later ones may pass it, or is sent to queue where it completes first",
};

pub(super) const INFO: BrokerPolicyInfo = BrokerPolicyInfo {
    name: "fastest-free",
    doc: "Sends each job, in order of arrival, to the pool where it runs shortest among those that have its processors free.",
    source: "folklore",
    params: &[FULL, Absent::PARAM],
    abilities: BrokerAbilities::PLAIN,
    build: |mut named, _| {
        let queue = named.take_choice(FULL.key, &[("wait", false), ("queue", true)])?.unwrap_or(false);
        let absent = Absent::take(&mut named)?;
        named.finish(&[FULL.key, Absent::PARAM.key])?;
        Ok(Box::new(FastestFree { queue, absent }))
    },
};

/// The fastest pool with free processors.
#[derive(Debug)]
pub struct FastestFree {
    /// Whether jobs queue at pools that have no free processors.
    queue: bool,
    absent: Absent,
}

/// The most processors that are free in one pool.
fn most_free(picture: &Picture<'_>) -> u64 {
    let free =
        picture.pools().iter().map(|pool| u64::from(pool.report.free).saturating_sub(pool.in_flight.procs));
    free.max().unwrap_or(0)
}

impl BrokerPolicy for FastestFree {
    fn plan(&mut self, picture: &mut Picture<'_>) {
        let mut most = most_free(picture);
        let waits = !self.queue && self.absent == Absent::Wait;
        for (at, job) in picture.waiting().iter().enumerate() {
            // Jobs that wait here may be many, and most of them are told by this alone.
            if waits && u64::from(job.size().min()) > most {
                continue;
            }
            let run = |pool: usize| picture.pools()[pool].run_of(job);
            let mut best = picture.least(at, true, |pool| picture.is_free(at, pool).then(|| run(pool)));
            if best.is_none() && !waits {
                let queued = picture.least(at, true, |pool| picture.completion(at, pool));
                best = match queued {
                    Some(_) if !self.queue => None,
                    Some(pool) => Some(pool),
                    None => self.absent.least(picture, at, |pool| Some(run(pool))),
                };
            }
            if let Some(pool) = best {
                picture.assign(at, pool);
                most = most_free(picture);
            }
        }
    }
}
