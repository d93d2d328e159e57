//! Max-min.

use super::batch::Batch;
use crate::broker::mapping::{Profiles, max_min};
use crate::broker::{BrokerPolicyInfo, OpenTasks, Reason};

pub(super) fn info() -> BrokerPolicyInfo {
    BrokerPolicyInfo::new("max-min", |_, _| {
        Ok(Batch { by: |tasks: &OpenTasks<'_>, holes: &mut Profiles| max_min(tasks, holes), reason: Reason::Earliest }.built())
    })
    .doc("Again and again, of all waiting jobs the one with the latest of their earliest expected completions goes where it completes then.")
    .source("Ibarra and Kim 1977; max-min: Freund et al. 1998, Maheswaran et al. 1999")
}
