//! Duplex.

use super::batch::Batch;
use crate::broker::mapping::{Profiles, duplex};
use crate::broker::{BrokerPolicyInfo, OpenTasks, Reason};

pub(super) fn info() -> BrokerPolicyInfo {
    BrokerPolicyInfo::new("duplex", |_, _| {
        Ok(Batch {
            by: |tasks: &OpenTasks<'_>, holes: &mut Profiles| duplex(tasks, holes),
            reason: Reason::Earliest,
        }
        .built())
    })
    .doc("The plan of `min-min` or of `max-min`, whichever ends first.")
    .source("Freund et al. 1998; Braun et al. 2001")
}
