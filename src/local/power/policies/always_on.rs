//! No machine ever sleeps.

use crate::local::power::{PowerPolicy, PowerPolicyInfo, SleepRule};
use crate::model::SleepSpec;
use crate::units::Power;

pub(super) fn info() -> PowerPolicyInfo {
    PowerPolicyInfo::new("always-on", |_| Ok(Box::new(AlwaysOn))).doc("No machine sleeps.")
}

/// No machine sleeps.
#[derive(Copy, Clone, Debug)]
struct AlwaysOn;

impl PowerPolicy for AlwaysOn {
    fn sleep(&self, _: &SleepSpec, _: Power) -> SleepRule {
        SleepRule::NEVER
    }
}
