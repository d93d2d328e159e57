//! Minimum execution time.

use crate::broker::{
    Absent, BrokerAbilities, BrokerPolicyInfo, Choose, Gate, GridView, OneByOne, Pick, Reason, Task,
};

pub(super) fn info() -> BrokerPolicyInfo {
    BrokerPolicyInfo::new("met", |named, _| {
        Ok((Box::new(OneByOne(Met { absent: Absent::take(named)? })), BrokerAbilities::STEADY))
    })
    .doc("Assigns each job, in order of arrival, to the pool where it runs shortest, however long it waits there.")
    .source("minimum execution time: Armstrong, Hensgen and Kidd 1998; Braun et al. 2001")
    .params(&[Absent::PARAM])
}

/// Minimum execution time.
#[derive(Debug)]
pub struct Met {
    absent: Absent,
}

impl Choose for Met {
    fn gate(&self) -> Gate {
        self.absent.gate()
    }

    fn choose(&mut self, view: &GridView<'_>, task: Task<'_>) -> Pick {
        let run = |pool: usize| Some(view.pools()[pool].run_now(&task));
        Pick::found(view.least(task, true, run), Reason::Shortest)
            .or_else(|| self.absent.least(view, task, run))
    }
}
