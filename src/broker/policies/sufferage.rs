//! Sufferage.

use super::batch::Batch;
use crate::broker::mapping::{Claims, Profiles, sufferage};
use crate::broker::{BrokerBuilt, BrokerPolicyInfo, OpenTasks, Reason};
use crate::model::{Named, NamedError, ParamInfo};

const COMMIT: ParamInfo = ParamInfo {
    key: "commit",
    values: "pass or one",
    default: "pass",
    doc: "when claims on pools become final: after each pass over all jobs, one job a pool, or one job at a time",
};

pub(super) fn info() -> BrokerPolicyInfo {
    BrokerPolicyInfo::new("sufferage", build)
        .doc("Of the waiting jobs that claim the pool with their earliest expected completion, the one goes there that would lose most by going to its second best.")
        .source("Maheswaran et al. 1999, which is `commit=pass`; over pools of several machines: XSufferage, Casanova et al. 2000")
        .params(&[COMMIT])
}

fn build(named: &mut Named, _: u64) -> Result<BrokerBuilt, NamedError> {
    let words = [("pass", Claims::Pass), ("one", Claims::One)];
    let claims = named.take_choice(COMMIT.key, &words)?.unwrap_or(Claims::Pass);
    let by = move |tasks: &OpenTasks<'_>, holes: &mut Profiles| sufferage(tasks, holes, claims);
    Ok(Batch { by, reason: Reason::Suffers }.built())
}
