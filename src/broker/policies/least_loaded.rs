//! The least loaded pool.

use crate::broker::pool::spread;
use crate::broker::{Absent, BrokerAbilities, BrokerPolicy, BrokerPolicyInfo, Picture};
use crate::model::ParamInfo;

const BY: ParamInfo = ParamInfo {
    key: "by",
    values: "work, jobs or start",
    default: "work",
    doc: "what loads a pool: the work that waits there (processors × estimate) over its processors, and among equals the share of processors taken; its jobs, waiting and running, over its processors and their speed; or the time at which the job could start (opportunistic load balancing)",
};

pub(super) const INFO: BrokerPolicyInfo = BrokerPolicyInfo {
    name: "least-loaded",
    doc: "Sends each job, in order of arrival, to the pool with the least load for its size, whatever the job's run time there.",
    source: "folklore; `by=start` is opportunistic load balancing: Armstrong, Hensgen and Kidd 1998; Braun et al. 2001",
    params: &[BY, Absent::PARAM],
    abilities: BrokerAbilities::PLAIN,
    build: |mut named, _| {
        let words = [("work", Load::Work), ("jobs", Load::Jobs), ("start", Load::Start)];
        let by = named.take_choice(BY.key, &words)?.unwrap_or_default();
        let absent = Absent::take(&mut named)?;
        named.finish(&[BY.key, Absent::PARAM.key])?;
        Ok(Box::new(LeastLoaded { by, absent }))
    },
};

/// What loads a pool.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub enum Load {
    /// First the time in which the pool could run the work that waits there ([`crate::broker::Pool::queued`] over the
    /// processors present, in microseconds rounded down), then the share of processors that are taken
    /// ([`crate::broker::Pool::taken`] over the processors present, in millionths rounded down).
    #[default]
    Work,
    /// Jobs that wait, run and are on their way, × 2⁴⁰, over processors present × speed in 2⁻²⁰, rounded down.
    Jobs,
    /// When the job could start ([`Picture::start`]).
    Start,
}

/// The least loaded pool.
#[derive(Debug)]
pub struct LeastLoaded {
    by: Load,
    absent: Absent,
}

impl Load {
    /// The load of a pool as if it had so many processors.
    fn of(self, picture: &Picture<'_>, pool: usize, procs: u32) -> (u64, u64) {
        let pool = &picture.pools()[pool];
        let procs = procs.max(1);
        match self {
            Self::Work | Self::Start => {
                let share = pool.taken().saturating_mul(1_000_000) / u64::from(procs);
                (spread(pool.queued(), procs).micros(), share)
            }
            Self::Jobs => {
                let report = &pool.report;
                let jobs: u128 =
                    [report.waiting, report.running, pool.in_flight.jobs].map(u128::from).iter().sum();
                let capacity = u128::from(procs) * u128::from(pool.facts.speed.units().max(1));
                (quotient(jobs << 40, capacity), 0)
            }
        }
    }
}

fn quotient(a: u128, b: u128) -> u64 {
    match (u64::try_from(a), u64::try_from(b)) {
        (Ok(a), Ok(b)) => a / b,
        _ => u64::try_from(a / b).unwrap_or(u64::MAX),
    }
}

impl BrokerPolicy for LeastLoaded {
    fn plan(&mut self, picture: &mut Picture<'_>) {
        for job in 0..picture.waiting().len() {
            let present = |pool: usize| match self.by {
                Load::Start => picture.start(job, pool).map(|start| (start.micros(), 0)),
                by => Some(by.of(picture, pool, picture.pools()[pool].report.present)),
            };
            let nominal =
                |pool: usize| Some(self.by.of(picture, pool, picture.pools()[pool].facts.processors));
            let best = picture.least(job, true, present).or_else(|| self.absent.least(picture, job, nominal));
            if let Some(pool) = best {
                picture.assign(job, pool);
            }
        }
    }
}
