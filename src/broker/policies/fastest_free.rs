//! The fastest pool with free processors.

use crate::broker::{Absent, BrokerAbilities, BrokerBuilt, BrokerPolicy, BrokerPolicyInfo, GridView};
use crate::model::{Named, NamedError, ParamInfo};

const FULL: ParamInfo = ParamInfo {
    key: "full",
    values: "wait or queue",
    default: "wait",
    doc: "a job for which no pool has enough free processors: it waits at the broker, where later jobs may pass it, or is sent to the pool with its earliest expected completion",
};

pub(super) fn info() -> BrokerPolicyInfo {
    BrokerPolicyInfo::new("fastest-free", build)
        .doc("Assigns each job, in order of arrival, to the pool with its shortest run time among those with enough free processors.")
        .source("folklore")
        .params(&[FULL, Absent::PARAM])
}

fn build(named: &mut Named, _: u64) -> Result<BrokerBuilt, NamedError> {
    let queue = named.take_choice(FULL.key, &[("wait", false), ("queue", true)])?.unwrap_or(false);
    let absent = Absent::take(named)?;
    Ok((Box::new(FastestFree { queue, absent }), BrokerAbilities::STEADY))
}

/// The fastest pool with free processors.
#[derive(Debug)]
pub struct FastestFree {
    /// Whether jobs queue at pools that have no free processors.
    queue: bool,
    absent: Absent,
}

/// The largest number of processors that are free in one pool.
fn most_free(view: &GridView<'_>) -> u64 {
    let free =
        view.pools().iter().map(|pool| u64::from(pool.report.free).saturating_sub(pool.in_flight.procs));
    free.max().unwrap_or(0)
}

impl BrokerPolicy for FastestFree {
    fn plan(&mut self, view: &mut GridView<'_>) {
        let mut most = most_free(view);
        let waits = !self.queue && self.absent == Absent::Wait;
        for (at, job) in view.waiting().iter().enumerate() {
            // Many jobs may wait here, and this comparison alone decides for most of them.
            if waits && u64::from(job.size().min()) > most {
                continue;
            }
            let run = |pool: usize| view.pools()[pool].run_of(job);
            let mut best = view.least(at, true, |pool| view.is_free(at, pool).then(|| run(pool)));
            if best.is_none() && !waits {
                let queued = view.least(at, true, |pool| view.completion(at, pool));
                best = match queued {
                    Some(_) if !self.queue => None,
                    Some(pool) => Some(pool),
                    None => self.absent.least(view, at, |pool| Some(run(pool))),
                };
            }
            if let Some(pool) = best {
                view.assign(at, pool);
                most = most_free(view);
            }
        }
    }
}
