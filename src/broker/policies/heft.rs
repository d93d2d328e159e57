//! Heterogeneous earliest finish time.

use super::ahead::Ahead;
use crate::broker::mapping::{Dag, Links, Profiles, heft};
use crate::broker::{BrokerPolicyInfo, OpenTasks, Reason, TaskLimits};

pub(super) fn info() -> BrokerPolicyInfo {
    BrokerPolicyInfo::new("heft", |_, _| {
        let by = |dag: &Dag, tasks: &OpenTasks<'_>, _: &TaskLimits<'_>, links: &Links, holes: &mut Profiles| heft(dag, tasks, links, holes);
        Ok(Ahead { by, reason: |_, _| Reason::Earliest }.built())
    })
    .doc("Plans a workflow when it arrives: tasks by decreasing upward rank, each in the earliest hole of the pool with its earliest expected completion.")
    .source("heterogeneous earliest finish time: Topcuoglu, Hariri and Wu 2002")
}
