//! Machines run at the lowest level that is fast enough.

use super::{RESERVE, reserve};
use crate::local::power::{PowerPolicy, PowerPolicyInfo, SleepRule};
use crate::model::{NamedError, ParamInfo, SleepSpec};
use crate::units::{Power, Span};

const SLOWDOWN: ParamInfo = ParamInfo {
    key: "slowdown",
    values: "a number from 1 on",
    default: "1.2",
    doc: "a job takes at most so many times as long as at full speed",
};

const AFTER: ParamInfo = ParamInfo {
    key: "after",
    values: "a time, or `never`",
    default: "never",
    doc: "how long a machine is idle before it goes to sleep, if it may",
};

pub(super) fn info() -> PowerPolicyInfo {
    PowerPolicyInfo::new("lowest-level", |named| {
        let slowdown: f64 = named.take(SLOWDOWN.key, SLOWDOWN.values)?.unwrap_or(1.2);
        if !(slowdown >= 1.0 && slowdown.is_finite()) {
            return Err(NamedError::bad_value("lowest-level", SLOWDOWN.key, slowdown, SLOWDOWN.values));
        }
        let after: Option<String> = named.take(AFTER.key, AFTER.values)?;
        let reserve = reserve(named)?;
        let sleep = match after.as_deref() {
            None | Some("never") => SleepRule::NEVER,
            Some(text) => {
                let after: Result<Span, _> = text.parse();
                let after = after
                    .map_err(|_| NamedError::bad_value("lowest-level", AFTER.key, text, AFTER.values))?;
                SleepRule { after, reserve }
            }
        };
        Ok(Box::new(LowestLevel { slowdown, sleep }))
    })
    .doc("Machines run at the lowest of their levels at which jobs are slowed down by this at most.")
    .source("the β model of Hsu and Kremer 2003")
    .params(&[SLOWDOWN, AFTER, RESERVE])
}

/// Machines run at the lowest level that is fast enough.
#[derive(Copy, Clone, Debug)]
struct LowestLevel {
    slowdown: f64,
    sleep: SleepRule,
}

impl PowerPolicy for LowestLevel {
    fn sleep(&self, _: &SleepSpec, _: Power) -> SleepRule {
        self.sleep
    }

    fn level(&self, slowdowns: &[f64]) -> Option<usize> {
        // A bound that is stated as a decimal number is kept as such.
        slowdowns.iter().rposition(|slowdown| *slowdown <= self.slowdown + 1e-9)
    }
}
