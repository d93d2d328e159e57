//! The fastest pool with free processors.

use crate::broker::{
    Absent, BrokerAbilities, BrokerBuilt, BrokerPolicyInfo, Choose, Gate, GridView, OneByOne, Pick, Reason,
    Task,
};
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
    Ok((Box::new(OneByOne(FastestFree { queue, absent })), BrokerAbilities::STEADY))
}

/// The fastest pool with free processors.
#[derive(Debug)]
pub struct FastestFree {
    /// Whether jobs queue at pools that have no free processors.
    queue: bool,
    absent: Absent,
}

impl Choose for FastestFree {
    fn gate(&self) -> Gate {
        match self.absent {
            absent if self.queue => absent.gate(),
            Absent::Wait => Gate::Free,
            Absent::Queue => Gate::FreeOrAbsent,
        }
    }

    fn choose(&mut self, view: &GridView<'_>, task: Task<'_>) -> Pick {
        let run = |pool: usize| view.pools()[pool].run_now(&task);
        let free = view.least(task, true, |pool| view.is_free(task, pool).then(|| run(pool)));
        Pick::found(free, Reason::Free).or_else(|| {
            if self.gate() == Gate::Free {
                return Pick::Leave;
            }
            match view.earliest(task) {
                Some(_) if !self.queue => Pick::Leave,
                Some(pool) => Pick::Pool(pool, Reason::Earliest),
                None => self.absent.least(view, task, |pool| Some(run(pool))),
            }
        })
    }
}
