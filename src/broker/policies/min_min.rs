//! Min-min.

use super::batch::Batch;
use crate::broker::mapping::{Profiles, min_min};
use crate::broker::{BrokerPolicyInfo, OpenTasks, Reason};

pub(super) fn info() -> BrokerPolicyInfo {
    BrokerPolicyInfo::new("min-min", |_, _| {
        Ok(Batch { by: |tasks: &OpenTasks<'_>, holes: &mut Profiles| min_min(tasks, holes), reason: Reason::Earliest }.built())
    })
    .doc("Again and again, of all waiting jobs the one with the earliest of their earliest expected completions goes where it completes then.")
    .source("Ibarra and Kim 1977; min-min: Freund et al. 1998, Maheswaran et al. 1999")
}
