//! Machines sleep when it pays.

use super::{RESERVE, reserve};
use crate::local::power::{PowerPolicy, PowerPolicyInfo, SleepRule};
use crate::model::SleepSpec;
use crate::units::Power;

pub(super) fn info() -> PowerPolicyInfo {
    PowerPolicyInfo::new("sleep-break-even", |named| Ok(Box::new(BreakEven { reserve: reserve(named)? })))
        .doc("A machine goes to sleep when it has been idle for the break-even time of its class: whatever happens then, it draws at most twice what it must.")
        .source("ski rental, Karlin et al. 1990; the break-even time is that of dynamic power management")
        .params(&[RESERVE])
}

/// Machines sleep after their break-even time.
#[derive(Copy, Clone, Debug)]
struct BreakEven {
    reserve: u32,
}

impl PowerPolicy for BreakEven {
    fn sleep(&self, state: &SleepSpec, idle: Power) -> SleepRule {
        SleepRule { after: state.break_even(idle), reserve: self.reserve }
    }
}
