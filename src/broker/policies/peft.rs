//! Predict earliest finish time.

use super::ahead::Ahead;
use crate::broker::mapping::{Dag, Links, Profiles, peft};
use crate::broker::{BrokerPolicyInfo, OpenTasks, Reason};

pub(super) fn info() -> BrokerPolicyInfo {
    BrokerPolicyInfo::new("peft", |_, _| {
        let by = |dag: &Dag, tasks: &OpenTasks<'_>, links: &Links, holes: &mut Profiles| peft(dag, tasks, links, holes);
        Ok(Ahead { by, reason: Reason::Foreseen }.built())
    })
    .doc("Plans a workflow when it arrives: as `heft`, but ranks and pools by an optimistic forecast of what follows each task.")
    .source("predict earliest finish time: Arabnejad and Barbosa 2014")
}
