//! The least loaded pool.

use crate::broker::pool::spread;
use crate::broker::{
    Absent, BrokerAbilities, BrokerBuilt, BrokerPolicyInfo, Choose, Gate, GridView, OneByOne, Pick, Reason,
    Task,
};
use crate::model::{Named, NamedError, ParamInfo};

const BY: ParamInfo = ParamInfo {
    key: "by",
    values: "work, jobs or start",
    default: "work",
    doc: "the load of a pool: the waiting work (processors × estimate) over its processors, and among equals the share of used processors; its waiting and running jobs over its processors and their speed; or the expected start of the job (opportunistic load balancing)",
};

pub(super) fn info() -> BrokerPolicyInfo {
    BrokerPolicyInfo::new("least-loaded", build)
        .doc("Assigns each job, in order of arrival, to the pool with the least load, whatever the job's run time there.")
        .source("folklore; `by=start` is opportunistic load balancing: Armstrong, Hensgen and Kidd 1998; Braun et al. 2001")
        .params(&[BY, Absent::PARAM])
        .alias("olb", &[("by", "start")], "opportunistic load balancing")
}

fn build(named: &mut Named, _: u64) -> Result<BrokerBuilt, NamedError> {
    let words = [("work", Load::Work), ("jobs", Load::Jobs), ("start", Load::Start)];
    let by = named.take_choice(BY.key, &words)?.unwrap_or_default();
    let absent = Absent::take(named)?;
    Ok((Box::new(OneByOne(LeastLoaded { by, absent })), BrokerAbilities::STEADY))
}

/// The measure of a pool's load.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub enum Load {
    /// First the time in which the pool could run the work that waits there ([`crate::broker::Pool::queued`] over the
    /// processors present, in microseconds rounded down), then the share of processors in use
    /// ([`crate::broker::Pool::taken`] over the processors present, in millionths rounded down).
    #[default]
    Work,
    /// Jobs that wait, run and are on their way, × 2⁴⁰, over processors present × speed in 2⁻²⁰, rounded down.
    Jobs,
    /// When the job could start ([`GridView::start`]).
    Start,
}

/// The least loaded pool.
#[derive(Debug)]
pub struct LeastLoaded {
    by: Load,
    absent: Absent,
}

impl Load {
    /// The load of a pool as if it had so many processors present.
    fn of(self, view: &GridView<'_>, pool: usize, procs: u32) -> (u64, u64) {
        let pool = &view.pools()[pool];
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

impl Choose for LeastLoaded {
    fn gate(&self) -> Gate {
        self.absent.gate()
    }

    fn choose(&mut self, view: &GridView<'_>, task: Task<'_>) -> Pick {
        let present = |pool: usize| match self.by {
            Load::Start => view.start(task, pool).map(|start| (start.micros(), 0)),
            by => Some(by.of(view, pool, view.pools()[pool].report.present)),
        };
        let nominal = |pool: usize| Some(self.by.of(view, pool, view.pools()[pool].facts.processors));
        let least = view.least(task, true, present);
        Pick::found(least, Reason::LeastLoaded).or_else(|| self.absent.least(view, task, nominal))
    }
}
