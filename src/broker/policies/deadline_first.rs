//! Earliest deadline first.

use super::Mct;
use crate::broker::{
    Absent, Answer, BrokerAbilities, BrokerPolicy, BrokerPolicyInfo, Choose, GridView, Pick, Task,
};
use crate::units::Time;

pub(super) fn info() -> BrokerPolicyInfo {
    BrokerPolicyInfo::new("deadline-first", |named, _| {
        let abilities = BrokerAbilities { batch: true, ..BrokerAbilities::STEADY };
        Ok((Box::new(DeadlineFirst { pool: Mct::new(Absent::take(named)?) }), abilities))
    })
    .doc("Assigns the waiting jobs in order of their deadlines, those without one last, each to the pool with its earliest expected completion.")
    .source("earliest deadline first: Jackson 1955; Liu and Layland 1973")
    .params(&[Absent::PARAM])
}

/// Earliest deadline first: minimum completion time in another order.
#[derive(Debug)]
pub struct DeadlineFirst {
    pool: Mct,
}

impl BrokerPolicy for DeadlineFirst {
    fn plan(&mut self, view: &mut GridView<'_>) -> Answer {
        let mut tasks: Vec<Task<'_>> = view.ready().collect();
        // Jobs of one deadline stay in order.
        tasks.sort_by_key(|task| task.deadline().unwrap_or(Time::NEVER));
        for task in tasks {
            if let Pick::Pool(pool, reason) = self.pool.choose(view, task) {
                view.assign(task, pool, reason);
            }
        }
        view.done()
    }
}
