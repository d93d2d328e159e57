//! Machines sleep after a time idle.

use super::{RESERVE, reserve};
use crate::local::power::{PowerPolicy, PowerPolicyInfo, SleepRule};
use crate::model::{ParamInfo, SleepSpec};
use crate::units::{Power, Span};

const AFTER: ParamInfo = ParamInfo {
    key: "after",
    values: "a time",
    default: "10 min",
    doc: "how long a machine is idle before it goes to sleep",
};

pub(super) fn info() -> PowerPolicyInfo {
    PowerPolicyInfo::new("sleep-idle", |named| {
        let after = named.take(AFTER.key, AFTER.values)?.unwrap_or(Span::from_secs(600));
        Ok(Box::new(SleepIdle(SleepRule { after, reserve: reserve(named)? })))
    })
    .doc("A machine that has been idle for a time goes to sleep; a start wakes it up.")
    .source("the power saving of SLURM")
    .params(&[AFTER, RESERVE])
}

/// Machines sleep after a time idle.
#[derive(Copy, Clone, Debug)]
struct SleepIdle(SleepRule);

impl PowerPolicy for SleepIdle {
    fn sleep(&self, _: &SleepSpec, _: Power) -> SleepRule {
        self.0
    }
}
