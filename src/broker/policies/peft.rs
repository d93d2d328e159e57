//! Predict earliest finish time.

use super::ahead::Ahead;
use crate::broker::mapping::{Dag, Links, Profiles, peft};
use crate::broker::{BrokerPolicyInfo, OpenTasks, Reason, TaskLimits};

pub(super) fn info() -> BrokerPolicyInfo {
    BrokerPolicyInfo::new("peft", |_, _| {
        let by = |dag: &Dag, tasks: &OpenTasks<'_>, _: &TaskLimits<'_>, links: &Links, holes: &mut Profiles| peft(dag, tasks, links, holes);
        Ok(Ahead { by, reason: |_, _| Reason::Foreseen }.built())
    })
    .doc("Plans a workflow when it arrives: as `heft`, but ranks and pools by an optimistic forecast of what follows each task.")
    .source("predict earliest finish time: Arabnejad and Barbosa 2014")
}
