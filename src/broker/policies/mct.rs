//! Minimum completion time.

use crate::broker::{
    Absent, BrokerAbilities, BrokerPolicyInfo, Choose, Gate, GridView, OneByOne, Pick, Reason, Task,
};

pub(super) fn info() -> BrokerPolicyInfo {
    BrokerPolicyInfo::new("mct", |named, _| {
        Ok((Box::new(OneByOne(Mct { absent: Absent::take(named)? })), BrokerAbilities::STEADY))
    })
    .doc("Assigns each job, in order of arrival, to the pool with its earliest expected completion.")
    .source("minimum completion time: Armstrong, Hensgen and Kidd 1998; Braun et al. 2001")
    .params(&[Absent::PARAM])
}

/// Minimum completion time.
#[derive(Debug)]
pub struct Mct {
    absent: Absent,
}

impl Mct {
    /// Minimum completion time, where jobs that fit nowhere now do so.
    pub(super) const fn new(absent: Absent) -> Self {
        Self { absent }
    }
}

impl Choose for Mct {
    fn gate(&self) -> Gate {
        self.absent.gate()
    }

    fn choose(&mut self, view: &GridView<'_>, task: Task<'_>) -> Pick {
        let first = view.earliest(task);
        // It is not known when machines come back, so that only the shortest run can be chosen there.
        let run = |pool: usize| Some(view.pools()[pool].run_now(&task));
        Pick::found(first, Reason::Earliest).or_else(|| self.absent.least(view, task, run))
    }
}
