//! The cheapest plan that keeps the deadlines of tasks.

use super::ahead::Ahead;
use crate::broker::mapping::{Dag, Limits, Links, Placement, Profiles, cheapest_by_deadline};
use crate::broker::{BrokerPolicyInfo, OpenTasks, Reason, TaskLimits};

pub(super) fn info() -> BrokerPolicyInfo {
    BrokerPolicyInfo::new("cheapest-by-deadline", |_, _| {
        let by = |dag: &Dag, tasks: &OpenTasks<'_>, limits: &TaskLimits<'_>, links: &Links, holes: &mut Profiles| {
            cheapest_by_deadline(dag, tasks, limits, links, holes)
        };
        Ok(Ahead { by, reason }.built())
    })
    .doc("Plans a workflow when it arrives: tasks by decreasing upward rank, each in the earliest hole of the pool where it costs least (price × processors, over the expected run) among those with an expected completion by its share of the workflow's deadline.")
    .source("deadline distribution: Yu, Buyya and Tham 2005, here task by task and by upward rank")
}

fn reason(limits: &TaskLimits<'_>, placed: &Placement) -> Reason {
    if placed.end <= limits.due(placed.task) { Reason::Cheapest } else { Reason::Earliest }
}
