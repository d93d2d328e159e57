//! Critical path on a processor.

use super::ahead::Ahead;
use crate::broker::mapping::{Dag, Links, Profiles, cpop};
use crate::broker::{BrokerPolicyInfo, OpenTasks, Reason, TaskLimits};

pub(super) fn info() -> BrokerPolicyInfo {
    BrokerPolicyInfo::new("cpop", |_, _| {
        let by = |dag: &Dag, tasks: &OpenTasks<'_>, _: &TaskLimits<'_>, links: &Links, holes: &mut Profiles| cpop(dag, tasks, links, holes);
        Ok(Ahead { by, reason: |_, _| Reason::Earliest }.built())
    })
    .doc("Plans a workflow when it arrives: tasks by decreasing sum of upward and downward rank, those of the critical path all in one pool, the others as under `heft`.")
    .source("critical path on a processor: Topcuoglu, Hariri and Wu 2002")
}
