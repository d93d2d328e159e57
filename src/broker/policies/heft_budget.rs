//! Heterogeneous earliest finish time within a budget.

use super::ahead::Ahead;
use crate::broker::mapping::{Dag, Limits, Links, Placement, Profiles, heft_budget};
use crate::broker::{BrokerPolicyInfo, OpenTasks, Reason, TaskLimits};

pub(super) fn info() -> BrokerPolicyInfo {
    BrokerPolicyInfo::new("heft-budget", |_, _| {
        let by = |dag: &Dag, tasks: &OpenTasks<'_>, limits: &TaskLimits<'_>, links: &Links, holes: &mut Profiles| {
            heft_budget(dag, tasks, limits, links, holes)
        };
        Ok(Ahead { by, reason }.built())
    })
    .doc("Plans a workflow when it arrives: as `heft`, but each task among the pools where it costs no more than its least and its part of what is spare of the workflow's budget.")
    .source("BHEFT: Zheng and Sakellariou 2013, here with the least cost of further tasks reserved")
}

fn reason(limits: &TaskLimits<'_>, placed: &Placement) -> Reason {
    if limits.budget(placed.task).is_some() { Reason::Affordable } else { Reason::Earliest }
}
